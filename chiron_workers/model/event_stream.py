"""Server-sent events, scanned as bytes as they come; the deltas of a reply, which are nearly all, without reading their JSON.

Source: WHATWG HTML, "Server-sent events", 9.2.6: lines end with LF, CR or CRLF; a blank line ends an event.
"""

import json
import re
from collections.abc import Callable, Mapping

from chiron_workers.model.faults import StatusError, StreamCut
from chiron_workers.model.stream import Accumulation

OnText = Callable[[str], None]

EVENT_MAX_BYTES = 32_000_000
WAITING_MAX_BYTES = 16_384  # of an event that is cut: so much is looked at anew once more of it is there
PINGS = ('{"type": "ping"}', '{"type":"ping"}')
BOM = b"\xef\xbb\xbf"
LINE_END = re.compile(rb"\r\n?|\n")
# A delta as the API writes it, the text of its JSON left as it is. Halves of surrogate pairs (\ud...) are left to json:
# two halves in two deltas are no pair.
DELTA = re.compile(
    rb"(?:event: ?content_block_delta\r?\n)?"
    rb'data: ?\{"type": ?"content_block_delta", ?"index": ?'
    rb'((0|[1-9][0-9]{0,4}), ?"delta": ?\{"type": ?"'
    rb'(?:text_delta", ?"(text)|input_json_delta", ?"(partial_json)|thinking_delta", ?"(thinking)'
    rb'|signature_delta", ?"(signature))": ?")'
    rb'([^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u(?:[0-9a-ce-fA-CE-F][0-9a-fA-F]{3}))[^"\\\x00-\x1f]*+)*+)'
    rb'"\} *+\} *+\r?\n\r?\n'
)


class EventScanner:
    """Puts the events of a stream into an accumulation.

    Args:
        headers: Those of the response; with an error in mid-stream they may say when to come back.
    """

    def __init__(self, accumulation: Accumulation, headers: Mapping[str, str]) -> None:
        self._accumulation = accumulation
        self._headers = headers
        self._rest: list[bytes] = []  # what has come of a line, or of an event, that is not complete
        self._rest_bytes = 0
        self.events = 0  # that were more than a ping; deltas that come together count once
        self._is_after_cr = False
        self._is_at_start = True
        self._event = ""
        self._data: list[str] = []
        self._data_bytes = 0
        self._head = b""  # of the delta before: of most, the next has the same
        self._fragments: list[str | bytes] = []  # where its text goes

    def feed(self, chunk: bytes, on_text: OnText | None) -> None:
        """Add the events that a chunk completes; `on_text` gets the words of each, None: nobody wants them.

        Raises:
            StatusError: The stream holds an error.
            StreamCut: An event is too large.
            UnicodeDecodeError: It holds what is no UTF-8.
        """
        if self._rest:
            chunk = self._with_rest(chunk)
        if self._is_at_start:
            chunk = self._without_bom(chunk)
        if self._is_after_cr and chunk:
            self._is_after_cr = False
            chunk = chunk.removeprefix(b"\n")
        position, size = 0, len(chunk)
        while position < size and not self._accumulation.is_ended:
            if not self._event and not self._data:
                position = self._take_deltas(chunk, position, on_text)
                if position == size or self._is_cut(chunk, position):
                    break
            line_end = LINE_END.search(chunk, position)
            if line_end is None:
                break
            self._is_after_cr = line_end.end() == size and chunk.endswith(b"\r")
            self._take_line(chunk[position : line_end.start()], on_text)
            position = line_end.end()
        if position < size:
            self._keep(chunk[position:])

    def _with_rest(self, chunk: bytes) -> bytes:
        self._keep(chunk)
        if b"\n" not in chunk and b"\r" not in chunk:
            return b""
        chunk = b"".join(self._rest)
        self._rest.clear()
        self._rest_bytes = 0
        return chunk

    def _without_bom(self, chunk: bytes) -> bytes:
        if len(chunk) < len(BOM) and BOM.startswith(chunk):
            self._keep(chunk)
            return b""
        self._is_at_start = False
        return chunk.removeprefix(BOM)

    def _keep(self, part: bytes) -> None:
        self._rest.append(part)
        self._rest_bytes += len(part)
        self._check_size()

    def _check_size(self) -> None:
        if self._rest_bytes + self._data_bytes > EVENT_MAX_BYTES:
            raise StreamCut(f"An event of the stream is larger than {EVENT_MAX_BYTES:,} bytes.")

    def _take_deltas(self, chunk: bytes, position: int, on_text: OnText | None) -> int:
        """Take the deltas that follow each other; where the first other event begins."""
        match = DELTA.match
        begin = position
        content_bytes = 0
        while delta := match(chunk, position):
            head, index, text, partial_json, thinking, signature, fragment = delta.groups()
            if head != self._head:
                field = text or partial_json or thinking or signature
                fragments = self._accumulation.fragments(int(index), field.decode())
                if fragments is None:
                    self._head = b""
                    position = delta.end()
                    continue
                self._head, self._fragments = head, fragments
            if not fragment.isascii():
                fragment.decode()  # else bytes that belong together might come together only now
            self._fragments.append(fragment)
            content_bytes += len(fragment)
            if on_text is not None and text:
                on_text(json.loads(b'"%b"' % fragment) if b"\\" in fragment else fragment.decode())
            position = delta.end()
        if position > begin:
            self.events += 1
            self._accumulation.content_bytes += content_bytes
        return position

    def _is_cut(self, chunk: bytes, position: int) -> bool:
        """Whether to wait for the rest of what may be a delta, rather than take it line by line."""
        if len(chunk) - position > WAITING_MAX_BYTES:
            return False
        return chunk.find(b"\n\n", position) < 0 and chunk.find(b"\r", position) < 0

    def _take_line(self, line: bytes, on_text: OnText | None) -> None:
        if not line:
            self._dispatch(on_text)
            return
        name, _, value = line.decode().partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
            self._data_bytes += len(line)
            self._check_size()
        elif name == "event":
            self._event = value

    def _dispatch(self, on_text: OnText | None) -> None:
        event, data = self._event, "\n".join(self._data)
        self._event, self._data_bytes, self._head = "", 0, b""
        self._data.clear()
        if event == "error":
            raise self._error(data)
        if data and event != "ping" and data not in PINGS:
            self.events += 1
            text = self._accumulation.add_json(data)
            if text and on_text is not None:
                on_text(text)

    def _error(self, data: str) -> StatusError:
        # With the status of the stream, as the SDK raises it: only its type says what it is.
        try:
            body = json.loads(data)
        except (ValueError, RecursionError):
            body = data
        return StatusError(200, self._headers, body)
