from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Query
from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts.inputs import Input
from chiron_api.answers.subjects import DocumentReceipt
from chiron_api.http.bodies import bounded_chunks
from chiron_api.http.dependencies import ServicesOf
from chiron_api.http.descriptions import LOCATION, answers
from chiron_api.http.form_bodies import MULTIPART, media_type_of
from chiron_api.http.responses import json_response
from chiron_api.http.routing import api_router
from chiron_api.http.uploads import (
    FORM_SCHEMA,
    MEDIA_TYPES,
    DocumentName,
    add_document_to,
    open_upload,
    require_document_type,
)

router = api_router("Subjects")

BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {kind: {} for kind in MEDIA_TYPES} | {MULTIPART: {"schema": FORM_SCHEMA}},
    }
}


class DocumentPath(Input):
    """Under which path the corpus has a document; its ending says what kind of text it is. A form names it by its file."""

    path: DocumentName | None = None


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
    """Put a document into the corpus of a subject, made if need be, over one of the same path.

    The body is the file itself, or a form with the file as `file`: `curl -F file=@ice.pdf`. It is parsed apart from
    the server. 415 for a kind of file that is not read, 422 for one that cannot be.
    """
    if media_type_of(request) == MULTIPART:
        async with open_upload(request, bytes_max=services.settings.upload_bytes_max) as upload:
            receipt = await add_document_to(services, id, options.path or upload.path, upload.chunks)
    else:
        require_document_type(request)
        chunks = bounded_chunks(request, bytes_max=services.settings.upload_bytes_max)
        receipt = await add_document_to(services, id, options.path or "", chunks)
    status = HTTPStatus.CREATED if receipt["state"] == "new" else HTTPStatus.OK
    return json_response(
        receipt, status, headers={"Location": f"/v1/subjects/{receipt['subject_id']}/documents"}
    )
