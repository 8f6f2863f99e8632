"""Signing in, with the link that `chiron open` makes or with a key, and signing out."""

import secrets
from http import HTTPStatus
from uuid import UUID

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from chiron_api.http.dependencies import services_of
from chiron_api.http.guesses import Guesses, address_of, sentence
from chiron_api.http.origins import refusal_status
from chiron_api.http.page.forms import read_form
from chiron_api.http.page.rendering import HEADERS, page, see_other
from chiron_api.http.page.views import sign_in_page, view
from chiron_api.http.principals import COOKIE
from chiron_api.http.problems import Problem
from chiron_api.local_stack.access import api_key
from chiron_workers.access.keys import find_key
from chiron_workers.access.sessions import close_session, create_code, trade_code
from chiron_workers.errors import Unauthenticated

SIGN_IN_BYTES_MAX = 4_096  # of whoever is not known yet

# A redirect would not do: after a click in another site's page, say a terminal in the browser, it counts as that site's
# request, and a browser sends no strict cookie with it. What a page of our own leads to is our own request.
FORWARDING = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=/">
<title>Signed in - Chiron</title>
<link rel="icon" href="data:,">
</head>
<body><p>You are signed in. <a href="/">Go on to the start page.</a></p></body>
</html>
"""


async def open_session(request: Request) -> Response:
    """Sign a browser in with the code of a link, once, and lead it on to the start page; without a code show the form.

    HEAD does so too: what has sent the code has it, and it may stand in the log of a proxy from then on.
    """
    code = request.query_params.get("code", "")
    if not code:
        return sign_in_page(request, "", status=HTTPStatus.OK)
    token = await trade_code(services_of(request).pool, code)
    response = HTMLResponse(FORWARDING, headers=HEADERS | {"Referrer-Policy": "no-referrer"})
    return _signed_in(request, response, token)


async def open_session_with_key(request: Request) -> Response:
    """Sign a browser in with a key. A wrong one is said in the form; after ten in a minute an address has to wait."""
    _refuse_strange_form(request)
    pool, address = services_of(request).pool, address_of(request.scope)
    guesses: Guesses = request.state.guesses
    if wait_s := guesses.wait_s(address):
        response = sign_in_page(request, sentence(wait_s), status=HTTPStatus.TOO_MANY_REQUESTS)
        response.headers["Retry-After"] = str(wait_s)
        return response
    key = (await read_form(request, bytes_max=SIGN_IN_BYTES_MAX)).get("key", "").strip()
    try:
        key_id = await _key_id(request, key)
    except Unauthenticated as error:
        guesses.add(address, key)
        return sign_in_page(request, str(error))
    token = await trade_code(pool, await create_code(pool, key_id=key_id))
    return _signed_in(request, see_other("/"), token)


def _refuse_strange_form(request: Request) -> None:
    """Refuse a form of another site: it would sign the browser in as somebody else."""
    hosts, origins = request.headers.getlist("host"), request.headers.getlist("origin")
    if status := refusal_status(hosts, origins, scheme=request.url.scheme, has_any_name=True):
        raise Problem(status, "Sign in with the form of this server.")


async def _key_id(request: Request, key: str) -> UUID | None:
    """The id of a key; None for that of this machine's user. Raises Unauthenticated."""
    services = services_of(request)
    local_key = api_key(services.settings)
    if not local_key or secrets.compare_digest(key.encode(), local_key.encode()):
        return None  # without a local key everybody who gets here is the local user
    return (await find_key(services.pool, key)).id


def _signed_in(request: Request, response: Response, token: str) -> Response:
    is_secure = request.url.scheme == "https"
    response.set_cookie(COOKIE, token, path="/", httponly=True, samesite="strict", secure=is_secure)
    return response


async def end_session(request: Request) -> Response:
    """Sign the browser out."""
    await read_form(request)
    await close_session(services_of(request).pool, request.cookies.get(COOKIE, ""))
    detail = "This browser is signed out. To sign in again, open the page with a new link or with a key."
    response = page(request, "layout/error.html", title="Signed out", detail=detail)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return response


routes = [
    view("/open", open_session),
    view("/open", open_session_with_key, methods=["POST"]),
    view("/close", end_session, methods=["POST"]),
]
