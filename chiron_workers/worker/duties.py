"""What a worker does besides executing runs: one coroutine a duty."""

import asyncio
import contextlib
import dataclasses
import random
import time
from collections.abc import Callable, Coroutine, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
import structlog
from psycopg_pool import PoolTimeout

from chiron_workers.cancellation import cancel_until_done
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.db.outages import is_transient
from chiron_workers.duty_failures import reason_of
from chiron_workers.embeddings import Embedder, Space
from chiron_workers.errors import ServiceUnavailable
from chiron_workers.instruments import set_redis_refusal
from chiron_workers.knowledge.run_facts import record_earlier_runs
from chiron_workers.knowledge.search.vector_indexes import maintain_indexes
from chiron_workers.knowledge.search.word_index import index_words
from chiron_workers.learning.orchestrator import advance_due
from chiron_workers.pubsub.cooldowns import Cooldown
from chiron_workers.pubsub.redis import leave_if_cancelled, redis_client, write_refusal
from chiron_workers.pubsub.signals import signals
from chiron_workers.rechecks.orders import perform_next_recheck
from chiron_workers.runs.batch_completion import complete_batches
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.rescue import rescue
from chiron_workers.settings import Settings
from chiron_workers.subscriptions.occurrences import compare_occurrences
from chiron_workers.subscriptions.scheduler import start_due
from chiron_workers.telemetry.worker_metrics import SAVE_INTERVAL_S, SIGNS_PER_LEASE, WorkerMetrics
from chiron_workers.webhooks.deliveries import forget_old
from chiron_workers.webhooks.sender import Sender
from chiron_workers.worker.postgres_contact import PostgresContact

log = structlog.get_logger()

# A renewal passes over a row that a rescuer is just writing, and the next one has to come in time.
NOTICE_RENEWALS = 1.5
INDEX_INTERVAL_S = 300.0
COMPLETION_INTERVAL_S = 5.0
SIGNAL_CHARS = 200
REDIS_LOOK_S = 2.0
LOOK_S = 0.5  # between two looks whether Postgres answers


class Duties:
    """Tasks that go on until the worker stops."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, *duties: Coroutine[Any, Any, None], on_failure: Callable[[BaseException], None]) -> None:
        """Start duties; `on_failure` gets the exception of one that breaks."""

        def report(task: asyncio.Task[None]) -> None:
            if not task.cancelled() and (error := task.exception()) is not None:
                on_failure(error)

        for duty in duties:
            task = asyncio.create_task(duty)
            task.add_done_callback(report)
            self._tasks.append(task)

    async def stop(self) -> None:
        """Cancel all duties and wait for their ends."""
        await cancel_until_done(self._tasks)


@contextlib.contextmanager
def outages_logged(duty: str) -> Iterator[None]:
    """Log that the broker or Postgres is away, or refuses for now, as `<duty>.failed` and go on; raise any other error."""
    try:
        yield
    except ServiceUnavailable as error:
        log.warning(f"{duty}.failed", error=str(error))
    except (psycopg.Error, PoolTimeout) as error:
        if not is_transient(error):
            raise
        log.warning(f"{duty}.failed", error=str(error).strip())


async def rescue_lost_runs(
    journal: Journal, settings: Settings, contact: PostgresContact, *, on_rescue: Callable[[], None]
) -> None:
    """Release the runs whose leases ran out, every `rescue_s`; never ends.

    Only once Postgres has answered this worker for a whole lease: after an outage of their own the living holders report
    back first, whoever restarted, froze, moved or was promoted.
    """
    rescue_now = partial(
        rescue,
        journal,
        may_rescue=partial(contact.has_lasted, settings.lease_s),
        notice=NOTICE_RENEWALS * timedelta(seconds=settings.renewal_s),
        max_attempts=settings.max_attempts,
    )
    while True:
        with outages_logged("rescue"):
            if count := await rescue_now():
                log.warning("runs.rescued", runs=count)
                on_rescue()
        await asyncio.sleep(settings.rescue_s)


async def complete_ended_batches(journal: Journal) -> None:
    """Complete the batches whose last run was ended by a process that was killed before it said so; never ends."""
    while True:
        with outages_logged("batches"):
            journal.publish_all(await complete_batches(journal.pool))
        await asyncio.sleep(COMPLETION_INTERVAL_S)


async def save_metrics(metrics: WorkerMetrics, *, lease_s: float) -> None:
    """Save what this worker's instruments say, every ten seconds and thrice in a lease's time; never ends.

    It is the sign by which others know within a lease's time that a worker without runs is frozen.
    """
    while True:
        with outages_logged("metrics"):
            await metrics.save()
        await asyncio.sleep(min(SAVE_INTERVAL_S, lease_s / SIGNS_PER_LEASE))


async def log_silence(contact: PostgresContact, *, silence_max_s: float) -> None:
    """Log once when Postgres keeps its connections and does not answer, and once when it answers again; never ends.

    Statements have no limit of their own then: what waits for a frozen server goes on with it.
    """
    is_silent = False
    while True:
        looked_at = time.monotonic()
        await asyncio.sleep(LOOK_S)
        if time.monotonic() - looked_at > 2 * LOOK_S:
            continue  # The event loop stood still, and the renewal of leases with it.
        if (contact.silence_s > silence_max_s) is not is_silent:
            is_silent = not is_silent
            if is_silent:
                log.error(
                    "postgres.silent", seconds=round(contact.silence_s), waiting="leases, journal, dispatch"
                )
            else:
                log.warning("postgres.answers_again")


async def log_redis_refusals(redis_url: str) -> None:
    """Log once when Redis takes no writes, and once when it takes them again; never ends.

    Meanwhile no run is dispatched. Those that are under way go on.
    """
    if not redis_url:
        return
    reason = ""
    async with redis_client(redis_url) as redis:
        while True:
            refusal = await write_refusal(redis)
            leave_if_cancelled()
            if refusal and not reason:
                log.error("redis.refuses", reason=refusal, waiting="dispatch, live events")
            elif reason and not refusal:
                log.warning("redis.accepts_again")
            reason = refusal
            set_redis_refusal(is_refused=bool(refusal))
            await asyncio.sleep(REDIS_LOOK_S)


async def start_due_subscriptions(
    pool: Pool, settings: Settings, *, is_draining: Callable[[], bool], on_start: Callable[[], None]
) -> None:
    """Start what subscriptions have due, and compare what is finished with the time before, every `rescue_s`; never ends."""
    postponed: dict[UUID, datetime] = {}  # times due that this worker lacks something for
    while True:
        with outages_logged("due_times"):
            while not is_draining() and (due_times := await start_due(pool, postponed)):
                for due in due_times:
                    log.info(
                        f"subscription.{due.outcome}",
                        subscription_id=str(due.subscription_id),
                        due_at=due.due_at.isoformat(),
                        reason=due.reason,
                    )
                on_start()
            for batch_id in await compare_occurrences(pool):
                log.info("subscription.silent", batch_id=str(batch_id))
        await asyncio.sleep(settings.rescue_s)


async def advance_journeys(
    pool: Pool, settings: Settings, *, is_draining: Callable[[], bool], on_order: Callable[[], None]
) -> None:
    """Move the journeys of learners on whose orders are done, and order what comes next, every `rescue_s`; never ends."""
    while True:
        with outages_logged("journeys"):
            while not is_draining() and (advances := await advance_due(pool)):
                for item in advances:
                    log.info(
                        "journey.advanced",
                        journey_id=str(item.journey.id),
                        state=item.journey.state,
                        journey_event=item.event,
                        batch_ids=[str(batch_id) for batch_id in item.batch_ids],
                    )
                on_order()
        await asyncio.sleep(settings.rescue_s)


async def perform_rechecks(
    pool: Pool, embedder: Embedder, settings: Settings, *, is_draining: Callable[[], bool]
) -> None:
    """Read the sources of subjects again that somebody ordered, one subject at a time, every `rescue_s`; never ends."""
    while True:
        with outages_logged("rechecks"):
            while not is_draining() and (order_id := await perform_next_recheck(pool, embedder, settings)):
                log.info("recheck.finished", recheck_id=str(order_id))
        await asyncio.sleep(settings.rescue_s)


async def send_deliveries(pool: Pool, settings: Settings, *, is_draining: Callable[[], bool]) -> None:
    """Send what webhooks have due, and look for more every `rescue_s` and whenever one is sent; never ends."""
    sender, forgets_at = Sender(pool, settings), 0.0
    try:
        while True:
            with outages_logged("deliveries"):
                await sender.send_due(is_draining=is_draining)
                if time.monotonic() >= forgets_at:
                    await forget_old(pool)
                    forgets_at = time.monotonic() + INDEX_INTERVAL_S
            await sender.wait(timeout_s=settings.rescue_s)
    finally:
        await sender.stop()


async def build_vector_indexes(settings: Settings, space: Space) -> None:
    """Build the vector indexes that a subject has outgrown, every few minutes; never ends."""
    while True:
        await asyncio.sleep(INDEX_INTERVAL_S * random.uniform(0.5, 1))  # noqa: S311  # so that workers take turns
        try:
            for index in await maintain_indexes(settings.database_url, space):
                log.info("vectors.indexed", **dataclasses.asdict(index))
        except (psycopg.Error, ServiceUnavailable) as error:
            # A full disk or a server of too little memory: searches stay exact and slower, runs go on.
            log.warning("vectors.not_indexed", error=str(error).strip())


async def index_earlier_words(settings: Settings) -> None:
    """Index what workers of a version before wrote, in English only, in the language it is in; never ends.

    Looks every few minutes, since such workers may run beside this one.
    """
    while True:
        with outages_logged("words"):
            async with open_pool(settings.database_url, size=1, is_patient=True) as pool:
                if count := await index_words(pool):
                    log.info("words.indexed", texts=count)
        await asyncio.sleep(INDEX_INTERVAL_S * random.uniform(0.5, 1))  # noqa: S311  # so that workers take turns


async def record_facts_of_earlier_runs(settings: Settings) -> None:
    """Record which facts runs met that workers of a version before played, once they have ended; never ends.

    Looks every few minutes, since such workers may run beside this one.
    """
    while True:
        with outages_logged("fact_records"):
            async with open_pool(settings.database_url, size=1, is_patient=True) as pool:
                if count := await record_earlier_runs(pool):
                    log.info("fact_records.added", runs=count)
        await asyncio.sleep(INDEX_INTERVAL_S * random.uniform(0.5, 1))  # noqa: S311  # so that workers take turns


async def listen_for_signals(
    redis_url: str, *, on_cooldown: Callable[[Cooldown], None], on_target: Callable[[UUID], None]
) -> None:
    """Pass on what other processes notify: cool-downs, and the batches and runs that are new or steered."""
    if not redis_url:
        return
    async for signal in signals(redis_url):
        try:
            if isinstance(signal, Cooldown):
                on_cooldown(signal)
            else:
                on_target(signal)
        except Exception:  # any publisher may send a malformed message
            log.exception("signal.failed", signal=repr(signal)[:SIGNAL_CHARS])


def log_deafness(error: BaseException) -> None:
    """Log that the listening broke: requests to stop a run now wait for its next renewal, which is no reason to end."""
    # The error comes first, so that a line that is cut still has it.
    log.error("hints.ended", error=reason_of(error)[:SIGNAL_CHARS], exc_info=error)
