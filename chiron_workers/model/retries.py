"""The one place that decides whether a failed model call is tried again, and when."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import aiohttp
import anthropic
import httpx2

from chiron_workers.errors import ModelUnavailable, RunFailed

Answer = TypeVar("Answer")

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 60.0  # beyond this the run goes back to the queue rather than hold a slot
LONGEST_HOLD_S = 3600.0
SPEND_HOLD_S = 900.0  # a spend limit does not heal by itself within seconds

WAIT_TYPES = frozenset({"overloaded_error", "rate_limit_error", "api_error", "timeout_error"})
SPEND_LIMITS = (
    "enforced_spend_limit_reached",
    "contract_spend_limit_reached",
    "ramp_limit_exceeded",
    "linked_organization_spend_limit_reached",
)


MEND_KEY = "Set ANTHROPIC_API_KEY, or CHIRON_MODEL=offline to do without."


class StreamCut(Exception):
    """A stream that ended, without an error, before the reply was complete."""


# What a broken connection or a broken stream raises, beside the SDK's own errors: nothing was journaled,
# so the call may be made again.
STREAM_FAULTS = (
    StreamCut,
    anthropic.APIConnectionError,
    anthropic.APIResponseValidationError,
    httpx2.TransportError,
    aiohttp.ClientError,
    ValueError,  # JSON that cannot be read: of a chunk (JSONDecodeError) or of a tool's arguments
    TimeoutError,
    ConnectionError,
    IndexError,  # a block delta whose block never began
    RuntimeError,  # the SDK on events out of order
)


@dataclass(frozen=True, slots=True)
class Wait:
    """Try again after `seconds`, or after the usual backoff."""

    reason: str
    seconds: float | None = None


def backoff_s(attempt: int) -> float:
    """Seconds to wait after the attempt-th failure, from 0: full jitter under a doubling cap.

    Source: Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    """
    return random.uniform(0, min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2**attempt))  # noqa: S311  # no secret


async def with_retries(call: Callable[[], Awaitable[Answer]], *, tries: int) -> Answer:
    """Make a model call until it succeeds, `tries` times at most.

    Raises:
        RunFailed: The call can never succeed as it stands.
        ModelUnavailable: It did not succeed now; the run should come back later.
    """
    for attempt in range(tries):
        try:
            return await call()
        except (anthropic.AnthropicError, *STREAM_FAULTS) as error:
            verdict = classify(error)
        pause_s = backoff_s(attempt) if verdict.seconds is None else verdict.seconds
        if attempt == tries - 1 or pause_s > LONGEST_PAUSE_S:
            raise ModelUnavailable(
                verdict.reason, retry_after_s=min(max(pause_s, LONGEST_PAUSE_S), LONGEST_HOLD_S)
            )
        await asyncio.sleep(pause_s)
    raise AssertionError("tries is at least 1")


def classify(error: Exception) -> Wait:
    """When to try again after this error.

    Raises:
        RunFailed: Never: the server's own words say why.
    """
    if isinstance(error, anthropic.APIStatusError):
        return _classify_status(error)
    if isinstance(error, STREAM_FAULTS):
        return Wait(f"The connection to the model broke ({type(error).__name__}).")
    raise RunFailed("credentials", f"The model cannot be called: {error} {MEND_KEY}") from error


def _classify_status(error: anthropic.APIStatusError) -> Wait:
    words = _words(error)
    if any(limit in str(error.body) for limit in SPEND_LIMITS):
        return Wait(f"A spend limit of the account is reached: {words}", SPEND_HOLD_S)
    # An error in mid-stream comes with status 200; only its type says what it is.
    in_stream = error.status_code == 200 and error.type in WAIT_TYPES
    if in_stream or error.status_code in (408, 409, 429) or error.status_code >= 500:
        return Wait(f"The model answers {error.status_code}: {words}", _retry_after_s(error))
    if error.status_code in (401, 403):
        raise RunFailed(
            "credentials", f"The model refuses the key: {words} Check ANTHROPIC_API_KEY."
        ) from error
    if error.status_code == 404:
        raise RunFailed(
            "model", f"The model is not there: {words} Check the run's model and ANTHROPIC_BASE_URL."
        ) from error
    raise RunFailed("request", f"The model refuses the request: {words}") from error


def _words(error: anthropic.APIStatusError) -> str:
    body = error.body
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        return str(body["error"].get("message", ""))[:500].rstrip(".") + "."
    return error.message[:500].rstrip(".") + "."


def _retry_after_s(error: anthropic.APIStatusError) -> float | None:
    try:
        seconds = float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None
    return min(seconds, LONGEST_HOLD_S) if seconds >= 0 else None
