"""What came of a request as an error, and whether it may be sent again."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from pydantic import ValidationError

from chiron_api.answers.basics import Problem
from chiron_api.client.call import Call
from chiron_api.client.errors import ChironError, NotFound, RateLimited, Refused, Unavailable
from chiron_api.client.flows.steps import Answer, Cut
from chiron_api.client.server import Server

PASSING = frozenset({408, 502, 503, 504})
TEXT_CHARS_MAX = 300  # of an answer that is no problem document


def error_of(outcome: Answer | Cut, call: Call[Any], server: Server) -> ChironError:
    """The error for whoever called."""
    if isinstance(outcome, Cut):
        return _cut_error(outcome, call, server)
    problem = _problem(outcome.body)
    sentence = problem.detail if problem else _sentence(outcome, call, server)
    kind: type[ChironError] = Unavailable
    match outcome.status:
        case HTTPStatus.NOT_FOUND:
            kind = NotFound
        case HTTPStatus.TOO_MANY_REQUESTS:
            kind = RateLimited
        case status if 400 <= status < 500:
            kind = Refused
    return kind(sentence, status=outcome.status, problem=problem, retry_after_s=seconds_of(outcome.headers))


def may_repeat(outcome: Answer | Cut, call: Call[Any], server: Server) -> bool:
    """Whether sending it again does no harm and may help.

    What the server cannot have got, or has turned away for its rate, was not done. Of the rest only what does nothing a
    second time.
    """
    if isinstance(outcome, Cut):
        if outcome.is_unsent:
            return server.has_answered
        return call.is_repeatable
    if outcome.status == HTTPStatus.TOO_MANY_REQUESTS:
        return True
    return outcome.status in PASSING and call.is_repeatable


def seconds_of(headers: Mapping[str, str]) -> float:
    """What `Retry-After` says, a number or a date; 0 without one."""
    text = headers.get("retry-after", "").strip()
    if text.isdecimal() and text.isascii():
        return float(text[:9])
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    return max(0.0, (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def _cut_error(cut: Cut, call: Call[Any], server: Server) -> Unavailable:
    if cut.is_unsent:
        return Unavailable(
            f"Nothing answers at {server.address} ({cut.reason}). "
            "`chiron up` starts everything on this machine; CHIRON_API_URL, or base_url, names another address."
        )
    sentence = f"The connection to {server.address} was cut before the answer came ({cut.reason})."
    if not call.is_repeatable:
        sentence += (
            f" Whether {call.method} {call.location} was done is not known: look before you repeat it."
        )
    return Unavailable(sentence)


def _problem(body: bytes) -> Problem | None:
    try:
        return Problem.model_validate_json(body)
    except ValidationError:
        return None


def _sentence(answer: Answer, call: Call[Any], server: Server) -> str:
    text = " ".join(answer.body[: TEXT_CHARS_MAX * 4].decode(errors="replace").split())[:TEXT_CHARS_MAX]
    return (
        f"{server.address} answered {call.method} {call.location} with {answer.status} and no problem document"
        f"{f': {text}' if text else ''}. Is that the HTTP API of Chiron?"
    )
