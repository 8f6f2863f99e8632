"""Access: with an API key whoever sends it; where none is asked for, only programs of this machine."""

import secrets
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from chiron_api.http.origins import refusal_status
from chiron_api.http.problems import Problem

OPEN_PATHS = frozenset({"/healthz", "/readyz"})


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
            return _refuse_other_sites(headers, scope["scheme"])
        if scope["path"] in OPEN_PATHS or self._has_key(headers):
            return None
        return Problem(
            HTTPStatus.UNAUTHORIZED,
            "Send the key of this server as `Authorization: Bearer KEY`; `chiron key` prints it to its owner.",
            headers={"WWW-Authenticate": "Bearer"},
        )

    def _has_key(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and secrets.compare_digest(token.strip().encode(), self.key)


def _refuse_other_sites(headers: Headers, scheme: str) -> Problem | None:
    hosts, origins = headers.getlist("host"), headers.getlist("origin")
    match refusal_status(hosts, origins, scheme=scheme):
        case HTTPStatus.MISDIRECTED_REQUEST as status:
            return Problem(
                status, "Without a key this server answers to localhost, 127.0.0.1 and [::1] only."
            )
        case HTTPStatus.FORBIDDEN as status:
            return Problem(status, "Pages of other origins cannot use this server without a key.")
    return None
