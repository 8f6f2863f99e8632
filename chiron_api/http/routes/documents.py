import asyncio
import re
import tempfile
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any

from fastapi import Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from chiron_api.client.models.subjects import DocumentList, DocumentReceipt
from chiron_api.http.bodies import bounded_chunks
from chiron_api.http.dependencies import ServicesOf
from chiron_api.http.descriptions import LOCATION, answers
from chiron_api.http.problems import Problem
from chiron_api.http.requests import RequestModel
from chiron_api.http.responses import json_response
from chiron_api.http.routing import api_router
from chiron_workers.documents.read_folder import FORMATS, FileDocument, SkippedFile, read_document
from chiron_workers.knowledge.corpus import Corpus
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.knowledge.facts.grounds import check_grounds
from chiron_workers.runs.session import Session

router = api_router("Subjects")

PATH_CHARS_MAX = 300
NAME_CHARS_MAX = 50  # of the file while it is read; a system takes 255 bytes
BINARY = "application/octet-stream"
MEDIA_TYPES = (BINARY, *sorted({file_format.content_type for file_format in FORMATS.values()}))
ENDINGS = ", ".join(FORMATS)
BODY: dict[str, Any] = {"requestBody": {"required": True, "content": {kind: {} for kind in MEDIA_TYPES}}}
# A folder or a file whose name begins with a dot is hidden, and `..` would lead out of the corpus.
PATH = re.compile(r"(?:[^/.\x00-\x1f][^/\x00-\x1f]*/)*[^/.\x00-\x1f][^/\x00-\x1f]*")


class DocumentPath(RequestModel):
    """Under which path the corpus has a document; its ending says what kind of text it is."""

    path: Annotated[
        str,
        Field(
            min_length=1,
            max_length=PATH_CHARS_MAX,
            examples=["papers/ice.pdf"],
            json_schema_extra={"pattern": rf"^{PATH.pattern}({'|'.join(map(re.escape, FORMATS))})$"},
        ),
    ]


@router.post(
    "/v1/subjects/{id}/documents",
    status_code=HTTPStatus.CREATED,
    summary="Add a document",
    response_model=DocumentReceipt,
    responses=answers(
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        located=HTTPStatus.CREATED,
    )
    | {200: LOCATION | {"model": DocumentReceipt, "description": "It took the place of one of that path."}},
    openapi_extra=BODY,
)
async def add_document(
    id: str, options: Annotated[DocumentPath, Query()], request: Request, services: ServicesOf
) -> Response:
    """Put a document into the corpus of a subject, made if need be, over one of the same path; the body is the file.

    It is parsed apart from the server. 415 for a kind of file that is not read, 422 for one that cannot be.
    """
    _require_readable(request, options.path)
    subject_id = slug(id)
    document = await _received(request, options.path, bytes_max=services.settings.upload_bytes_max)
    async with Session(services.pool) as session:
        counts = await Corpus(session).add(id, [document])
    [url] = (*counts.new_urls, *counts.changed_urls, *counts.unchanged_urls)
    changes = await check_grounds(services.pool, [url])
    receipt = {
        "subject_id": subject_id,
        "url": url,
        "title": document.document.title,
        "content_type": document.content_type,
        "passages": counts.passages,
        "state": "new" if counts.new_urls else "changed" if counts.changed_urls else "unchanged",
        "facts": [
            {"fact_id": change.fact_id, "url": change.source_url, "ground": change.ground}
            for change in changes
        ],
    }
    status = HTTPStatus.CREATED if counts.new_urls else HTTPStatus.OK
    return json_response(receipt, status, headers={"Location": f"/v1/subjects/{subject_id}/documents"})


@router.get("/v1/subjects/{id}/documents", summary="List the documents", response_model=DocumentList)
async def list_documents(id: str, services: ServicesOf) -> Response:
    """The documents of the corpus of a subject, by address."""
    return json_response({"items": await Corpus(Session(services.pool)).documents(id)})


def _require_readable(request: Request, path: str) -> None:
    if not PATH.fullmatch(path):
        sentence = "A path has names between slashes, none of which begins with a dot: papers/ice.pdf."
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, sentence, fields=[("path", sentence)])
    if Path(path).suffix.lower() not in FORMATS:
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"The path must end with one of {ENDINGS}.")
    kind = request.headers.get("content-type", BINARY).partition(";")[0].strip().lower()
    if kind not in MEDIA_TYPES:
        sentence = f"Send the file itself as the body, with one of these types: {', '.join(MEDIA_TYPES)}."
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, sentence)


async def _received(request: Request, path: str, *, bytes_max: int) -> FileDocument:
    """The document that a body becomes. Raises Problem 408, 413 and 422."""
    with tempfile.TemporaryDirectory(prefix="chiron-upload-") as folder:
        file = Path(folder, f"{Path(path).stem[:NAME_CHARS_MAX]}{Path(path).suffix}")
        with await asyncio.to_thread(file.open, "wb") as target:
            async for chunk in bounded_chunks(request, bytes_max=bytes_max):
                await asyncio.to_thread(target.write, chunk)
        document = await asyncio.to_thread(read_document, file, path)
    if isinstance(document, SkippedFile):
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, f"{path} cannot be read: {document.reason}.")
    return replace(document, file="")  # it is nowhere to be read again
