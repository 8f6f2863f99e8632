from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import unquote, urlsplit

from chiron_workers.documents.charset import UndecodableError, decode, html_charset
from chiron_workers.documents.document import Block, Document, UnreadableError, clean
from chiron_workers.documents.file_types import looks_like_html
from chiron_workers.documents.html import read_html
from chiron_workers.documents.pdf import read_pdf
from chiron_workers.documents.plain import read_plain
from chiron_workers.documents.sandbox.sandbox import Limits, run_sandboxed
from chiron_workers.errors import ToolError
from chiron_workers.web.download import Admit, Download, DownloadLimits, admit_all, download, shown_url

SNIFFED_BYTES = 1024
HTML = ("text/html", "application/xhtml+xml")
PDF = "application/pdf"
READS = "web_fetch reads HTML, PDF and plain text"
PARSE_LIMITS = Limits(timeout_s=30)  # an honest page of 5 MB takes 16 s on a busy machine
SIGNATURES = {
    b"PK\x03\x04": "application/zip",
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"\x1f\x8b": "application/gzip",
}


@dataclass(frozen=True, slots=True)
class WebPage:
    """What an http(s) address says; `url` is where its redirects ended."""

    url: str
    content_type: str
    document: Document


async def read_page(
    url: str,
    *,
    download_limits: DownloadLimits,
    admit: Admit = admit_all,
    parse_limits: Limits = PARSE_LIMITS,
) -> WebPage:
    """Fetch an http(s) address and read its main text, in the sandbox: what is hostile costs one page.

    Raises:
        ToolError: It is refused, cannot be fetched, or holds no text that can be read.
    """
    found = await download(url, limits=download_limits, admit=admit)
    try:
        return await run_sandboxed(partial(parse_download, found), limits=parse_limits)
    except UnreadableError as error:
        raise ToolError(f"{shown_url(found.url)} cannot be read: {error}.") from None


def parse_download(found: Download) -> WebPage:
    """What a download says. What it is its content shows, and its declared type only where that shows nothing.

    Raises:
        UnreadableError: It holds no text that can be read.
    """
    content_type = _content_type(found)
    if content_type in SIGNATURES.values():
        raise UnreadableError(f"it is {content_type}; {READS}")
    if content_type == PDF:
        document = read_pdf(found.body, name=_name(found.url))
    elif content_type in HTML:
        text = decode(found.body, declared_charset=found.charset or html_charset(found.body))
        document = read_html(text, url=found.url, name=_name(found.url))
    else:
        document = _as_it_is(found, content_type)
    if not document.text.strip():
        raise UnreadableError("it holds no readable text")
    return WebPage(found.url, content_type, document)


def _content_type(found: Download) -> str:
    for signature, content_type in SIGNATURES.items():
        if found.body.startswith(signature):
            return content_type
    if b"%PDF-" in found.body[:SNIFFED_BYTES]:  # readers of PDF allow something before it
        return PDF
    if looks_like_html(found.body):
        return "text/html"
    is_wrong = found.content_type == PDF or found.content_type in SIGNATURES.values()
    return "text/plain" if is_wrong else found.content_type or "text/plain"


def _as_it_is(found: Download, content_type: str) -> Document:
    try:
        text = decode(found.body, declared_charset=found.charset)
    except UndecodableError:
        if content_type.startswith("text/"):
            raise
        raise UnreadableError(f"it is {content_type}; {READS}") from None
    read = read_plain(text, name=_name(found.url))
    return replace(read, blocks=(Block(clean(text).strip()),))


def _name(url: str) -> str:
    parts = urlsplit(url)
    return unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc
