"""Counts turns without progress: turns whose results the epoch has seen before."""

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from chiron_workers.agent.reminders import TRY_ANOTHER_WAY, is_reminder
from chiron_workers.runs.entries import Entry, Opening, Question, Reply, Results, ToolCall, ToolResult

STUCK_TURNS = 8  # in a row without progress; then the run pauses
REPEATS_MAX = 2  # times that the model sees the same result of the same call in full
HEAD_CHARS = 500
TROUBLE_CHARS = 300
REPEAT_NOTE = (
    "[You have made this call before, with the same arguments and the same result. Do not repeat it: use what you have, "
    "make another call, or finish. The result begins:]\n"
)
SERVER_RESULT_SUFFIX = "_tool_result"  # of the block types that hold results of the server's own tools


class Stagnation:
    """Counts the turns in a row in which a run made no progress.

    A turn makes progress if one of its calls has a result that is new to the epoch, or if its reply ended by itself with
    text. An error counts as progress only if its text is new and the call was valid. A message of a person resets the
    count. The count depends on the journal alone, so another worker gets the same number.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.turns = 0
        self.is_first_epoch = (
            True  # since the run began or was started over: its question is the topic, not a summary
        )
        self.trouble = ""  # why the latest turn made no progress, as a sentence
        self._begin(())
        for entry in entries:
            self.add(entry)

    def _begin(self, tool_names: Iterable[str]) -> None:
        self._tool_names = frozenset(map(sys.intern, tool_names))
        self._times: Counter[bytes] = Counter()  # by call and result
        self._full_by_short: dict[bytes, bytes] = {}
        self._texts: set[bytes] = set()  # of errors, and of results of the server's own tools
        self._calls: Sequence[ToolCall] = ()
        self._has_question = False
        self.has_called = False  # in this epoch
        self.has_message = False  # of a person, in this epoch
        self.last_reminder = ""  # empty once a call has had a result since

    @property
    def tool_names(self) -> frozenset[str]:
        """The names of the tools that the run is offered."""
        return self._tool_names

    @property
    def lacks_calls(self) -> bool:
        """Whether the run has called no tool for its topic. After a message of a person it need not."""
        return self.is_first_epoch and not self.has_called and not self.has_message

    @property
    def is_stuck(self) -> bool:
        """Whether the run has made no progress for so long that it has to pause."""
        return self.turns >= STUCK_TURNS

    def add(self, entry: Entry) -> None:
        """Count the next entry. An opening begins an epoch, in which every result is new."""
        match entry:
            case Opening():
                self._begin(tool["name"] for tool in entry.tools if "name" in tool)
                self.turns = entry.turns_without_progress
                self.is_first_epoch = entry.question is None
            case Question(text):
                # The first question of an epoch is not a message.
                self.last_reminder = text if is_reminder(text) else ""
                if self._has_question and not self.last_reminder:
                    self.turns, self.has_message = 0, self.has_message or text != TRY_ANOTHER_WAY
                self._has_question = True
            case Reply(is_compaction=False, has_open_calls=True):
                self._calls = entry.calls
            case Reply(is_compaction=False):
                self.has_called |= any(block["type"] == "server_tool_use" for block in entry.content)
                self._count(self._has_news(entry) or entry.has_answer, _trouble_of(entry))
            case Results(results):
                pairs = list(zip(self._calls, results, strict=True))
                self.has_called, self.last_reminder = True, ""
                news = [self._note(call, result) for call, result in pairs]
                self._count(any(news), _trouble_among(pairs))

    def shortened(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """The result as the model sees it: after REPEATS_MAX times in full, only its beginning."""
        if result.ends_silently or self._times[_key(call, result)] < REPEATS_MAX:
            return result
        text = _short(_without_id(call, result.text))
        return replace(result, text=text, whole=result.whole or result.text)

    def _count(self, is_progress: bool, trouble: str) -> None:
        self.turns = 0 if is_progress else self.turns + 1
        self.trouble = "" if is_progress else trouble

    def _has_news(self, reply: Reply) -> bool:
        # Each call of a server's tool has an id of its own, so the digest leaves the id out.
        texts = [
            _digest(block.get("content"))
            for block in reply.content
            if block["type"].endswith(SERVER_RESULT_SUFFIX)
        ]
        has_news = not self._texts.issuperset(texts)
        self._texts.update(texts)
        return has_news

    def _note(self, call: ToolCall, result: ToolResult) -> bool:
        """Count a result; return whether it is new."""
        key = _key(call, result)
        key = self._full_by_short.get(key, key)
        self._times[key] += 1
        if not result.text.startswith(REPEAT_NOTE):
            short = replace(result, text=_short(_without_id(call, result.text)))
            self._full_by_short[_key(call, short)] = key
        if not result.is_error:
            return self._times[key] == 1
        text = _digest(_without_id(call, result.text))
        is_new = text not in self._texts and self._times[key] == 1
        self._texts.add(text)
        return is_new and call.invalid_json is None and call.name in self._tool_names


def _trouble_of(reply: Reply) -> str:
    if reply.stop == "max_tokens":
        return "The last reply was cut off at the limit of its length (max_tokens)."
    return f"The last reply had no text and no call (stop reason {reply.stop or 'none'})."


def _trouble_among(pairs: Sequence[tuple[ToolCall, ToolResult]]) -> str:
    errors = [(call, result) for call, result in pairs if result.is_error]
    if errors:
        call, result = errors[-1]
        text = result.text.removeprefix(REPEAT_NOTE)[:TROUBLE_CHARS].strip()
        return f"The last error came from {call.name[:60]}: {text}"
    return f"The last call, of {pairs[-1][0].name[:60]}, had the same result again."


def _short(text: str) -> str:
    return REPEAT_NOTE + text[:HEAD_CHARS]


def _without_id(call: ToolCall, text: str) -> str:
    # A result that was cut names its call, so that `read_result` can continue it.
    return text.replace(f'"{call.id}"', '""')


def _key(call: ToolCall, result: ToolResult) -> bytes:
    return _digest([call.name, call.arguments, _without_id(call, result.text), result.is_error])


def _digest(value: object) -> bytes:
    text = json.dumps(value, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
