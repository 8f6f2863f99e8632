import hashlib
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import unquote, urlsplit

from chiron_workers.documents.charset import UndecodableError, decode_listed, html_charset
from chiron_workers.documents.document import Block, Document, UnreadableError, bounded, clean, with_omissions
from chiron_workers.documents.feed import read_feed
from chiron_workers.documents.file_types import looks_like_feed, looks_like_html, looks_like_pdf
from chiron_workers.documents.html import read_html
from chiron_workers.documents.json_entries import read_json
from chiron_workers.documents.pdf import read_pdf
from chiron_workers.documents.plain import read_plain
from chiron_workers.documents.sandbox.results import result_adapter
from chiron_workers.documents.sandbox.sandbox import Limits, run_sandboxed
from chiron_workers.errors import ToolError
from chiron_workers.sources.sources import NO_VALIDATORS, Validators
from chiron_workers.web.download import (
    HTML,
    Admit,
    Download,
    DownloadLimits,
    FindValidators,
    admit_all,
    display_url,
    download,
    no_validators,
)
from chiron_workers.web.stand_ins import stand_in, text_stand_in

PDF = "application/pdf"
SUPPORTED_TYPES = "web_fetch reads HTML, PDF, feeds, JSON and plain text"
PARSE_LIMITS = Limits(timeout_s=30)  # A normal page of 5 MB takes 16 s on a busy machine.
FIRST_PAGE = b"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Tides</title>
<meta name="author" content="A. Author"><meta name="date" content="2026-01-31"></head><body><nav><a href="/a">A</a></nav>
<main><article><h1>Tides</h1><p>The sea rises and falls <a href="/twice">twice a day</a>.</p><ul><li>spring</li></ul>
<table><tr><th>Place</th><th>Height</th></tr><tr><td>Brest</td><td>7 m</td></tr></table></article></main></body></html>"""
SIGNATURES = {
    b"PK\x03\x04": "application/zip",
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"\x1f\x8b": "application/gzip",
}


@dataclass(frozen=True, slots=True)
class WebPage:
    """The document at an http(s) address; `url` is where the redirects ended, `raw_hash` the sha256 of the body in hex."""

    url: str
    content_type: str
    document: Document
    raw_hash: str
    validators: Validators = NO_VALIDATORS


async def read_page(
    url: str,
    *,
    download_limits: DownloadLimits,
    admit: Admit = admit_all,
    parse_limits: Limits = PARSE_LIMITS,
    find_validators: FindValidators = no_validators,
) -> WebPage:
    """Download an http(s) address and parse it in the sandbox.

    Raises:
        NotModified: As `download`.
        ToolError: It is refused, cannot be fetched, or holds no readable text.
    """
    response = await download(url, limits=download_limits, admit=admit, find_validators=find_validators)
    try:
        return await run_sandboxed(partial(parse_download, response), limits=parse_limits)
    except UnreadableError as error:
        raise ToolError(f"{display_url(response.url)} cannot be read: {error}.") from None


def warm_up() -> None:
    """Parse a page before processes are forked for others."""
    parsed_page = parse_download(Download("https://example.org/", "text/html", "utf-8", FIRST_PAGE))
    result_adapter(parse_download).dump_json(parsed_page)


def parse_download(response: Download) -> WebPage:
    """Parse a download. Its content decides its type; the declared type counts only where the content does not tell.

    Raises:
        UnreadableError: It holds no readable text, or stands in for the page.
    """
    content_type = _content_type(response)
    if content_type in SIGNATURES.values():
        raise UnreadableError(f"it is {content_type}; {SUPPORTED_TYPES}")
    if content_type == PDF:
        document = read_pdf(response.body, name=_name(response.url))
    elif looks_like_feed(response.body):
        text, guesses = decode_listed(
            response.body, declared_charset=response.charset or html_charset(response.body)
        )
        document = with_omissions(read_feed(clean(text), name=_name(response.url)), guesses)
    elif content_type in HTML:
        text, guesses = decode_listed(
            response.body, declared_charset=response.charset or html_charset(response.body)
        )
        document = with_omissions(read_html(text, url=response.url, name=_name(response.url)), guesses)
        if reason := stand_in(text, document):
            raise UnreadableError(reason)
    else:
        document = _read_plain_text(response, content_type)
    if not document.text.strip():
        raise UnreadableError("it holds no readable text")
    raw_hash = hashlib.sha256(response.body).hexdigest()
    return WebPage(response.url, content_type, document, raw_hash, response.validators)


def _content_type(response: Download) -> str:
    for signature, content_type in SIGNATURES.items():
        if response.body.startswith(signature):
            return content_type
    if looks_like_pdf(response.body):
        return PDF
    if looks_like_html(response.body):
        return "text/html"
    if looks_like_feed(response.body):
        return response.content_type if "xml" in response.content_type else "application/xml"
    is_wrong = response.content_type == PDF or response.content_type in SIGNATURES.values()
    return "text/plain" if is_wrong else response.content_type or "text/plain"


def _read_plain_text(response: Download, content_type: str) -> Document:
    try:
        text, guesses = decode_listed(response.body, declared_charset=response.charset)
    except UndecodableError:
        if content_type.startswith("text/"):
            raise
        raise UnreadableError(f"it is {content_type}; {SUPPORTED_TYPES}") from None
    if "json" in content_type or urlsplit(response.url).path.endswith(".json"):
        entries = read_json(text, name=_name(response.url))
        if entries is not None and entries.blocks:
            return with_omissions(entries, guesses)
    if reason := text_stand_in(text):
        raise UnreadableError(reason)
    document = read_plain(text, name=_name(response.url))
    document = replace(document, blocks=tuple(bounded([Block(clean(text).strip())])))
    return with_omissions(document, guesses)


def _name(url: str) -> str:
    parts = urlsplit(url)
    return unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc
