"""Whether a run still gets anywhere: what its turns brought that its epoch had not seen before."""

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from chiron_workers.agent.reminders import STUCK, is_reminder
from chiron_workers.runs.entries import Entry, Opening, Question, Reply, Results, ToolCall, ToolResult

STUCK_TURNS = 8  # so many turns in a row without progress pause a run
REPEATS_MAX = 2  # times that a call is shown the same result in full
HEAD_CHARS = 500
TROUBLE_CHARS = 300
REPEATED = (
    "[You have made this call before with the same arguments, and its result is the same again. Do not repeat it: use what "
    "you have, make another call, or finish. The result begins so:]\n"
)
SERVER_RESULT_SUFFIX = (
    "_tool_result"  # of the types of blocks in which a server returns what its own tools found
)


class Stagnation:
    """Counts the turns of a run in a row that made no progress.

    A turn makes progress if one of its calls has a result that the epoch has not seen for that call, or if its reply ended
    by itself with words. An error is progress only if its text is new and the call could be run at all. A person's message
    begins the count anew. Everything follows from the journal's entries, so another worker counts the same.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.turns = 0
        self.began_anew = True  # with the topic, and not with what an epoch before has told
        self.trouble = ""  # of the latest turn without progress, as a sentence
        self._begin(())
        for entry in entries:
            self.add(entry)

    def _begin(self, tool_names: Iterable[str]) -> None:
        self._tool_names = frozenset(map(sys.intern, tool_names))
        self._times: Counter[bytes] = Counter()  # that a call had a result
        self._full_by_short: dict[bytes, bytes] = {}
        self._texts: set[bytes] = set()  # of errors, and of what tools of the server returned
        self._calls: Sequence[ToolCall] = ()
        self._is_begun = False
        self.has_called = False  # in this epoch
        self.has_message = False  # of a person, likewise
        self.last_reminder = ""  # since which no call has had a result

    @property
    def tool_names(self) -> frozenset[str]:
        """The tools that the run is offered."""
        return self._tool_names

    @property
    def lacks_calls(self) -> bool:
        """Whether the run answers its topic without having called a tool; a message of a person lifts that."""
        return self.began_anew and not self.has_called and not self.has_message

    @property
    def is_stuck(self) -> bool:
        """Whether so many turns made no progress that the run is to pause."""
        return self.turns >= STUCK_TURNS

    def add(self, entry: Entry) -> None:
        """Count the next entry; an opening begins an epoch, which has seen nothing."""
        match entry:
            case Opening():
                self._begin(tool["name"] for tool in entry.tools if "name" in tool)
                self.turns = entry.turns_without_progress
                self.began_anew = entry.question is None
            case Question(text):
                # The first question of an epoch is no message.
                self.last_reminder = text if is_reminder(text) else ""
                if self._is_begun and not self.last_reminder:
                    self.turns, self.has_message = 0, self.has_message or text != STUCK
                self._is_begun = True
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
        """The result as the model is to see it: only its beginning where it has seen it often enough."""
        if result.ends_silently or self._times[_key(call, result)] < REPEATS_MAX:
            return result
        text = _short(_without_id(call, result.text))
        return replace(result, text=text, whole=result.whole or result.text)

    def _count(self, is_progress: bool, trouble: str) -> None:
        self.turns = 0 if is_progress else self.turns + 1
        self.trouble = "" if is_progress else trouble

    def _has_news(self, reply: Reply) -> bool:
        # Another call of a server's tool has another id, whatever it found.
        texts = [
            _digest(block.get("content"))
            for block in reply.content
            if block["type"].endswith(SERVER_RESULT_SUFFIX)
        ]
        has_news = not self._texts.issuperset(texts)
        self._texts.update(texts)
        return has_news

    def _note(self, call: ToolCall, result: ToolResult) -> bool:
        """Count a result; whether it is news."""
        key = _key(call, result)
        key = self._full_by_short.get(key, key)
        self._times[key] += 1
        if not result.text.startswith(REPEATED):
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
    return f"The last reply had no words and no call (stop reason {reply.stop or 'none'})."


def _trouble_among(pairs: Sequence[tuple[ToolCall, ToolResult]]) -> str:
    errors = [(call, result) for call, result in pairs if result.is_error]
    if errors:
        call, result = errors[-1]
        text = result.text.removeprefix(REPEATED)[:TROUBLE_CHARS].strip()
        return f"The last error is of {call.name[:60]}: {text}"
    return f"The last call, of {pairs[-1][0].name[:60]}, had the same result again."


def _short(text: str) -> str:
    return REPEATED + text[:HEAD_CHARS]


def _without_id(call: ToolCall, text: str) -> str:
    # A result that was cut names the call by which it is read on.
    return text.replace(f'"{call.id}"', '""')


def _key(call: ToolCall, result: ToolResult) -> bytes:
    return _digest([call.name, call.arguments, _without_id(call, result.text), result.is_error])


def _digest(value: object) -> bytes:
    text = json.dumps(value, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
