"""Views: routes whose errors are pages."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from http import HTTPStatus

import psycopg
from psycopg_pool import PoolTimeout
from redis.exceptions import RedisError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chiron_api.http.page.access import has_session
from chiron_api.http.page.rendering import page
from chiron_api.http.problems import STATUS_OF_ERROR, Problem
from chiron_workers.errors import ChironError

LOG = logging.getLogger(__name__)
Handler = Callable[[Request], Awaitable[Response]]


def view(path: str, handler: Handler, *, methods: Sequence[str] = ("GET",)) -> Route:
    """A route of the page; it is no part of the API and of its description."""
    return Route(path, _with_error_pages(handler), methods=list(methods), include_in_schema=False)


def _with_error_pages(handler: Handler) -> Handler:
    @wraps(handler)
    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except Problem as problem:
            return error_page(request, problem.status, problem.detail)
        except ChironError as error:
            status = next((code for kind, code in STATUS_OF_ERROR if isinstance(error, kind)), None)
            return error_page(request, status or HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
        except (psycopg.OperationalError, PoolTimeout, RedisError) as error:
            LOG.warning("%s %s: %s", request.method, request.url.path, " ".join(str(error).split()))
            detail = "The database or Redis cannot be reached now. Nothing is lost; try again in a moment."
            return error_page(request, HTTPStatus.SERVICE_UNAVAILABLE, detail)

    return answer


def error_page(request: Request, status: HTTPStatus, detail: str) -> Response:
    """A page that says what happened and what to do; to whoever is not signed in, how to do that."""
    if status is HTTPStatus.UNAUTHORIZED:
        return sign_in_page(request, detail if has_session(request) or request.url.path == "/open" else "")
    return page(request, "layout/error.html", status=status, title=status.phrase, detail=detail)


def sign_in_page(request: Request, detail: str, *, status: HTTPStatus = HTTPStatus.UNAUTHORIZED) -> Response:
    """The form that signs a browser in; `detail` says what is wrong with a link, a key or a session."""
    return page(request, "session/sign_in.html", status=status, detail=detail)
