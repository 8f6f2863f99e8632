from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import Response, StreamingResponse

from chiron_api.acts.act import Document
from chiron_api.reports.write import encoded
from chiron_api.text import as_json

CHUNK_BYTES = 65_536


def json_response(
    value: object, status: HTTPStatus = HTTPStatus.OK, *, headers: Mapping[str, str] | None = None
) -> Response:
    """A JSON response in the form that the commands print with --json."""
    return Response(as_json(value), status.value, headers=dict(headers or {}), media_type="application/json")


def document_response(document: Document[Any], *, file_name: str = "") -> Response:
    """A streamed document: Starlette takes the pieces in threads, so a long one does not block the event loop.

    Args:
        file_name: What it is saved as, also where it could be shown.
    """
    headers = {"X-Content-Type-Options": "nosniff", **document.headers}
    if name := file_name or document.file_name:
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    pieces = document.pieces
    content = _in_chunks(pieces) if isinstance(pieces, Iterable) else pieces
    return StreamingResponse(content, media_type=document.media_type, headers=headers)


def _in_chunks(pieces: Iterable[str | bytes]) -> Iterator[bytes]:
    """The same document in larger chunks, since each is handed to a thread."""
    chunk = bytearray()
    for piece in pieces:
        chunk += encoded(piece)
        if len(chunk) >= CHUNK_BYTES:
            yield bytes(chunk)
            chunk.clear()
    yield bytes(chunk)
