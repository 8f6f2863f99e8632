"""On whose behalf a page is drawn."""

from starlette.requests import Request

from chiron_api.http.principals import COOKIE


def owner_of(request: Request) -> str:
    """The name of whoever looks at the page; empty where the request was refused before that was known."""
    principal = getattr(request.state, "principal", None)
    return principal.owner if principal else ""


def has_session(request: Request) -> bool:
    """Whether the browser brings the cookie of a session, which may be over."""
    return bool(request.cookies.get(COOKIE))
