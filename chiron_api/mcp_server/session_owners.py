"""Whose a session is, over HTTP: the transport compares who sends a message with who began the session."""

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.types import ASGIApp, Receive, Scope, Send

from chiron_workers.access.principals import Principal


class SessionOwners:
    """ASGI middleware behind the gate: a session answers the key that began it alone, and is unknown to all others."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Tell the transport whose request it is."""
        if scope["type"] == "http":
            scope["user"] = AuthenticatedUser(_token_of(scope["state"]["principal"]))
        await self.app(scope, receive, send)


def _token_of(principal: Principal) -> AccessToken:
    # The key itself is not passed on: the transport compares owner and id.
    key_id = str(principal.key_id or "")
    return AccessToken(token=key_id, client_id=principal.owner, subject=key_id, scopes=[*principal.scopes])
