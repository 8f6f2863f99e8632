"""The headers of a request, as the SDK of the installed version sends them; a test holds the two equal."""

import os
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Self

from multidict import CIMultiDict
from yarl import URL

from chiron_workers.model.faults import Unsendable

API_VERSION = "2026-10-21"
SYSTEMS = {"linux": "Linux", "darwin": "MacOS", "windows": "Windows", "freebsd": "FreeBSD"}
HELPERS = "x-stainless-helper"  # the one header in which the SDK names each value once
MACHINES = {"x86_64": "x64", "arm64": "arm64", "aarch64": "arm64", "arm": "arm"}


@dataclass(frozen=True, slots=True)
class Credentials:
    """A key, or a token in its place."""

    secret: str = field(repr=False)

    @classmethod
    def of_environment(cls) -> Self | None:
        """What ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN hold; None if both are empty."""
        secret = os.environ.get("ANTHROPIC_API_KEY") or os.environ.get("ANTHROPIC_AUTH_TOKEN")
        return cls(secret) if secret else None


def request_headers(
    url: URL, credentials: Credentials, *, timeout: str, read_timeout_s: float
) -> CIMultiDict[str]:
    """The headers of all requests to a server, but for `content-length`.

    Args:
        timeout: What the SDK says of the request's own time limit.

    Raises:
        Unsendable: One of them holds what does not belong there.
    """
    custom = custom_headers(os.environ.get("ANTHROPIC_CUSTOM_HEADERS", ""))
    headers = CIMultiDict[str](
        {
            "host": host_header(url),
            "accept-encoding": ", ".join(encodings()),
            "connection": "keep-alive",
            "x-stainless-timeout": timeout,
            "x-stainless-retry-count": "0",
            "x-stainless-read-timeout": str(read_timeout_s),
            "accept": "application/json",
            "content-type": "application/json",
            **sdk_headers(),
            "authorization": f"Bearer {credentials.secret}",
            "x-stainless-async": "async:asyncio",
            "anthropic-version": API_VERSION,
        }
    )
    for name, value in custom.items():
        headers[name] = value
    for name, value in headers.items():
        _check(name, value)
    return headers


def custom_headers(lines: str) -> Mapping[str, str]:
    """The headers of a text that has one a line: `name: value`. The last of a name counts."""
    headers: dict[str, str] = {}
    for line in lines.split("\n"):
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    if helpers := headers.get(HELPERS):
        headers[HELPERS] = ", ".join(dict.fromkeys(filter(None, map(str.strip, helpers.split(",")))))
    return headers


def host_header(url: URL) -> str:
    """The host, with the port where it is another than the scheme's."""
    host = url.host_subcomponent or ""
    return host if url.is_default_port() else f"{host}:{url.port}"


@cache
def encodings() -> tuple[str, ...]:
    """The content encodings that can be decoded here; aiohttp and the SDK look for the same packages."""
    has_brotli = find_spec("brotli") or find_spec("brotlicffi")
    has_zstd = sys.version_info >= (3, 14) or (find_spec("backports") and find_spec("backports.zstd"))
    return ("gzip", "deflate", *(["br"] if has_brotli else []), *(["zstd"] if has_zstd else []))


@cache
def sdk_headers() -> Mapping[str, str]:
    """What the SDK says of itself and of this machine."""
    sdk_version, system, machine = version("anthropic"), platform.system().lower(), platform.machine().lower()
    return {
        "user-agent": f"AsyncAnthropic/Python {sdk_version}",
        "x-stainless-lang": "python",
        "x-stainless-package-version": sdk_version,
        "x-stainless-os": SYSTEMS.get(system) or (f"Other:{system}" if system else "Unknown"),
        "x-stainless-arch": MACHINES.get(machine) or (f"other:{machine}" if machine else "unknown"),
        "x-stainless-runtime": platform.python_implementation(),
        "x-stainless-runtime-version": platform.python_version(),
    }


def _check(name: str, value: str) -> None:
    try:
        f"{name}{value}".encode()
    except UnicodeEncodeError:
        raise Unsendable(f"The header {name!r} is no text.") from None
    if not name or any(char in name + value for char in "\r\n\0"):
        raise Unsendable(f"The header {name!r} holds a line break.")
