"""Templates to answers: the one environment, the headers under which a page works, and what every page is handed."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import sha256
from http import HTTPStatus
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from chiron_api.http.csrf import csrf_token
from chiron_api.http.page import filters
from chiron_api.http.page.access import has_session, owner_of
from chiron_api.text import CONTROLS

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
PIECE_CHARS = 65_536  # that a call of C escapes
SIGN_IN_PATH = "/open"
THEMES = ("light", "dark")
ASSETS = files(__package__) / "assets"


@cache
def environment() -> Environment:
    """The environment of all templates: everything is escaped, and a name that nobody gave is an error."""
    templates = Environment(
        loader=PackageLoader("chiron_api.http.page", "."),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= filters.FILTERS
    templates.globals |= {"asset": asset_path, "now": partial(datetime.now, UTC)}
    return templates


def escaped(text: str) -> Markup:
    """A text of any length as a template writes it, for a thread: in pieces, so that others get their turn."""
    pieces = (text[start : start + PIECE_CHARS] for start in range(0, len(text), PIECE_CHARS))
    return Markup("").join(escape(CONTROLS.sub("", piece)) for piece in pieces)


def _harmless(value: object) -> object:
    """Words of strangers without marks that turn the direction of writing and other controls."""
    return CONTROLS.sub("", value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def render(request: Request, template: str, values: Mapping[str, Any]) -> str:
    """A template as HTML, with what every page is handed: theme, owner, health, and the token of its forms."""
    theme, form_token = request.cookies.get("theme"), csrf_token(request)
    frame = {
        "theme": theme if theme in THEMES else "",
        "owner": owner_of(request),
        "form_token": form_token,
        "can_sign_out": has_session(request) and bool(form_token),
        "section": "",
        "health": getattr(request.state, "health", None),
    }
    return environment().get_template(template).render(frame | dict(values))


def page(
    request: Request, template: str, *, status: HTTPStatus = HTTPStatus.OK, **values: Any
) -> HTMLResponse:
    """A whole page, or a part of one, as an answer."""
    headers = HEADERS
    # The address may hold a code. `no-referrer` would hide the Origin of the form too, which is checked.
    if request.url.path == SIGN_IN_PATH:
        headers = HEADERS | {"Referrer-Policy": "strict-origin"}
    return HTMLResponse(render(request, template, values), status.value, headers=headers)


@cache
def asset_path(name: str) -> str:
    """The address of an asset; it changes with the content, so that browsers keep the file for ever."""
    return f"/assets/{sha256(ASSETS.joinpath(name).read_bytes()).hexdigest()[:12]}/{name}"


def is_panel(request: Request) -> bool:
    """Whether the script asks for the content of a panel, not for a whole page."""
    return request.headers.get("x-part") == "panel"


def see_other(path: str) -> Response:
    """Where a form that was posted leads."""
    return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": path})
