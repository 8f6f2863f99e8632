"""On whose behalf a page is drawn, and the token that its forms carry."""

from starlette.requests import Request

from chiron_api.http.csrf import csrf_token
from chiron_api.http.principals import COOKIE
from chiron_workers.access.principals import Principal


def owner_of(request: Request) -> str:
    """The name of whoever looks at the page."""
    principal = getattr(request.state, "principal", None)
    return principal.owner if principal else ""


def visible_owner(request: Request) -> str | None:
    """Whose batches, runs and subscriptions whoever looks at the page sees; None: those of all."""
    principal: Principal = request.state.principal
    return principal.visible_owner


def form_token(request: Request) -> str:
    """The token of the forms of this session; empty where a program sends its key."""
    return csrf_token(request)


def has_session(request: Request) -> bool:
    """Whether the browser brings the cookie of a session, which may be over."""
    return bool(request.cookies.get(COOKIE))
