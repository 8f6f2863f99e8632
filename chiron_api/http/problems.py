"""Errors as RFC 9457 problem documents: what went wrong, in a sentence, and which field it was."""

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, cast

import psycopg
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Match

from chiron_api.acts.remedies import request_of
from chiron_workers.errors import (
    ChironError,
    Conflict,
    KeyBudgetSpent,
    KeyReused,
    NotFound,
    RateExceeded,
    ScopeExceeded,
    ServiceUnavailable,
    ToolError,
    ToolNotFoundError,
    ToolValidationError,
    Unauthenticated,
    UsageError,
)
from chiron_workers.problems import Remedy

LOG = logging.getLogger(__name__)
FIELDS_MAX = 100  # that are named in one answer
NO_ID = "{text!r} is not an id. An address holds a whole one, as lists give it; only commands take names, beginnings and `last`."
NAME_CHARS_MAX = 200  # of a field, which may be a stranger's

STATUS_OF_ERROR: tuple[tuple[type[ChironError], HTTPStatus], ...] = (
    (NotFound, HTTPStatus.NOT_FOUND),
    (ToolNotFoundError, HTTPStatus.NOT_FOUND),
    (KeyReused, HTTPStatus.UNPROCESSABLE_ENTITY),
    (Conflict, HTTPStatus.CONFLICT),
    (ServiceUnavailable, HTTPStatus.SERVICE_UNAVAILABLE),
    (Unauthenticated, HTTPStatus.UNAUTHORIZED),
    (ScopeExceeded, HTTPStatus.FORBIDDEN),
    (RateExceeded, HTTPStatus.TOO_MANY_REQUESTS),
    (KeyBudgetSpent, HTTPStatus.PAYMENT_REQUIRED),
    (ToolError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (UsageError, HTTPStatus.UNPROCESSABLE_ENTITY),
)


class Problem(Exception):
    """A refusal with its status; `fields` are (name, its mistake)."""

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        *,
        fields: Sequence[tuple[str, str]] = (),
        remedies: Sequence[Remedy] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.fields = tuple(fields)
        self.remedies = tuple(remedies)
        self.headers = dict(headers or {})

    def response(self) -> JSONResponse:
        """The document: type, title, status, detail, `errors` where fields are named, and `remedies` if some are known."""
        document: dict[str, Any] = {
            "type": "about:blank",
            "title": self.status.phrase,
            "status": self.status.value,
            "detail": self.detail,
        }
        if self.fields:
            document["errors"] = [{"field": name, "message": message} for name, message in self.fields]
        if self.remedies:
            document["remedies"] = [request_of(remedy) for remedy in self.remedies]
        return JSONResponse(
            document, self.status.value, headers=self.headers, media_type="application/problem+json"
        )


def validation_problem(error: ValidationError) -> Problem:
    """The problem of a body that does not fit its model."""
    return _problem_of(error.errors(include_url=False, include_context=False, include_input=False))


def unknown_id(text: str) -> Problem:
    """The problem of what is no id, in a path: nothing has it."""
    return Problem(HTTPStatus.NOT_FOUND, NO_ID.format(text=text[:NAME_CHARS_MAX]))


def _problem_of(errors: Sequence[Mapping[str, Any]]) -> Problem:
    fields = [
        (_field_name(entry["loc"]), entry["msg"].removeprefix("Value error, "))
        for entry in errors[:FIELDS_MAX]
    ]
    detail = "; ".join(f"{name}: {message}" if name else message for name, message in fields[:5])
    return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail, fields=fields)


def _field_name(location: Sequence[object]) -> str:
    """Where something is wrong, as people write it; a word in brackets is the model's own, such as the kind of a topic."""
    parts = [str(part)[:NAME_CHARS_MAX] for part in location]
    return ".".join(part for part in parts if not part.startswith("("))


async def answer_problem(_: Request, error: Exception) -> JSONResponse:
    """A problem that a route raised."""
    return cast(Problem, error).response()


async def answer_invalid_request(_: Request, error: Exception) -> JSONResponse:
    """A query, a header or a path that does not fit; where it stood is no part of a field's name."""
    errors = cast(RequestValidationError, error).errors()
    return _problem_of([{**entry, "loc": entry["loc"][1:]} for entry in errors]).response()


async def answer_chiron_error(_: Request, error: Exception) -> JSONResponse:
    """An error of the engine; 500 for one that no caller can correct."""
    return problem_of(cast(ChironError, error)).response()


def problem_of(error: ChironError) -> Problem:
    """The problem that an error of the engine is."""
    status = next(
        (code for kind, code in STATUS_OF_ERROR if isinstance(error, kind)), HTTPStatus.INTERNAL_SERVER_ERROR
    )
    field = error.field if isinstance(error, ToolValidationError) else ""
    headers = {}
    match error:
        case Unauthenticated():
            headers = {"WWW-Authenticate": "Bearer"}
        case RateExceeded():
            headers = {"Retry-After": str(error.retry_after_s)}
    fields = [(field, str(error))] if field else ()
    return Problem(status, str(error), fields=fields, remedies=error.remedies, headers=headers)


def refusal_of_router(request: Request, error: Exception) -> Problem:
    """What the router refuses: no such path, or no such method on it."""
    refusal = cast(HTTPException, error)
    status, headers = HTTPStatus(refusal.status_code), refusal.headers
    match status:
        case HTTPStatus.NOT_FOUND:
            detail = f"Nothing is at {request.url.path}."
        case HTTPStatus.METHOD_NOT_ALLOWED:
            detail, headers = (
                f"{request.method} is not possible here.",
                {"Allow": ", ".join(_methods_of(request))},
            )
        case _:
            detail = refusal.detail
    return Problem(status, detail, headers=headers)


def _methods_of(request: Request) -> list[str]:
    """What all routes of a path together take, since each has its own methods."""
    routes = [route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE]
    methods = {method for route in routes for method in route.methods or ()}
    return sorted(methods | ({"HEAD"} if "GET" in methods else set()))


async def answer_failed_tool(request: Request, error: Exception) -> JSONResponse:
    """A tool that broke; the reason goes to the log alone, unlike with a run, where the model reads it."""
    if isinstance(error.__cause__, (psycopg.OperationalError, psycopg.errors.ReadOnlySqlTransaction)):
        return await answer_lost_service(request, error.__cause__)
    if isinstance(error.__cause__, psycopg.DataError):
        return await answer_unstorable(request, error.__cause__)
    LOG.error("%s %s: %s", request.method, request.url.path, error, exc_info=error.__cause__)
    return await answer_fault(request, error)


async def answer_unstorable(_: Request, _error: Exception) -> JSONResponse:
    """A value that Postgres has no room for, such as a text with a NUL character."""
    detail = "A text holds a character that cannot be stored (NUL), or a number is too large."
    return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail).response()


async def answer_lost_service(request: Request, error: Exception) -> JSONResponse:
    """Postgres or Redis went away."""
    return lost_service_problem(request, error).response()


def lost_service_problem(request: Request, error: Exception) -> Problem:
    """The problem of a lost service; the reason names hosts and users, so it goes to the log alone."""
    LOG.warning("%s %s: %s", request.method, request.url.path, " ".join(str(error).split()))
    detail = "The database or Redis cannot be reached or written now; try again in a moment."
    return Problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, headers={"Retry-After": "5"})


async def answer_nobody(_: Request, _error: Exception) -> JSONResponse:
    """The client hung up amid its body; nobody reads this."""
    return Problem(HTTPStatus.BAD_REQUEST, "The body ended early.").response()


async def answer_fault(_: Request, _error: Exception) -> JSONResponse:
    """An unexpected exception; the log has it in full, and the caller learns nothing of it."""
    return Problem(
        HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong here; the server's log has it."
    ).response()
