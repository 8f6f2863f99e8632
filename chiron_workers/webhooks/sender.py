"""What a worker does for webhooks: it sends the deliveries that are due, several side by side, one to each endpoint."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable

import psycopg
import structlog
from psycopg_pool import PoolTimeout

from chiron_workers.db.connect import Pool
from chiron_workers.duty_failures import is_fault_of_process, isolated
from chiron_workers.settings import Settings
from chiron_workers.states import Duty, WebhookFormat
from chiron_workers.webhooks.deliveries import Answer, Claim, claim_next, release_claim, settle
from chiron_workers.webhooks.mail import send_mail
from chiron_workers.webhooks.posting import post_slack, post_standard
from chiron_workers.webhooks.wording import absolute

log = structlog.get_logger()

SENDERS = 32  # requests at once of one worker, each to another endpoint
RESERVE = 8  # of them, for owners that have none in flight
TIME_MAX_S = 20.0


class Sender:
    """The deliveries that one worker sends side by side.

    The first request of an owner takes any free place. Further ones keep `RESERVE` places free, and an owner begins none
    beyond its share, which is smaller the more owners have requests in flight. So all places are taken only where at least
    ten owners have some, and the next place that becomes free then goes to an owner that has none.
    """

    def __init__(self, pool: Pool, settings: Settings) -> None:
        self._pool = pool
        self._settings = settings
        self._tasks: dict[asyncio.Task[None], str] = {}  # with the owner of each

    async def send_due(self, *, is_draining: Callable[[], bool] = lambda: False) -> int:
        """Begin with what is due as long as there is room; how many deliveries these are. Does not wait for the answers.

        Raises:
            BaseException: What a delivery that was begun before broke with.
        """
        self._raise_failures()
        count = 0
        while len(self._tasks) < SENDERS and not is_draining():
            claim = await claim_next(self._pool, full_owners=self._full_owners())
            if claim is None:
                break
            self._tasks[asyncio.create_task(self._deliver(claim))] = claim.owner
            count += 1
        return count

    def _full_owners(self) -> list[str]:
        counts = Counter(self._tasks.values())
        if len(self._tasks) >= SENDERS - RESERVE:
            return list(counts)
        share = SENDERS // (len(counts) + 1)  # as if one more owner were there
        return [owner for owner, count in counts.items() if count >= share]

    async def wait(self, *, timeout_s: float) -> None:
        """Wait for the end of any delivery, or for a while."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        else:
            await asyncio.sleep(timeout_s)

    async def finish(self) -> None:
        """Wait for the answers to all that was begun."""
        while self._tasks:
            await asyncio.wait(self._tasks)
            self._raise_failures()

    async def stop(self) -> None:
        """Cut what is in flight; other workers send it again."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _deliver(self, claim: Claim) -> None:
        try:
            answer = await send(claim, self._settings)
        # A delivery that cannot be sent ends no worker: it would end the next one as well.
        except Exception as error:
            if is_fault_of_process(error):
                raise
            log.exception("delivery.broken", delivery_id=str(claim.id))
            answer = Answer(None, f"It cannot be sent: {type(error).__name__}.")
        except BaseException:
            with contextlib.suppress(psycopg.Error, PoolTimeout):
                await release_claim(self._pool, claim)
            raise
        async with isolated(
            self._pool.connection, Duty.DELIVERIES, claim.webhook_id, has_failed=claim.has_broken
        ):
            await self._settle(claim, answer)

    async def _settle(self, claim: Claim, answer: Answer) -> None:
        reason = await settle(self._pool, claim, answer)
        if reason:
            log.warning("webhook.off", webhook_id=str(claim.webhook_id), reason=reason)
        elif answer.error:
            log.info(
                "delivery.failed",
                delivery_id=str(claim.id),
                webhook_id=str(claim.webhook_id),
                tries=claim.tries,
                error=answer.error,
            )

    def _raise_failures(self) -> None:
        done_tasks = [task for task in self._tasks if task.done()]
        for task in done_tasks:
            del self._tasks[task]
        if errors := [error for task in done_tasks if (error := task.exception()) is not None]:
            raise errors[0]


async def send(claim: Claim, settings: Settings) -> Answer:
    """One try, within `TIME_MAX_S`."""
    payload = absolute(claim.payload, settings)
    try:
        async with asyncio.timeout(TIME_MAX_S):
            match claim.format:
                case WebhookFormat.STANDARD:
                    return await post_standard(claim, payload, settings)
                case WebhookFormat.SLACK:
                    return await post_slack(claim, payload, settings)
                case WebhookFormat.MAIL:
                    return await send_mail(claim, payload, settings, time_max_s=TIME_MAX_S)
    except TimeoutError:
        return Answer(None, f"It did not answer within {TIME_MAX_S:g} s.")
