import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, cast

from chiron_workers.model.faults import StreamCut
from chiron_workers.runs.entries import INVALID_JSON

Wire = dict[str, Any]  # JSON as it came
FIELDS = ("model", "stop_reason", "usage")  # of a message, beside its content
NO_SENSE = "its stream holds an event that makes no sense ({})"
LEVELS_MAX = 200  # of JSON in JSON: what is nested deeper can be read and not be written again


@dataclass(slots=True)
class Accumulation:
    """A message put together from the events of its stream, each field as it came over the wire.

    The SDK's own helper does the same into its types, builds a snapshot for every few words, and takes half of the
    processor time of a turn; what is journaled is JSON, so the way through the types brings nothing.

    `problem` says what is wrong with an event. It raises nothing: a reply that comes to its end is paid for.
    """

    problem: str = ""
    is_ended: bool = False  # whether message_stop came, which is the last event
    content_bytes: int = 0  # so far, of what is kept of the reply
    _message: Wire = field(default_factory=dict)
    _blocks: list[Any] = field(default_factory=list)
    _parts: dict[tuple[int, str], list[str | bytes]] = field(default_factory=dict)
    _is_output_counted: bool = False  # at its end: what the beginning says of it is the first word of many

    @property
    def has_begun(self) -> bool:
        """Whether message_start came."""
        return bool(self._message)

    @property
    def is_whole(self) -> bool:
        """Whether the reply is complete: its stop reason comes after its last block."""
        return self.is_ended or self._message.get("stop_reason") is not None

    def add(self, event: Wire) -> str:
        """Add the next event; the words it brought, if any."""
        try:
            return self._add(event)
        except (LookupError, TypeError, AttributeError) as error:
            self._note(NO_SENSE.format(type(error).__name__))
            return ""

    def add_json(self, text: str) -> str:
        """Add the next event as the stream has it; the words it brought, if any."""
        try:
            event = json.loads(text)
        except (ValueError, RecursionError):
            if not self.is_whole:
                self._note("its stream holds an event that is no JSON")
            return ""
        if not isinstance(event, dict) or event.get("type") != "content_block_delta":
            self.content_bytes += len(text)
        return self.add(event)

    def fragments(self, index: int, name: str) -> list[str | bytes] | None:
        """Where the parts of a block's field go, in their order; None if there is no such block.

        A part is text, or bytes: text as it stands within the quotes of its JSON, in UTF-8, without halves of surrogates.
        """
        if index >= len(self._blocks):
            self._note(NO_SENSE.format("IndexError"))
            return None
        return self._parts.setdefault((index, name), [])

    def message(self) -> Wire:
        """What is used of the message, its content a list. Raises StreamCut where the reply is not complete."""
        if not self.is_whole:
            raise StreamCut(self.problem or "The stream ended before the reply was complete.")
        self._join()
        if not self._is_output_counted and isinstance(usage := self._message.get("usage"), dict):
            self._message["usage"] = {name: usage[name] for name in usage if name != "output_tokens"}
        fields = {name: self._within_levels(self._message.get(name)) for name in FIELDS}
        return _sendable(fields | {"content": [self._within_levels(block) for block in self._blocks]})

    def _add(self, event: Wire) -> str:
        match event["type"]:
            case "message_start":
                self._begin(event["message"])
            case "content_block_start":
                if event["index"] != len(self._blocks):
                    self._note("the blocks of its stream are out of order")
                self._blocks.append(event["content_block"])
            case "content_block_delta":
                return self._extend(event["index"], event["delta"])
            case "message_delta":
                self._end(event)
            case "message_stop":
                self.is_ended = True
        return ""

    def _begin(self, message: Wire) -> None:
        # The stop reason comes later: a reply that names it at its beginning is not complete for that.
        self._message = {name: value for name, value in message.items() if name != "stop_reason"}
        content = message.get("content") or []
        if not isinstance(content, list):
            self._note("its content is no list")
        self._blocks = list(content) if isinstance(content, list) else [content]

    def _extend(self, index: int, delta: Wire) -> str:
        if not 0 <= index < len(self._blocks):
            raise IndexError(index)
        match delta:
            case {"type": "text_delta", "text": str(text)}:
                self._parts.setdefault((index, "text"), []).append(text)
                self.content_bytes += len(text)
                return text
            case {"type": "citations_delta", "citation": citation}:
                block = self._blocks[index]
                self.content_bytes += len(str(citation))
                block["citations"] = [*(block.get("citations") or []), citation]
            case _:  # one field, that of the block or a part of its JSON: thinking, signature, partial_json
                for name, part in delta.items():
                    if name != "type":
                        self.content_bytes += len(part) if isinstance(part, str) else len(str(part))
                        self._parts.setdefault((index, name), []).append(part)
        return ""

    def _join(self) -> None:
        for (index, name), parts in self._parts.items():
            try:
                block = self._blocks[index]
                text = _joined(parts)
                if name != "partial_json":
                    block[name] = f"{block.get(name) or ''}{text}"
                elif text:
                    block["input"] = _arguments(text)
            except (LookupError, TypeError, AttributeError):
                self._note(f"a block of its stream has parts that are no text ({name[:40]})")
        self._parts.clear()

    def _end(self, event: Wire) -> None:
        self._message |= event["delta"]
        # Counts are totals; what is left out stays as it was at the start, but for the words that came since.
        usage, earlier = event.get("usage") or {}, self._message.get("usage") or {}
        if isinstance(usage, dict) and isinstance(earlier, dict):
            counts = {name: count for name, count in usage.items() if count is not None}
            self._is_output_counted = self._is_output_counted or "output_tokens" in counts
            self._message["usage"] = earlier | counts
        else:  # no counts at all: what it took is not known
            self._message["usage"] = None

    def _within_levels(self, part: Any) -> Any:
        if not _is_deep(part):
            return part
        self._note(f"a part of it is nested more than {LEVELS_MAX} levels deep")
        return "nested too deeply to be kept"

    def _note(self, problem: str) -> None:
        self.problem = self.problem or problem


def _joined(parts: list[str | bytes]) -> str:
    """One text of its parts. Raises TypeError for a part that is none."""
    texts = []
    for is_raw, run in groupby(parts, key=lambda part: isinstance(part, bytes)):
        if is_raw:
            raw = b"".join(cast(Iterator[bytes], run))
            texts.append(json.loads(b'"%b"' % raw) if b"\\" in raw else raw.decode())
        else:
            texts.append("".join(cast(Iterator[str], run)))
    return "".join(texts)


def _arguments(text: str) -> Any:
    # Only now is it known that no more of it comes: a reply may be cut within a call, and a model may write what is no
    # JSON. Such a text goes back to the model in an object, as the API's documentation has it: "Fine-grained tool streaming".
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        return {INVALID_JSON: text}
    return {INVALID_JSON: text} if _is_deep(arguments) else arguments


def _is_deep(value: Any) -> bool:
    level, levels = [value], 0
    while level:
        containers = [part for part in level if isinstance(part, dict | list)]
        level = [
            part
            for holder in containers
            for part in (holder.values() if isinstance(holder, dict) else holder)
        ]
        levels += 1
        if levels > LEVELS_MAX:
            return True
    return False


def _sendable(message: Wire) -> Wire:
    # JSON can carry half a surrogate pair, and numbers past the greatest float that are read as infinite, and Python
    # reads NaN. What came so could neither be kept nor sent back, and the reply has been paid for.
    try:
        json.dumps(message, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        text = json.dumps(message, ensure_ascii=False).encode(errors="replace")
        valid_message: Wire = json.loads(text, parse_constant=lambda _: None)
        return valid_message
    return message
