"""The one place that decides whether a failed model call is tried again, and when."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anthropic

from chiron_workers.errors import ModelHeld, ModelUnavailable, RunFailed
from chiron_workers.model.failures import STREAM_FAULTS, Wait, classify

Answer = TypeVar("Answer")
OnWait = Callable[[Wait], Awaitable[None]]
BeforeTry = Callable[[], Awaitable[None]]

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 60.0  # beyond this the run goes back to the queue rather than hold a slot
LONGEST_SPREAD_S = 15.0


def backoff_s(attempt: int) -> float:
    """Seconds to wait after the attempt-th failure, from 0: full jitter under a doubling cap.

    Source: Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    """
    return random.uniform(0, min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2**attempt))  # noqa: S311  # no secret


def spread_s(seconds: float) -> float:
    """Seconds to add to a wait that many calls share, so that they come back one by one: as long again at most."""
    return random.uniform(0, min(seconds, LONGEST_SPREAD_S))  # noqa: S311  # no secret


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
        ModelHeld: The server asks for more than a minute; no run should call this model before.
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
        if found.seconds is not None and found.seconds > LONGEST_PAUSE_S:
            raise ModelHeld(found.reason, retry_after_s=found.seconds, is_news=True)
        if attempt == tries - 1:
            raise ModelUnavailable(found.reason, retry_after_s=LONGEST_PAUSE_S)
        await asyncio.sleep(
            backoff_s(attempt) if found.seconds is None else found.seconds + spread_s(found.seconds)
        )
    raise AssertionError("tries is at least 1")
