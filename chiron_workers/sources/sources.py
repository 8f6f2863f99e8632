import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

import zstandard
from psycopg.rows import DictRow
from psycopg.types.json import Json

from chiron_workers import ids
from chiron_workers.db.pipelines import Statement
from chiron_workers.db.queries import load
from chiron_workers.documents.document import READER_VERSION, Document
from chiron_workers.documents.omissions import LeftOut, as_rows, from_rows
from chiron_workers.errors import ToolValidationError
from chiron_workers.evidence.text_cache import cache_short_texts
from chiron_workers.runs.session import Session
from chiron_workers.states import SourceKind

SQL = load(__file__)
URL_BYTES_MAX = 2_000  # an index row of Postgres has room for 2,700
ADDRESSES_MAX = 4_096  # whose canonical form is kept: a report asks for each source's three times
WEB = re.compile(r"(https?)://([^/?#]*@)?([^/?#@]*?)(:\d*)?([/?].*)?", re.IGNORECASE | re.DOTALL)
USUAL_PORTS = {"http": "80", "https": "443"}


@dataclass(frozen=True, slots=True)
class Validators:
    """What a server gave with a page, to ask later whether it is still the same: the headers ETag and Last-Modified."""

    etag: str = ""
    last_modified: str = ""


NO_VALIDATORS = Validators()


@dataclass(frozen=True, slots=True)
class Page:
    """The text that an address gave.

    `raw_hash` is the sha256 of the bytes it was read from, in hex, and `reader` the version of our readers; empty and None
    where that is not known. `doi` and `stated_kind` are what the page says of itself, and `validators` are those that this
    very address gave. `author` has the authors on one line; `authors` is empty where a version before has read the text.
    `left_out` is what the reader left out of the text; None where that is not known.
    """

    url: str
    text: str
    content_type: str
    title: str = ""
    author: str = ""
    published_at: datetime | None = None
    licence: str = ""
    doi: str = ""
    stated_kind: SourceKind | None = None
    authors: tuple[str, ...] = ()
    raw_hash: str = ""
    reader: int | None = READER_VERSION
    validators: Validators = NO_VALIDATORS
    left_out: LeftOut = ()

    @classmethod
    def of(cls, url: str, content_type: str, document: "Document | Snapshot") -> Self:
        """The page with the text and the metadata of a document."""
        metadata = document.title, document.author, document.published_at, document.licence
        return cls(
            url,
            document.text,
            content_type,
            *metadata,
            doi=document.doi,
            stated_kind=document.stated_kind,
            authors=document.authors,
            left_out=document.left_out,
        )

    def text_hash(self) -> str:
        """The sha256 of the text, in hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot(Page):
    """A text that is kept; `hash` is the sha256 of the text, in hex."""

    hash: str
    fetched_at: datetime


@cache_short_texts(texts_max=ADDRESSES_MAX, chars_max=URL_BYTES_MAX)
def canonical(url: str) -> str:
    """The address under which a text is kept: without its fragment, which names a place within the text.

    Of a web address the scheme and host are in small letters, a usual port is left out, and a path is there.

    Raises:
        ToolValidationError: It is longer than an index can hold.
    """
    address = url.strip().replace("\0", "").partition("#")[0]
    if web := WEB.fullmatch(address):
        scheme, user, host, port, tail = web.groups(default="")
        scheme = scheme.lower()
        port = "" if port.lstrip(":") in ("", USUAL_PORTS[scheme]) else port
        address = f"{scheme}://{user}{host.lower()}{port}{tail if tail.startswith('/') else '/' + tail}"
    if len(address.encode("utf-8", "replace")) > URL_BYTES_MAX:
        raise ToolValidationError(f"url: has more than {URL_BYTES_MAX:,} bytes.", field="url")
    return address


def address(source_url: str) -> str:
    """An address in its canonical form; what is no address, such as the title of a book, as it is."""
    return canonical(source_url) if "://" in source_url else source_url


class Sources:
    """Texts that were read, each stored once by its hash, and a fetch for every time that an address gave one."""

    def __init__(self, session: Session) -> None:
        self.session = session

    async def latest(self, url: str) -> Snapshot | None:
        """What an address gave when it was last read, or None if it never was."""
        row = await self.session.row(SQL["latest"], {"url": canonical(url)})
        return to_snapshot(row) if row else None

    async def validators(self, url: str) -> tuple[Validators, str] | None:
        """By what to ask an address whether its page is the same as last, and the hash of the bytes of then.

        None where it gave nothing to ask by, or our readers may read another text from the same bytes by now.
        """
        row = await self.session.row(SQL["validators"], {"url": canonical(url), "reader": READER_VERSION})
        return (Validators(row["etag"], row["last_modified"]), row["raw_hash"]) if row else None

    async def versions(self, url: str) -> list[Snapshot]:
        """The texts that an address gave, each once, the latest first; the last five at most.

        Within a run only those that it has read itself, its own first, or that its batch has fetched from the web:
        what others read may be nothing for it. Each comes with the address where redirects ended.
        """
        caller = self.session.caller
        args = {"url": canonical(url), "run_id": caller.run_id, "batch_id": caller.batch_id}
        return [to_snapshot(row) for row in await self.session.rows(SQL["versions"], args)]

    async def parts(self, url: str) -> list[str]:
        """The addresses by which a file and parts of it (pages, rows, sheets) were read; 1,000 at most."""
        rows = await self.session.rows(SQL["parts"], {"url": url})
        return [row["url"] for row in rows]

    async def record_gone(self, url: str, reason: str) -> bool:
        """Record that an address gives nothing any more, and why; whether it was not known to be gone."""
        args = {
            "id": ids.new_id(),
            "url": canonical(url),
            "reason": reason,
            "run_id": self.session.caller.run_id,
        }
        return bool(await self.session.write(SQL["record_gone"], args))

    async def save(self, page: Page) -> str:
        """Store a page and record that its address gave it; the hash of its text."""
        return (await self.save_all([page]))[0]

    async def save_all(self, pages: Sequence[Page]) -> list[str]:
        """Store many pages in one statement; the hashes of their texts, in order.

        What gave another text before, or had gone, has changed: `source_changes` says what that means for facts.
        """
        hashes = [page.text_hash() for page in pages]
        await self.session.write_all(self._save_statement(pages, hashes))
        return hashes

    async def save_and_read(self, pages: Sequence[Page], *statements: Statement) -> Snapshot:
        """Store pages as `save_all` does, and run further statements; the first page as it is kept. All go out together."""
        hashes = [page.text_hash() for page in pages]
        latest = Statement(SQL["latest"], {"url": canonical(pages[0].url)})
        results = await self.session.write_all(self._save_statement(pages, hashes), *statements, latest)
        return to_snapshot(results[-1][0])

    def _save_statement(self, pages: Sequence[Page], hashes: Sequence[str]) -> Statement:
        return Statement(
            SQL["save"],
            {
                "ids": [ids.new_id() for _ in pages],
                "change_ids": [ids.new_id() for _ in pages],
                "urls": [canonical(page.url) for page in pages],
                "hashes": list(hashes),
                "bodies": [zstandard.compress(page.text.encode()) for page in pages],
                "chars": [len(page.text) for page in pages],
                "content_types": [page.content_type for page in pages],
                "titles": [page.title for page in pages],
                "author_lines": [page.author for page in pages],
                "authors": [
                    Json(list(page.authors)) if page.authors or not page.author else None for page in pages
                ],
                "published": [page.published_at for page in pages],
                "licences": [page.licence for page in pages],
                "raw_hashes": [page.raw_hash or None for page in pages],
                "readers": [page.reader for page in pages],
                "dois": [page.doi for page in pages],
                "stated_kinds": [page.stated_kind for page in pages],
                "etags": [page.validators.etag or None for page in pages],
                "last_modified": [page.validators.last_modified or None for page in pages],
                "left_out": [as_rows(page.left_out) for page in pages],
                "run_id": self.session.caller.run_id,
            },
        )


def to_snapshot(row: DictRow) -> Snapshot:
    """A row of the columns of Fetched, with the compressed `body` in place of the text."""
    text = zstandard.decompress(row.pop("body")).decode()
    if stated_kind := row.pop("stated_kind", None):
        row["stated_kind"] = SourceKind(stated_kind)
    row["authors"] = tuple(row.pop("authors", None) or ())
    row["left_out"] = from_rows(row.get("left_out"))
    return Snapshot(text=text, **row)
