"""What a browser is shown that has no session, or gets one."""

import html
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import HTMLResponse

HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
}
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
{refresh}<title>Chiron</title>
</head>
<body>
<main>
<h1>Chiron</h1>
<p>{sentence}</p>
</main>
</body>
</html>
"""


def wants_page(request: Request) -> bool:
    """Whether a person looks at the answer, rather than a program."""
    return not request.url.path.startswith("/v1/") and "text/html" in request.headers.get("accept", "")


def sign_in_response(sentence: str, status: HTTPStatus = HTTPStatus.UNAUTHORIZED) -> HTMLResponse:
    """A page that says how to sign in."""
    return HTMLResponse(PAGE.format(refresh="", sentence=html.escape(sentence)), status.value, HEADERS)


def forwarding_response() -> HTMLResponse:
    """A page that leads on to the start page.

    A redirect would not do: after a click in another site's page, say a terminal in the browser, it counts as that
    site's request, and a browser sends no strict cookie with it. What a page of our own leads to is our own request.
    """
    refresh = '<meta http-equiv="refresh" content="0; url=/">\n'
    sentence = 'You are signed in. <a href="/">Go on to the start page.</a>'
    return HTMLResponse(PAGE.format(refresh=refresh, sentence=sentence), headers=HEADERS)
