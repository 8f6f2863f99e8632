"""The journal's entries as the messages of one model call."""

import json
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from chiron_workers.agent.compaction import BYTES_PER_TOKEN, size_limit
from chiron_workers.agent.draft import Draft
from chiron_workers.model import Request
from chiron_workers.runs.entries import (
    Block,
    Compaction,
    Entry,
    Limit,
    Opening,
    Question,
    Reply,
    Results,
    ToolResult,
)
from chiron_workers.runs.messages import History, Message, encoded, shared
from chiron_workers.runs.prompt_sizes import opening_bytes

GO_ON = (
    "Your reply was cut off at the limit of its length. Go on from where it stopped; do not repeat what you wrote. Your "
    "words are put right behind it, so begin with a space or a line break where one belongs."
)
NOT_RUN = "This call was not run, since the reply was cut off ({stop}). Make it again if you still need it."
SHORTENED_NOTE = "\n[Shortened for want of room.]"
BYTES_FREED = 5  # for each token that must go: as many as a token of plain English has, and more
UNFINISHED_STOPS = ("pause_turn", "model_context_window_exceeded")  # replies that a summary cannot follow
THOUGHT_TYPES = ("thinking", "redacted_thinking")
TEXTS_KEPT = 3


class Window:
    """The conversation so far, kept as the messages of the next call: adding an entry costs the same at any length.

    What may still change are the messages from the latest question on; those before it are settled.
    """

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self._opening: Opening | None = None
        for entry in entries:
            self.add(entry)

    def _begin(self, opening: Opening) -> None:
        # Decoded definitions take several times the room; the prompt is the same for all runs of a subject.
        self._opening = replace(opening, system=sys.intern(opening.system), tools=())
        self._tools = tuple(shared(encoded(tool)) for tool in opening.tools)
        self._history = History()
        self._messages: list[Message] = []
        self._last_question_at: tuple[int, int] | None = None
        self._counted_tokens = 0  # of everything up to the latest reply, as the API billed it
        self._bytes_since = opening_bytes(opening.system, self._tools)
        self._latest: Entry = self._opening
        self.replies = 0
        self.unanswered_questions: list[str] = []  # messages since the latest reply
        self._answered_questions: list[str] = []  # by the latest reply
        self.last_words: deque[str] = deque(maxlen=TEXTS_KEPT)  # the latest words of the model
        self.draft = self._draft_before = Draft(opening.draft, seam="" if opening.draft else None)

    def add(self, entry: Entry) -> None:
        """Add the next entry; an opening begins an epoch anew."""
        if not isinstance(entry, Opening | Results):
            self._answer_abandoned_calls()
        match entry:
            case Opening():
                self._begin(entry)
            case Compaction() if isinstance(self._latest, Reply) and self._latest.stop in UNFINISHED_STOPS:
                self._undo_reply(self._latest)
            case Question(text):
                self.unanswered_questions.append(text)
            case Reply(is_compaction=False, problem=""):
                self._note_reply(entry)
            case Results():
                self.draft = Draft()
        for role, blocks in _messages_of(entry):
            message = Message.of(role, blocks)
            self._append(message)
            self._measure(entry, message)
        if not isinstance(entry, Opening):
            self._latest = entry

    def request(self) -> Request:
        """The next call of the model: what the latest opening froze, and everything since as messages."""
        assert self._opening is not None
        opening = self._opening
        return Request(
            opening.model,
            opening.system,
            self._tools,
            opening.max_tokens,
            self._messages,
            self._last_question_at,
            opening.thinking,
            opening.effort,
            history=self._history,
        )

    def last_request(self, *, prompt_tokens: int, reply_tokens: int) -> Request:
        """The call for a summary. What is too much of `prompt_tokens` is cut from the last results.

        Nothing before them changes: they come after everything that the model has signed.
        """
        last = self._messages[-1]
        excess = self.prompt_tokens - prompt_tokens
        if excess > 0:
            last = Message.of(last.role, _shorten(last.content(), by=excess * BYTES_FREED))
        messages = [*self._messages[:-1], last]
        return replace(self.request(), max_tokens=reply_tokens, messages=messages)

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """The definitions that the latest opening froze; none before the first."""
        return tuple(map(json.loads, self._tools)) if self._opening is not None else ()

    @property
    def prompt_tokens(self) -> int:
        """Tokens of the next call, by a cautious guess: those billed for the last one, and an estimate of what came since."""
        return self._counted_tokens + -(-self._bytes_since // BYTES_PER_TOKEN)

    @property
    def prompt_tokens_max(self) -> int:
        """Tokens that the next call sends at most: what was billed for the last one, and a token for each byte since."""
        return self._counted_tokens + self._bytes_since

    def prompt_tokens_max_after(self, results: Sequence[ToolResult]) -> int:
        """Likewise of the call that follows these results, which are not added yet."""
        return self.prompt_tokens_max + sum(len(encoded(_result_block(result))) for result in results)

    def recount(self, tokens: int | None, *, more_than: int) -> None:
        """Correct the guess of the next call's tokens after a server refused it, by the count that it gives or else upwards."""
        if tokens is not None:
            self._counted_tokens, self._bytes_since = tokens, 0
        else:  # it is not known how much too long the call is: much less must do the next time
            self._counted_tokens += max(self.prompt_tokens // 3, more_than * 4 // 3 - self.prompt_tokens)

    def _note_reply(self, reply: Reply) -> None:
        if self._messages[-1].role == "user":
            self._settle()
            self._last_question_at = (0, len(self._messages[0].blocks) - 1)
            self._draft_before = self.draft
        self.replies += 1
        self._answered_questions, self.unanswered_questions = self.unanswered_questions, []
        self.draft = self.draft.followed_by(reply)
        if reply.text:
            self.last_words.append(reply.text)

    def _answer_abandoned_calls(self) -> None:
        # A version before took calls that came with another stop reason than `tool_use` for none, and went on.
        if isinstance(self._latest, Reply) and self._latest.has_open_calls:
            message = Message.of("user", _blocks_of_calls_not_run(self._latest))
            self._append(message)
            self._bytes_since += sum(map(len, message.blocks))

    def _settle(self) -> None:
        *earlier, question = self._messages
        for message in earlier:
            self._history.add(message)
        self._messages = [question]

    def _undo_reply(self, reply: Reply) -> None:
        # A question cannot follow a reply that waits to be continued, nor one that filled the window.
        assert self._last_question_at is not None
        place, block = self._last_question_at
        del self._messages[place + 1 :]
        del self._messages[place].blocks[block + 1 :]
        self.unanswered_questions = self._answered_questions
        self.draft = self._draft_before
        if reply.has_counts:
            self._counted_tokens = max(0, self._counted_tokens - reply.usage.output_tokens)

    def _append(self, message: Message) -> None:
        if not message.blocks:
            return
        if self._messages and self._messages[-1].role == message.role:
            self._messages[-1].blocks.extend(message.blocks)
        else:
            self._messages.append(message)

    def _measure(self, entry: Entry, message: Message) -> None:
        if (
            isinstance(entry, Reply)
            and message.role == "assistant"
            and entry.has_counts
            and entry.usage.tokens > entry.usage.output_tokens
        ):
            self._counted_tokens, self._bytes_since = entry.usage.tokens, 0
        else:  # some servers bill nothing, and so count nothing, or count what cannot be
            self._bytes_since += sum(map(len, message.blocks))


def _messages_of(entry: Entry) -> list[tuple[str, list[Block]]]:
    match entry:
        case Question(text) | Compaction(text):
            return [("user", [{"type": "text", "text": text}])]
        case Results(results):
            return [("user", [_result_block(result) for result in results])]
        case Reply(problem=""):
            return [("assistant", _sendable(entry)), ("user", _note_for_cut_reply(entry))]
        case Reply():
            return []
        case Opening():
            return []


def _sendable(reply: Reply) -> list[Block]:
    blocks = [block for block in reply.content if _is_sendable(block, is_cut=reply.stop == "max_tokens")]
    # The API refuses a message of the model that ends with a thought.
    while blocks and blocks[-1]["type"] in THOUGHT_TYPES:
        blocks.pop()
    return blocks


def _is_sendable(block: Block, *, is_cut: bool) -> bool:
    # The API refuses empty text blocks, also those it sent itself, and thoughts that were cut before their signature.
    if block["type"] == "thinking":
        return not is_cut or bool(block.get("signature"))
    return block["type"] != "text" or bool(block["text"].strip())


def _note_for_cut_reply(reply: Reply) -> list[Block]:
    if reply.has_open_calls or reply.stop in ("tool_use", "pause_turn"):
        return []
    error_blocks = _blocks_of_calls_not_run(reply)
    return [*error_blocks, {"type": "text", "text": GO_ON}] if reply.stop == "max_tokens" else error_blocks


def _blocks_of_calls_not_run(reply: Reply) -> list[Block]:
    return [
        _result_block(ToolResult(call.id, NOT_RUN.format(stop=reply.stop), is_error=True))
        for call in reply.calls
    ]


def _result_block(result: ToolResult) -> Block:
    return {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": result.text,
        "is_error": result.is_error,
    }


def _shorten(content: list[Block], *, by: int) -> list[Block]:
    results = [block for block in content if block["type"] == "tool_result"]
    bytes_max = size_limit([len(block["content"].encode()) for block in results], by=by)
    return [
        block | {"content": Limit(bytes_max, bytes_max).cut(block["content"]) + SHORTENED_NOTE}
        if block["type"] == "tool_result" and len(block["content"].encode()) > bytes_max
        else block
        for block in content
    ]
