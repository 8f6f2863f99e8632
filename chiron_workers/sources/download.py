import asyncio
import re
import socket
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from importlib.metadata import version
from ipaddress import ip_network
from urllib.parse import urljoin

import aiohttp
import ssrfguard
from aiohttp.abc import AbstractResolver, ResolveResult

from chiron_workers.errors import ToolError

USER_AGENT = f"Chiron/{version('chiron')} (research agent)"
HEADERS = {
    "User-Agent": USER_AGENT,
    "Accept": "text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,*/*;q=0.1",
}
REDIRECTS_MAX = 5
URL_CHARS_SHOWN = 300
CHUNK_BYTES = 64 * 1024
REDIRECTS = {301, 302, 303, 307, 308}
PUBLIC = ssrfguard.Policy(allowed_ports=frozenset({80, 443, 8080, 8443}))
# Link-local addresses stay refused: clouds hand out credentials at 169.254.169.254.
PRIVATE = ssrfguard.Policy(
    allowed_ports=frozenset(range(1, 65_536)),
    allowed_networks=tuple(
        ip_network(network)
        for network in ("127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
    ),
)
# A lookup cannot be interrupted: in threads of its own, a name server that stalls stops nothing else.
LOOKUPS = ThreadPoolExecutor(16, thread_name_prefix="lookup")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a download may cost and where it may go."""

    bytes_max: int
    timeout_s: float
    private: bool = False  # also loopback and private networks, on any port


@dataclass(frozen=True, slots=True)
class Download:
    """What an address gave; `url` is where the redirects ended."""

    url: str
    content_type: str
    charset: str
    body: bytes


class Pinned(AbstractResolver):
    """Gives the connector addresses that were checked, and no other lookup comes after it."""

    def __init__(self, policy: ssrfguard.Policy) -> None:
        self.policy = policy

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The permitted addresses of a host; raises BlockedAddressError if one of them is not."""
        target = ssrfguard.Target("http", host, port, host)
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(LOOKUPS, lambda: ssrfguard.resolve(target, policy=self.policy))
        return [
            ResolveResult(
                hostname=host,
                host=str(one.ip),
                port=port,
                family=one.family,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for one in found
        ]

    async def close(self) -> None:
        """Nothing is held open."""


async def download(url: str, *, limits: Limits) -> Download:
    """What an http(s) address gives, decompressed.

    Raises:
        ToolError: The address is refused, does not answer, answers with an error, or gives too much.
    """
    shown = _shown(url)
    try:
        async with asyncio.timeout(limits.timeout_s), _client(limits) as client:
            return await _follow(client, url, limits)
    except TimeoutError:
        raise ToolError(f"{shown} did not answer in full within {limits.timeout_s:g} s.") from None
    except (ssrfguard.BlockedAddressError, ssrfguard.BlockedURLError) as error:
        raise ToolError(f"{shown} is refused: {error.reason}.") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise ToolError(f"{shown} cannot be fetched: {_reason(error)}.") from None


@asynccontextmanager
async def _client(limits: Limits) -> AsyncIterator[aiohttp.ClientSession]:
    policy = _policy(limits)

    def checked_socket(address: aiohttp.connector.AddrInfoType) -> socket.socket:
        policy.check_address(str(address[4][0]))
        return socket.socket(address[0], address[1], address[2])

    connector = aiohttp.TCPConnector(
        resolver=Pinned(policy), use_dns_cache=False, socket_factory=checked_socket, limit=2
    )
    async with aiohttp.ClientSession(
        connector=connector,
        headers=HEADERS,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
        trust_env=False,
    ) as client:
        yield client


async def _follow(client: aiohttp.ClientSession, url: str, limits: Limits) -> Download:
    at = url
    for _ in range(REDIRECTS_MAX + 1):
        _policy(limits).check_url(at)
        async with client.get(at, allow_redirects=False) as answer:
            location = answer.headers.get("Location")
            if answer.status not in REDIRECTS or not location:
                return await _body(answer, at, limits)
        at = urljoin(at, location)
    raise ToolError(f"{_shown(url)} redirects more than {REDIRECTS_MAX} times.")


async def _body(answer: aiohttp.ClientResponse, url: str, limits: Limits) -> Download:
    if answer.status != HTTPStatus.OK:
        raise ToolError(f"{_shown(url)} answered {_status(answer.status)}.")
    body = bytearray()
    async for chunk in answer.content.iter_chunked(CHUNK_BYTES):
        body += chunk
        if len(body) > limits.bytes_max:
            raise ToolError(f"{_shown(url)} is larger than {limits.bytes_max:,} bytes.")
    declared = answer.headers.get("Content-Type", "")
    return Download(url, declared.partition(";")[0].strip().lower(), _charset(declared), bytes(body))


def _shown(url: str) -> str:
    """The address as a message may show it: of bounded length, without a password."""
    return re.sub(r"(?<=//)[^/@]*@", "", url)[:URL_CHARS_SHOWN]


def _policy(limits: Limits) -> ssrfguard.Policy:
    return PRIVATE if limits.private else PUBLIC


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
