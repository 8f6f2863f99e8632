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

from chiron_workers.errors import ToolError
from chiron_workers.web.pinned_http import open_client, policy_for

REDIRECTS_MAX = 5
URL_CHARS_SHOWN = 300
CHUNK_BYTES = 64 * 1024
REDIRECTS = {301, 302, 303, 307, 308}
CODINGS = ("", "identity", "gzip", "deflate")  # what the client asks for and decodes
WAIT_S_MAX = 3_600.0  # of what a host may ask for
Admit = Callable[[str], Awaitable[None]]


class NotFetched(ToolError):
    """An address did not give what was asked for. `status` is None where no answer came, else that of `url`."""

    def __init__(
        self, message: str, *, url: str = "", status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.url = url
        self.status = status
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class DownloadLimits:
    """What a download may cost and where it may go."""

    bytes_max: int  # decompressed
    timeout_s: float  # for all requests together; what `admit` waits is not counted
    allow_private: bool = False  # also loopback and private networks, on any port
    truncate: bool = False  # what is beyond bytes_max is left out, rather than refused


@dataclass(frozen=True, slots=True)
class Download:
    """What an address gave; `url` is where the redirects ended."""

    url: str
    content_type: str
    charset: str
    body: bytes


async def admit_all(url: str) -> None:
    """Lets every request go at once."""


async def download(url: str, *, limits: DownloadLimits, admit: Admit = admit_all) -> Download:
    """What an http(s) address gives, decompressed.

    Args:
        admit: Awaited before each request with its address; raises ToolError if it must not be made.

    Raises:
        NotFetched: It does not answer, answers with an error, or gives too much.
        ToolError: The address is refused.
    """
    shown = shown_url(url)
    try:
        async with open_client(policy_for(allow_private=limits.allow_private)) as client:
            return await _follow(client, url, limits, admit)
    except TimeoutError:
        raise NotFetched(f"{shown} did not answer in full within {limits.timeout_s:g} s.") from None
    except (ssrfguard.BlockedAddressError, ssrfguard.BlockedURLError) as error:
        raise ToolError(f"{shown} is refused: {error.reason}.") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise NotFetched(f"{shown} cannot be fetched: {_reason(error)}.") from None


async def _follow(client: aiohttp.ClientSession, url: str, limits: DownloadLimits, admit: Admit) -> Download:
    at, left_s, status = url, limits.timeout_s, 0
    for _ in range(REDIRECTS_MAX + 1):
        policy_for(allow_private=limits.allow_private).check_url(at)
        await admit(at)
        began = time.monotonic()
        async with asyncio.timeout(left_s), client.get(at, allow_redirects=False) as answer:
            location, status = answer.headers.get("Location"), answer.status
            if status not in REDIRECTS or not location:
                return await _body(answer, at, limits)
        left_s -= time.monotonic() - began
        at = urljoin(at, location)
    raise NotFetched(f"{shown_url(url)} redirects more than {REDIRECTS_MAX} times.", status=status)


async def _body(answer: aiohttp.ClientResponse, url: str, limits: DownloadLimits) -> Download:
    if answer.status != HTTPStatus.OK:
        raise _failure(answer, url)
    coding = answer.headers.get("Content-Encoding", "").strip().lower()
    if coding not in CODINGS:
        raise NotFetched(f"{shown_url(url)} is coded as {coding[:40]!r}, which was not asked for.")
    body = bytearray()
    async for chunk in answer.content.iter_chunked(CHUNK_BYTES):
        body += chunk
        if len(body) > limits.bytes_max:
            if limits.truncate:
                break
            raise NotFetched(f"{shown_url(url)} is larger than {limits.bytes_max:,} bytes.")
    declared = answer.headers.get("Content-Type", "")
    content_type = declared.partition(";")[0].strip().lower()
    return Download(url, content_type, _charset(declared), bytes(body[: limits.bytes_max]))


def _failure(answer: aiohttp.ClientResponse, url: str) -> NotFetched:
    wait_s = None
    if answer.status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        wait_s = _retry_after_s(answer.headers.get("Retry-After", ""))
    rest = f" and asks to be left alone for {wait_s:,.0f} s" if wait_s else ""
    return NotFetched(
        f"{shown_url(url)} answered {_status(answer.status)}{rest}.",
        url=url,
        status=answer.status,
        retry_after_s=wait_s,
    )


def _retry_after_s(value: str) -> float | None:
    if re.fullmatch(r"\d{1,9}", value.strip()):
        return min(float(value), WAIT_S_MAX)
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return min(max((until - datetime.now(UTC)).total_seconds(), 0), WAIT_S_MAX)


def shown_url(url: str) -> str:
    """The address as a message may show it: of bounded length, without a password."""
    return " ".join(re.sub(r"(?<=//)[^/@]*@", "", url).split())[:URL_CHARS_SHOWN]


def _charset(content_type: str) -> str:
    found = re.search(r"charset\s*=\s*[\"']?([\w:-]{1,40})", content_type, re.IGNORECASE)
    return found[1] if found else ""


def _status(code: int) -> str:
    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)


def _reason(error: Exception) -> str:
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, socket.gaierror):
        return "its host name is not known"
    words = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(cause)
    return " ".join((words or type(cause).__name__).split())[:200].rstrip(".")
