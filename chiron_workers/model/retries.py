"""The one place that decides whether a failed model call is tried again, and when."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from chiron_workers.errors import KeyRefused, ModelHeld, ModelUnavailable, RunFailed
from chiron_workers.model.failures import CALL_FAULTS, Failure, classify

Answer = TypeVar("Answer")
OnFailure = Callable[[Failure], Awaitable[None]]
BeforeTry = Callable[[], Awaitable[None]]

PAUSE_MIN_S = 0.5
PAUSE_MAX_S = 60.0  # beyond this the run goes back to the queue rather than hold a slot
SPREAD_MAX_S = 15.0


def backoff_s(attempt: int) -> float:
    """Seconds to wait after the attempt-th failure, from 0: full jitter under a doubling cap.

    Source: Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    """
    return random.uniform(0, min(PAUSE_MAX_S, PAUSE_MIN_S * 2**attempt))  # noqa: S311  # no secret


def spread_s(seconds: float) -> float:
    """Seconds to add to a wait that many calls share, so that they come back one by one: as long again at most."""
    return random.uniform(0, min(seconds, SPREAD_MAX_S))  # noqa: S311  # no secret


async def with_retries(
    call: Callable[[], Awaitable[Answer]],
    *,
    tries: int,
    before_try: BeforeTry,
    on_failure: OnFailure,
) -> Answer:
    """Make a model call until it succeeds, `tries` times at most.

    Args:
        before_try: Awaited before each try; what it raises ends the call.
        on_failure: Awaited after each failed try, before the pause or the exception that follows. A call that is
            cancelled has not failed: whoever cancels it knows.

    Raises:
        RunFailed: The call can never succeed as it stands; the server's own words say why.
        KeyRefused: The server refuses the key.
        ModelHeld: The server asks for more than a minute; no run should call this model before.
        ModelUnavailable: It did not succeed now; the run should come back later.
    """
    for attempt in range(tries):
        await before_try()
        try:
            return await call()
        except (RunFailed, *CALL_FAULTS) as error:
            failure = classify(error)
        await on_failure(failure)
        if failure.fatal is not None:
            raise failure.fatal
        if failure.seconds is not None and failure.seconds > PAUSE_MAX_S:
            held = KeyRefused if failure.is_key_refused else ModelHeld
            raise held(failure.reason, retry_after_s=failure.seconds, is_news=True)
        if attempt == tries - 1:
            raise ModelUnavailable(failure.reason, retry_after_s=PAUSE_MAX_S)
        await asyncio.sleep(
            backoff_s(attempt) if failure.seconds is None else failure.seconds + spread_s(failure.seconds)
        )
    raise AssertionError("tries is at least 1")
