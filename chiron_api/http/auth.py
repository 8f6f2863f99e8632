"""Access: with an API key whoever sends it, without one only programs of this machine."""

import secrets
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from chiron_api.http.problems import Problem
from chiron_api.local_stack.ports import is_loopback
from chiron_workers.errors import ConfigurationError
from chiron_workers.settings import Settings

OPEN_PATHS = frozenset({"/healthz", "/readyz"})


def refuse_open_access(settings: Settings) -> None:
    """Raise ConfigurationError if the API would listen beyond this machine without a key."""
    if not settings.api_key.get_secret_value() and not is_loopback(settings.api_host):
        raise ConfigurationError(
            f"CHIRON_API_HOST={settings.api_host} is reachable from other machines, so the API needs a key: "
            "set CHIRON_API_KEY, or listen on 127.0.0.1."
        )


class Authentication:
    """ASGI middleware that checks each request before its route."""

    def __init__(self, app: ASGIApp, *, key: str) -> None:
        self.app = app
        self.key = key.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401, 403 or 421, or pass the request on."""
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        await (refusal.response() if refusal else self.app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Problem | None:
        headers = Headers(scope=scope)
        if not self.key:
            return _refuse_other_sites(headers)
        if scope["path"] in OPEN_PATHS or self._has_key(headers):
            return None
        return Problem(
            HTTPStatus.UNAUTHORIZED,
            "Send the key of this server as `Authorization: Bearer KEY`.",
            headers={"WWW-Authenticate": "Bearer"},
        )

    def _has_key(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and secrets.compare_digest(token.strip().encode(), self.key)


def _refuse_other_sites(headers: Headers) -> Problem | None:
    # Any web page can make a browser send here: by a name of its own (DNS rebinding) or across origins.
    if not _names_this_machine("//" + headers.get("host", "")):
        return Problem(
            HTTPStatus.MISDIRECTED_REQUEST,
            "Without CHIRON_API_KEY this server answers to localhost, 127.0.0.1 and [::1] only.",
        )
    origin = headers.get("origin")
    if origin is not None and not _names_this_machine(origin):
        return Problem(HTTPStatus.FORBIDDEN, "Pages of other origins need CHIRON_API_KEY.")
    return None


def _names_this_machine(url: str) -> bool:
    try:
        return is_loopback(urlsplit(url).hostname or "")
    except ValueError:
        return False
