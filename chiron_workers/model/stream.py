import json
from dataclasses import dataclass, field
from typing import Any

from chiron_workers.model.failures import StreamCut
from chiron_workers.runs.entries import Block

Wire = dict[str, Any]  # JSON as it came


@dataclass(slots=True)
class Accumulation:
    """A message put together from the events of its stream, each field as it came over the wire.

    The SDK's own helper does the same into its types, builds a snapshot for every few words, and takes half of the
    processor time of a turn; what is journaled is JSON, so the way through the types brings nothing.
    """

    _message: Wire | None = None
    _parts: dict[tuple[int, str], list[str]] = field(default_factory=dict)

    def add(self, event: Wire) -> str:
        """Add the next event; return the words it brought, if any. Raises StreamCut where it makes no sense."""
        try:
            return self._add(event)
        except (LookupError, TypeError, AttributeError) as error:
            raise StreamCut(
                f"The stream holds an event that makes no sense ({type(error).__name__})."
            ) from error

    def message(self) -> Wire:
        """The message, once it is complete. Raises StreamCut where the stream ended before that."""
        if self._message is None:
            raise StreamCut("The stream ended before it began.")
        if self._message.get("stop_reason") is None:
            raise StreamCut("The stream ended before the reply was complete.")
        return _sendable(self._message)

    def _add(self, event: Wire) -> str:
        match event["type"]:
            case "message_start":
                self._message = event["message"]
            case "content_block_start":
                content = self._content()
                if event["index"] != len(content):
                    raise StreamCut("The stream's blocks are out of order.")
                content.append(event["content_block"])
            case "content_block_delta":
                return self._extend(event["index"], event["delta"])
            case "content_block_stop":
                self._close(event["index"])
            case "message_delta":
                self._end(event)
        return ""

    def _content(self) -> list[Block]:
        if self._message is None:
            raise StreamCut("The stream has no beginning.")
        content: list[Block] = self._message["content"]
        return content

    def _extend(self, index: int, delta: Wire) -> str:
        block = self._content()[index]
        match delta:
            case {"type": "text_delta", "text": str(text)}:
                self._parts.setdefault((index, "text"), []).append(text)
                return text
            case {"type": "citations_delta", "citation": citation}:
                block["citations"] = [*(block.get("citations") or []), citation]
            case _:  # one field, that of the block or a part of its JSON: thinking, signature, partial_json
                for name, part in delta.items():
                    if name != "type":
                        self._parts.setdefault((index, name), []).append(part)
        return ""

    def _close(self, index: int) -> None:
        block = self._content()[index]
        for block_index, name in [key for key in self._parts if key[0] == index]:
            text = "".join(self._parts.pop((block_index, name)))
            if name != "partial_json":
                block[name] = f"{block.get(name) or ''}{text}"
            elif text:
                block["input"] = json.loads(text)

    def _end(self, event: Wire) -> None:
        self._content()
        assert self._message is not None
        self._message |= event["delta"]
        # Counts are totals; what is left out stays as it was at the start.
        usage = {name: count for name, count in (event.get("usage") or {}).items() if count is not None}
        self._message["usage"] = (self._message.get("usage") or {}) | usage


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
