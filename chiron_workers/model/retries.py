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


# A gateway answers these for a server that it asked and that may be at work.
GATEWAY_FAULTS = (502, 504, 520, 524)
# With one of these as its cause a request never left. httpx2's own ConnectError does not tell: the aiohttp
# transport also raises it when the server hangs up on a request that it has.
NEVER_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    httpx2.ConnectTimeout,
    httpx2.LocalProtocolError,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
)


@dataclass(frozen=True, slots=True)
class Wait:
    """What follows from a failed try: another after `seconds`, or after the usual backoff; none if `fatal` says why.

    `maybe_billed` where no reply came although the model may have been at work: a cut stream, a read timeout. A
    refusal with an HTTP status costs nothing, nor does a connection that never came about.
    """

    reason: str
    seconds: float | None = None
    maybe_billed: bool = False
    fatal: RunFailed | None = None


OnWait = Callable[[Wait], Awaitable[None]]
BeforeTry = Callable[[], Awaitable[None]]


def backoff_s(attempt: int) -> float:
    """Seconds to wait after the attempt-th failure, from 0: full jitter under a doubling cap.

    Source: Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    """
    return random.uniform(0, min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2**attempt))  # noqa: S311  # no secret


async def with_retries(
    call: Callable[[], Awaitable[Answer]],
    *,
    tries: int,
    before_try: BeforeTry | None = None,
    on_wait: OnWait | None = None,
) -> Answer:
    """Make a model call until it succeeds, `tries` times at most.

    Args:
        before_try: Awaited before each try; what it raises ends the call.
        on_wait: Awaited after each failed try, before the pause or the exception that follows. A call that is
            cancelled has not failed: whoever cancels it knows.

    Raises:
        RunFailed: The call can never succeed as it stands; the server's own words say why.
        ModelUnavailable: It did not succeed now; the run should come back later.
    """
    for attempt in range(tries):
        if before_try is not None:
            await before_try()
        try:
            return await call()
        except (anthropic.AnthropicError, RunFailed, *STREAM_FAULTS) as error:
            found = classify(error)
        if on_wait is not None:
            await on_wait(found)
        if found.fatal is not None:
            raise found.fatal
        pause_s = backoff_s(attempt) if found.seconds is None else found.seconds
        if attempt == tries - 1 or pause_s > LONGEST_PAUSE_S:
            raise ModelUnavailable(
                found.reason, retry_after_s=min(max(pause_s, LONGEST_PAUSE_S), LONGEST_HOLD_S)
            )
        await asyncio.sleep(pause_s)
    raise AssertionError("tries is at least 1")


def classify(error: Exception) -> Wait:
    """What follows from this error of a model call."""
    if isinstance(error, RunFailed):
        return Wait(str(error), fatal=error)
    if isinstance(error, anthropic.APIStatusError):
        return _classify_status(error)
    if isinstance(error, STREAM_FAULTS):
        reason = f"The connection to the model broke ({type(error).__name__})."
        return Wait(reason, maybe_billed=not _was_never_sent(error))
    return _fatal("credentials", f"The model cannot be called: {error} {MEND_KEY}")


def _was_never_sent(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, NEVER_SENT):
            return True
        error = error.__cause__
    return False


def _classify_status(error: anthropic.APIStatusError) -> Wait:
    words = _words(error)
    # An error in mid-stream comes with status 200; only its type says what it is.
    in_stream = error.status_code == 200
    if any(limit in str(error.body) for limit in SPEND_LIMITS):
        return Wait(f"A spend limit of the account is reached: {words}", SPEND_HOLD_S, in_stream)
    if (
        (in_stream and error.type in WAIT_TYPES)
        or error.status_code in (408, 409, 429)
        or error.status_code >= 500
    ):
        maybe_billed = in_stream or error.status_code in GATEWAY_FAULTS
        return Wait(f"The model answers {error.status_code}: {words}", _retry_after_s(error), maybe_billed)
    if error.status_code in (401, 403):
        return _fatal("credentials", f"The model refuses the key: {words} Check ANTHROPIC_API_KEY.")
    if error.status_code == 404:
        return _fatal(
            "model", f"The model is not there: {words} Check the run's model and ANTHROPIC_BASE_URL."
        )
    return _fatal("request", f"The model refuses the request: {words}", maybe_billed=in_stream)


def _fatal(kind: str, message: str, *, maybe_billed: bool = False) -> Wait:
    return Wait(message, maybe_billed=maybe_billed, fatal=RunFailed(kind, message))


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
