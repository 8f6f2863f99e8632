import asyncio
import re
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from urllib.parse import urljoin

import aiohttp
import ssrfguard

from chiron_workers.documents.file_types import looks_like_html
from chiron_workers.errors import ToolError
from chiron_workers.sources.sources import NO_VALIDATORS, Validators
from chiron_workers.web.cookies import Cookies
from chiron_workers.web.pinned_http import open_client, policy_for
from chiron_workers.web.refreshes import refresh_target

REDIRECTS_MAX = 5
DISPLAY_URL_CHARS_MAX = 300
CHUNK_BYTES = 64 * 1024
REDIRECT_STATUSES = {301, 302, 303, 307, 308}
CONTENT_ENCODINGS = ("", "identity", "gzip", "deflate")  # Those that the client accepts and decodes.
RETRY_AFTER_S_MAX = 3_600.0  # Longer requests of a host are shortened to this.
HTML = ("text/html", "application/xhtml+xml")
ETAG = re.compile(r'(W/)?"[\x21\x23-\x7e]{1,400}"')
LAST_MODIFIED = re.compile(r"[A-Za-z0-9,: +-]{10,60}")
Admit = Callable[[str], Awaitable[None]]
FindValidators = Callable[[str], Awaitable[Validators]]


class NotFetched(ToolError):
    """A download failed. `status` is that of `url`, the last address asked; None if no response came."""

    def __init__(
        self, message: str, *, url: str = "", status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.url = url
        self.status = status
        self.retry_after_s = retry_after_s


class NotModified(Exception):  # no error: the page is the same
    """A server says that a page is what it was when it gave the validators; `url` is where the redirects ended."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url


@dataclass(frozen=True, slots=True)
class DownloadLimits:
    """The limits of a download, and whether it may reach private addresses."""

    bytes_max: int  # Decompressed.
    timeout_s: float  # For all redirects together, without the time in `admit`.
    allow_private: bool = False  # Also loopback and private networks, on any port.
    truncate: bool = False  # Cut the body at bytes_max instead of raising NotFetched.
    follow_refresh: bool = False  # Once, where a page sends its reader on at once.


@dataclass(frozen=True, slots=True)
class Download:
    """The body of a response; `url` is where the redirects ended, and gave the validators."""

    url: str
    content_type: str
    charset: str
    body: bytes
    validators: Validators = NO_VALIDATORS


async def admit_all(url: str) -> None:
    """Admit every request at once."""


async def no_validators(url: str) -> Validators:
    """Ask for the page in full."""
    return NO_VALIDATORS


async def download(
    url: str,
    *,
    limits: DownloadLimits,
    admit: Admit = admit_all,
    find_validators: FindValidators = no_validators,
) -> Download:
    """Download an http(s) address, following redirects, and decompress the body.

    Cookies that a host sets are sent back to it until the download ends.

    Args:
        admit: Awaited with the address of each request before it is made; raises ToolError to forbid it.
        find_validators: Awaited likewise, for what the request is to ask by whether the page is still the same.

    Raises:
        NotModified: The page is what it was when it gave the validators that `find_validators` has of it.
        NotFetched: There is no response, an error status, or too large a body.
        ToolError: The address, or one it redirects to, is refused: it is private, or `admit` forbids it.
    """
    address = display_url(url)
    try:
        async with open_client(policy_for(allow_private=limits.allow_private)) as client:
            return await _follow_redirects(client, url, limits, admit, find_validators)
    except TimeoutError:
        raise NotFetched(f"{address} did not answer in full within {limits.timeout_s:g} s.") from None
    except (ssrfguard.BlockedAddressError, ssrfguard.BlockedURLError) as error:
        raise ToolError(f"{address} is refused: {error.reason}.") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise NotFetched(f"{address} cannot be fetched: {_cause(error)}.") from None


async def _follow_redirects(
    client: aiohttp.ClientSession,
    url: str,
    limits: DownloadLimits,
    admit: Admit,
    find_validators: FindValidators,
) -> Download:
    current_url, remaining_s, status = url, limits.timeout_s, 0
    cookies, may_refresh = Cookies(), limits.follow_refresh
    for _ in range(REDIRECTS_MAX + 1):
        policy_for(allow_private=limits.allow_private).check_url(current_url)
        await admit(current_url)
        conditions = _conditions(await find_validators(current_url))
        headers = conditions | cookies.header(current_url)
        start = time.monotonic()
        async with (
            asyncio.timeout(remaining_s),
            client.get(current_url, allow_redirects=False, headers=headers) as response,
        ):
            location, status = response.headers.get("Location"), response.status
            cookies.store(current_url, set_cookies := response.headers.getall("Set-Cookie", []))
            if conditions and status == HTTPStatus.NOT_MODIFIED:
                raise NotModified(current_url)
            if status not in REDIRECT_STATUSES or not location:
                page = await _read_body(response, current_url, limits)
                is_asked = may_refresh and _is_html(page)
                location = (
                    refresh_target(page.body, current_url, may_repeat=bool(set_cookies)) if is_asked else ""
                )
                if not location:
                    return page
                may_refresh = False
        remaining_s -= time.monotonic() - start
        current_url = urljoin(current_url, location)
    raise NotFetched(f"{display_url(url)} redirects more than {REDIRECTS_MAX} times.", status=status)


async def _read_body(response: aiohttp.ClientResponse, url: str, limits: DownloadLimits) -> Download:
    if response.status != HTTPStatus.OK:
        raise _failure(response, url)
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in CONTENT_ENCODINGS:
        raise NotFetched(f"{display_url(url)} is coded as {encoding[:40]!r}, which was not asked for.")
    body = bytearray()
    async for chunk in response.content.iter_chunked(CHUNK_BYTES):
        body += chunk
        if len(body) > limits.bytes_max:
            if limits.truncate:
                break
            raise NotFetched(f"{display_url(url)} is larger than {limits.bytes_max:,} bytes.")
    content_type_header = response.headers.get("Content-Type", "")
    content_type = content_type_header.partition(";")[0].strip().lower()
    charset = re.search(r"charset\s*=\s*[\"']?([\w:-]{1,40})", content_type_header, re.IGNORECASE)
    return Download(
        url,
        content_type,
        charset[1] if charset else "",
        bytes(body[: limits.bytes_max]),
        _validators(response),
    )


def _is_html(page: Download) -> bool:
    return page.content_type in HTML or looks_like_html(page.body)


def _conditions(validators: Validators) -> dict[str, str]:
    headers = {"If-None-Match": validators.etag, "If-Modified-Since": validators.last_modified}
    return {name: value for name, value in headers.items() if value}


def _validators(response: aiohttp.ClientResponse) -> Validators:
    etag, last_modified = (response.headers.get(name, "").strip() for name in ("ETag", "Last-Modified"))
    return Validators(
        etag if ETAG.fullmatch(etag) else "", last_modified if LAST_MODIFIED.fullmatch(last_modified) else ""
    )


def _failure(response: aiohttp.ClientResponse, url: str) -> NotFetched:
    wait_s = None
    if response.status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        wait_s = _retry_after_s(
            response.headers.get("Retry-After", ""), date=response.headers.get("Date", "")
        )
    request = f" and asks to be left alone for {wait_s:,.0f} s" if wait_s else ""
    return NotFetched(
        f"{display_url(url)} answered {_status(response.status)}{request}.",
        url=url,
        status=response.status,
        retry_after_s=wait_s,
    )


def _retry_after_s(value: str, *, date: str) -> float | None:
    if re.fullmatch(r"\d{1,9}", value.strip()):
        return min(float(value), RETRY_AFTER_S_MAX)
    until = _http_date(value)
    if until is None:
        return None
    now = _http_date(date) or datetime.now(UTC)  # the server's clock and ours may differ by hours
    return min(max((until - now).total_seconds(), 0), RETRY_AFTER_S_MAX)


def _http_date(value: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def display_url(url: str) -> str:
    """An address for messages: bounded in length, without a password."""
    return " ".join(re.sub(r"(?<=//)[^/@]*@", "", url).split())[:DISPLAY_URL_CHARS_MAX]


def _status(code: int) -> str:
    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)


def _cause(error: Exception) -> str:
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, socket.gaierror):
        return "its host name is not known"
    words = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(cause)
    return " ".join((words or type(cause).__name__).split())[:200].rstrip(".")
