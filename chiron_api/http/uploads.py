"""Documents that are sent: received within bounds, parsed apart from the server, and put into the corpus of a subject."""

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from starlette.datastructures import UploadFile
from starlette.requests import Request

from chiron_api.http.form_bodies import MULTIPART, media_type_of, open_form
from chiron_api.http.problems import Problem
from chiron_api.services import Services
from chiron_workers.documents.read_folder import FORMATS, FileDocument, SkippedFile, read_document
from chiron_workers.knowledge.corpus import Corpus
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.knowledge.facts.grounds import check_grounds
from chiron_workers.runs.session import Session

PATH_CHARS_MAX = 300
NAME_CHARS_MAX = 50  # of the file while it is read; a system takes 255 bytes
CHUNK_BYTES = 65_536
FIELDS_BYTES = 65_536  # of a form beside its file
BINARY = "application/octet-stream"
MEDIA_TYPES = (BINARY, *sorted({file_format.content_type for file_format in FORMATS.values()}))
ENDINGS = ", ".join(FORMATS)
# A folder or a file whose name begins with a dot is hidden, and `..` would lead out of the corpus.
PATH = re.compile(r"(?:[^/.\x00-\x1f][^/\x00-\x1f]*/)*[^/.\x00-\x1f][^/\x00-\x1f]*")
PATTERN = rf"^{PATH.pattern}({'|'.join(map(re.escape, FORMATS))})$"
DocumentName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=PATH_CHARS_MAX,
        examples=["papers/ice.pdf"],
        json_schema_extra={"pattern": PATTERN},
    ),
]
FORM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "file": {
            "type": "string",
            "contentMediaType": BINARY,
            "description": "The file; it is called in the corpus as it is called here, unless `path` says otherwise.",
        },
        "path": {"type": "string", "minLength": 1, "maxLength": PATH_CHARS_MAX, "pattern": PATTERN},
    },
    "required": ["file"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Upload:
    """A file from a form: what it is to be called, its bytes, and the other fields of the form."""

    path: str
    chunks: AsyncIterator[bytes]
    fields: dict[str, str]


@asynccontextmanager
async def open_upload(
    request: Request, *, bytes_max: int, more_fields: frozenset[str] = frozenset()
) -> AsyncIterator[Upload]:
    """The file of a form with the fields `file` and `path`, and `more_fields` if these are there.

    Raises:
        Problem: 400, 408, 413, 415 as of any form, 422 where it has no file or other fields.
    """
    refusal = f"A file may have {bytes_max:,} bytes."
    async with open_form(
        request, bytes_max=bytes_max + FIELDS_BYTES, refusal=refusal, field_bytes_max=FIELDS_BYTES
    ) as form:
        files = [value for name, value in form.multi_items() if name == "file"]
        if strange := sorted(set(form) - more_fields - {"file", "path"}):
            raise _refusal(strange[0][:60], f"The form has a file as `file`, and no {strange[0][:60]!r}.")
        if len(files) != 1 or not isinstance(file := files[0], UploadFile) or not file.filename:
            raise _refusal("file", "Choose one file; a program sends it as `curl -F file=@ice.pdf` does.")
        if (file.size or 0) > bytes_max:
            raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, refusal)
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
        name = re.split(r"[/\\]", file.filename)[-1]
        yield Upload(fields.get("path", "").strip() or name, _chunks(file), fields)


async def _chunks(file: UploadFile) -> AsyncIterator[bytes]:
    while chunk := await file.read(CHUNK_BYTES):
        yield chunk


def require_document_type(request: Request) -> None:
    """Raise Problem 415 unless the type of a body is one of those that a document has."""
    if (media_type_of(request) or BINARY) not in MEDIA_TYPES:
        sentence = (
            f"Send the file itself as the body, with one of these types: {', '.join(MEDIA_TYPES)}; or a form "
            f"({MULTIPART}) with the file as `file`."
        )
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, sentence)


async def add_document_to(
    services: Services, subject: str, path: str, chunks: AsyncIterator[bytes]
) -> dict[str, Any]:
    """Put a document into the corpus of a subject, made if need be, and say what became of it.

    Raises:
        Problem: 415 for a kind of file that is not read, 422 for a path or a content that cannot be.
    """
    _require_path(path)
    subject_id = slug(subject)
    document = await _read(chunks, path)
    async with Session(services.pool) as session:
        counts = await Corpus(session).add(subject, [document])
    [url] = (*counts.new_urls, *counts.changed_urls, *counts.unchanged_urls)
    changes = await check_grounds(services.pool, [url])
    return {
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
        "left_out": [asdict(omission) for omission in document.document.left_out],
    }


def _require_path(path: str) -> None:
    if not path:
        raise _refusal("path", "Say what the document is called there: ?path=papers/ice.pdf.")
    if len(path) > PATH_CHARS_MAX:
        raise _refusal("path", f"A path has at most {PATH_CHARS_MAX} characters.")
    if not PATH.fullmatch(path):
        raise _refusal(
            "path", "A path has names between slashes, none of which begins with a dot: papers/ice.pdf."
        )
    if Path(path).suffix.lower() not in FORMATS:
        sentence = f"The path must end with one of {ENDINGS}."
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, sentence)


async def _read(chunks: AsyncIterator[bytes], path: str) -> FileDocument:
    with tempfile.TemporaryDirectory(prefix="chiron-upload-") as folder:
        file = Path(folder, f"{Path(path).stem[:NAME_CHARS_MAX]}{Path(path).suffix}")
        with await asyncio.to_thread(file.open, "wb") as target:
            async for chunk in chunks:
                await asyncio.to_thread(target.write, chunk)
        document = await asyncio.to_thread(read_document, file, path)
    if isinstance(document, SkippedFile):
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, f"{path} cannot be read: {document.reason}.")
    return replace(document, file="")  # it is nowhere to be read again


def _refusal(field: str, sentence: str) -> Problem:
    return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, sentence, fields=[(field, sentence)])
