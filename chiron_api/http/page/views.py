"""Views: routes whose errors are pages."""

from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg_pool import PoolTimeout
from redis.exceptions import RedisError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chiron_api.acts.act import Act
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.access import has_session
from chiron_api.http.page.addresses import path_id
from chiron_api.http.page.forms import read_form
from chiron_api.http.page.rendering import page, see_other
from chiron_api.http.problems import Problem, lost_service_problem, problem_of
from chiron_workers.errors import ChironError
from chiron_workers.problems import described

WHAT_HELPS = (
    "What is stored stays, and runs continue by themselves once it is back. An administrator of the machine can check "
    "what is wrong there, and start what is not running."
)
Handler = Callable[[Request], Awaitable[Response]]


def view(path: str, handler: Handler, *, methods: Sequence[str] = ("GET",)) -> Route:
    """A route of the page; it is no part of the API and of its description."""
    return Route(path, _with_error_pages(handler), methods=list(methods), include_in_schema=False)


def act_view(path: str, word: str, act: Act[..., Any]) -> Route:
    """The route of a button in the list at `path`: it does an act to an id, and leads back to its row."""

    async def answer(request: Request) -> Response:
        id_ = path_id(request)
        await read_form(request)
        await act(services_of(request), id_)
        return see_other(f"{path}#{id_}")

    return view(f"{path}/{{id}}/{word}", answer, methods=["POST"])


def _with_error_pages(handler: Handler) -> Handler:
    @wraps(handler)
    async def answer(request: Request) -> Response:
        try:
            await _note_health(request)
            return await handler(request)
        except Problem as error:
            problem = error
        except ChironError as error:
            problem = problem_of(error)
        except (psycopg.OperationalError, PoolTimeout, RedisError) as error:
            problem = lost_service_problem(request, error)
            problem.detail = f"{problem.detail} {WHAT_HELPS}"
        return error_page(request, problem)

    return answer


async def _note_health(request: Request) -> None:
    """Read the health line for the frame of the page; only signed-in readers see it."""
    if hasattr(request.state, "principal"):
        request.state.health = await services_of(request).fleet()


def error_page(request: Request, problem: Problem) -> Response:
    """A page that says what happened and what to do; to whoever is not signed in, how to do that.

    It has the headers that the problem would have as a document, such as Retry-After.
    """
    if problem.status is HTTPStatus.UNAUTHORIZED:
        has_reason = has_session(request) or request.url.path == "/open"
        response = sign_in_page(request, problem.detail if has_reason else "")
    else:
        values = {"title": problem.status.phrase, "detail": problem.detail, "back": _previous_path(request)}
        helps = described(problem.remedies)
        response = page(request, "layout/error.html", status=problem.status, **values, **helps)
    response.headers.update(problem.headers)
    return response


def _previous_path(request: Request) -> str:
    """The page of ours that led here; empty where none did."""
    address = urlsplit(request.headers.get("referer", ""))
    is_ours = address.netloc == request.headers.get("host") and address.path.startswith("/")
    return address.path if is_ours and not address.path.startswith("//") else ""


def sign_in_page(request: Request, detail: str, *, status: HTTPStatus = HTTPStatus.UNAUTHORIZED) -> Response:
    """The form that signs a browser in; `detail` says what is wrong with a link, a key or a session."""
    return page(request, "session/sign_in.html", status=status, detail=detail)
