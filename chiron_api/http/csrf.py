"""Requests that a page of another site provokes: a browser adds the session cookie, but not the token of its forms."""

import hashlib
import hmac
import secrets
from http import HTTPStatus

from starlette.requests import Request

from chiron_api.http.problems import Problem

CSRF_HEADER = "X-Chiron-CSRF"
CSRF_FIELD = "token"
LABEL = b"csrf token"


def token_for(secret: bytes) -> str:
    """The token that belongs to a session, or to all pages of a server without a key."""
    return hmac.new(secret, LABEL, hashlib.sha256).hexdigest()


def csrf_token(request: Request) -> str:
    """What the forms of a page hold as `token`; empty where a program sends its key, and needs none."""
    token: str = getattr(request.state, "csrf_token", "")
    return token


def has_token(request: Request, token: str) -> bool:
    """Whether a token is that of the request's session."""
    own_token = csrf_token(request)
    return not own_token or secrets.compare_digest(token.encode(), own_token.encode())


def require_csrf(request: Request, token: str = "") -> None:
    """Raise Problem 403 unless the token, of a form or of the header X-Chiron-CSRF, is that of the session."""
    if not has_token(request, token or request.headers.get(CSRF_HEADER, "")):
        raise Problem(
            HTTPStatus.FORBIDDEN,
            "This form is of another session. Go back, load the page again, and send it again.",
        )
