"""What carries a model call: our own requests over aiohttp, or the SDK where something is to be said that only it can say."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import structlog

from chiron_workers.model.transport.direct import DirectTransport
from chiron_workers.model.transport.headers import Credentials
from chiron_workers.model.transport.proxies import proxy_of
from chiron_workers.model.transport.urls import is_plain
from chiron_workers.settings import Settings

log = structlog.get_logger()

DEFAULT_URL = "https://api.anthropic.com"


class Answer(Protocol):
    """A response with status 200, whose body is read as it comes."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Its headers; names are found in whatever case."""

    async def read(self) -> bytes:
        """The next bytes of the body, decoded, as many as are there; none at its end."""

    async def close(self) -> None:
        """Give the connection back, or cut it off if the body has not ended."""


class Transport(Protocol):
    """Carries requests to one server. What it raises is among `failures.CALL_FAULTS`, or is RunFailed."""

    @property
    def base_url(self) -> str:
        """Where the server is."""

    async def post(self, path: str, body: Sequence[bytes]) -> Answer:
        """Send a request, its body in parts, that is answered by a stream. Raises StatusError for a refusal."""

    async def get(self, path: str, *, timeout_s: float) -> Any:
        """The JSON at a path. Raises StatusError for a refusal, ValueError for what is no JSON."""

    async def close(self) -> None:
        """Close the connections."""


def open_transport(settings: Settings, *, base_url: str | None, api_key: str | None) -> Transport:
    """The transport that `settings` asks for, or the SDK where ours does not do; that is logged.

    Args:
        base_url: None leaves it to ANTHROPIC_BASE_URL.
        api_key: None leaves it to ANTHROPIC_API_KEY and the other variables of the SDK.
    """
    url = base_url if base_url is not None else os.environ.get("ANTHROPIC_BASE_URL", DEFAULT_URL)
    credentials = Credentials(api_key) if api_key else Credentials.of_environment()
    if settings.transport == "aiohttp":
        if credentials is not None and (reason := _obstacle(url)) is None:
            return DirectTransport(settings, url, credentials)
        reason = "there is no key in the environment" if credentials is None else reason
        log.info("model.transport_is_sdk", reason=reason)
    # Here and nowhere else: the SDK takes half a second and 40 MB, and few workers need it.
    from chiron_workers.model.transport.sdk import SdkTransport

    return SdkTransport(settings, base_url=base_url, api_key=api_key)


def _obstacle(url: str) -> str | None:
    """Why our own transport cannot reach an address; None if it can."""
    if not is_plain(url):
        return "the address of the model's server is none that is plain HTTP"
    proxy = proxy_of(url)
    if proxy is not None and not is_plain(proxy, with_password=True):
        return "the proxy is none that speaks plain HTTP"
    return None
