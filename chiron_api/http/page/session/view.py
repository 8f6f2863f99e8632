"""Signing in with the link that `chiron open` makes, and signing out."""

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from chiron_api.http.dependencies import services_of
from chiron_api.http.page.forms import read_form
from chiron_api.http.page.rendering import HEADERS, page
from chiron_api.http.page.views import view
from chiron_api.http.principals import COOKIE
from chiron_workers.access.sessions import close_session, trade_code

# A redirect would not do: after a click in another site's page, say a terminal in the browser, it counts as that site's
# request, and a browser sends no strict cookie with it. What a page of our own leads to is our own request.
FORWARDING = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=/">
<title>Signed in - Chiron</title>
</head>
<body><p>You are signed in. <a href="/">Go on to the start page.</a></p></body>
</html>
"""


async def open_session(request: Request) -> Response:
    """Sign a browser in with the code of a link, once, and lead it on to the start page."""
    token = await trade_code(services_of(request).pool, request.query_params.get("code", ""))
    response = HTMLResponse(FORWARDING, headers=HEADERS | {"Referrer-Policy": "no-referrer"})
    response.set_cookie(
        COOKIE, token, path="/", httponly=True, samesite="strict", secure=request.url.scheme == "https"
    )
    return response


async def end_session(request: Request) -> Response:
    """Sign the browser out."""
    await read_form(request)
    await close_session(services_of(request).pool, request.cookies.get(COOKIE, ""))
    sentence = "This browser is signed out. `chiron open` signs it in again."
    response = page(request, "layout/error.html", title="Signed out", detail=sentence)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return response


routes = [view("/open", open_session), view("/close", end_session, methods=["POST"])]
