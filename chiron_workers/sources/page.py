import asyncio
import re
from dataclasses import dataclass, replace
from urllib.parse import unquote, urlsplit

from chiron_workers.errors import ToolError
from chiron_workers.sources.charset import UndecodableError, declared_in_html, decode
from chiron_workers.sources.document import Block, Document, clean
from chiron_workers.sources.download import Download, Limits, download
from chiron_workers.sources.html import read_html
from chiron_workers.sources.plain import read_plain

SNIFFED_BYTES = 1024
HTML = ("text/html", "application/xhtml+xml")
TEXT = ("text/plain", "text/markdown", "text/x-markdown", "text/x-rst")
GENERIC = ("", "application/octet-stream", "binary/octet-stream")
LOOKS_LIKE_HTML = re.compile(
    rb"\s*(<\?xml[^>]*>\s*)?(<!--.{0,500}?-->\s*)*<(!doctype html|html|head|body)\b", re.I | re.S
)
SIGNATURES = {
    b"%PDF-": "application/pdf",
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


async def read_page(url: str, *, limits: Limits) -> WebPage:
    """Fetch an http(s) address and read its main text.

    Raises:
        ToolError: It is refused, cannot be fetched, or holds no text that can be read.
    """
    found = await download(url, limits=limits)
    return await asyncio.to_thread(_read, found)


def _read(found: Download) -> WebPage:
    content_type = _content_type(found)
    if content_type not in (*HTML, *TEXT):
        raise ToolError(
            f"{found.url} is {content_type}, which is not supported; web_fetch reads HTML, plain text and Markdown."
        )
    is_html = content_type in HTML
    try:
        text = decode(found.body, declared=found.charset or (declared_in_html(found.body) if is_html else ""))
        document = (
            read_html(text, url=found.url, name=_name(found.url)) if is_html else _as_it_is(text, found.url)
        )
    except UndecodableError as error:
        raise ToolError(f"{found.url} cannot be read: {error}.") from None
    except (ValueError, RecursionError) as error:  # what the parsers raise for what they cannot follow
        raise ToolError(f"{found.url} cannot be parsed ({type(error).__name__}).") from None
    if not document.text.strip():
        raise ToolError(f"{found.url} holds no readable text.")
    return WebPage(found.url, content_type, document)


def _content_type(found: Download) -> str:
    """What the body shows it is; where it shows nothing, what the server said it is."""
    for signature, content_type in SIGNATURES.items():
        if found.body.startswith(signature):
            return content_type
    if LOOKS_LIKE_HTML.match(found.body[:SNIFFED_BYTES]):
        return "text/html"
    return "text/plain" if found.content_type in GENERIC else found.content_type


def _as_it_is(text: str, url: str) -> Document:
    read = read_plain(text, name=_name(url))
    return replace(read, blocks=(Block(clean(text).strip()),))


def _name(url: str) -> str:
    parts = urlsplit(url)
    return unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc
