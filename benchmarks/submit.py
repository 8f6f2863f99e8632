"""How long 10,000 topics take to submit: `uv run python benchmarks/submit.py [--json FILE]`.

The rows, against a bare COPY of the same rows in one transaction; and the messages to Celery, in batches and one by one.
"""

import argparse
import asyncio
import json
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from statistics import median
from uuid import UUID

from bare import MODEL
from cpu import cpu_of, load_average, spent
from figures import begin, table
from redis import Redis
from services import Services, services

from chiron_workers.batches import submit as batches
from chiron_workers.batches.submit import NewBatch, NewRun
from chiron_workers.celery import QueuedRun, dispatch
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.db.queries import load
from chiron_workers.ids import new_id
from chiron_workers.pubsub.signals import notify

SQL = load(__file__)


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds of one step, and the CPU seconds of this process and of Postgres in it."""

    wall: float
    client: float
    postgres: float = 0.0


class Watch:
    """Takes the time of steps."""

    def __init__(self, found: Services) -> None:
        self._postgres = found.postgres
        self.start()

    def start(self) -> None:
        self._before = (time.perf_counter(), time.process_time(), cpu_of(self._postgres))

    def stop(self) -> Took:
        after = (time.perf_counter(), time.process_time(), cpu_of(self._postgres))
        wall, client, postgres = self._before
        return Took(after[0] - wall, after[1] - client, spent(postgres, after[2]))


def topics(count: int) -> list[NewRun]:
    return [
        NewRun(f"How do tides shape coast number {n:05}?", "research", "Physics", MODEL, 200)
        for n in range(count)
    ]


async def copy(pool: Pool, runs: list[NewRun]) -> None:
    """The floor: the rows that `submit` stores, sent as they are."""
    batch_id, ids, now = new_id(), [new_id() for _ in runs], datetime.now(UTC)
    async with pool.connection() as connection, connection.transaction():
        await connection.execute(SQL["subject"])
        await connection.execute(SQL["batch"], {"id": batch_id, "run_count": len(runs)})
        async with connection.cursor() as cursor, cursor.copy(SQL["copy_runs"]) as rows:
            for run_id, run in zip(ids, runs, strict=True):
                values = (
                    run_id,
                    batch_id,
                    run.role,
                    "physics",
                    run.topic,
                    run.model,
                    0,
                    run.max_turns,
                    1,
                    now,
                )
                await rows.write_row(values)
        async with connection.cursor() as cursor, cursor.copy(SQL["copy_events"]) as rows:
            for run_id, run in zip(ids, runs, strict=True):
                await rows.write_row((run_id, 1, batch_id, "run.queued", _queued(run)))


def _queued(run: NewRun) -> str:
    return json.dumps({"role": run.role, "topic": run.topic})


async def rows(found: Services, count: int) -> dict[str, Took]:
    """COPY and submit of the same topics, each as a new batch; and a submit with its hint to the workers."""
    runs, watch = topics(count), Watch(found)
    async with open_pool(found.settings.database_url, size=2) as pool:
        watch.start()
        await copy(pool, runs)
        bare = watch.stop()
        watch.start()
        submitted = await batches.submit(pool, NewBatch(runs, "Physics"))
        stored = watch.stop()
        await notify(found.settings.redis_url, submitted.batch_id)
        return {"copy": bare, "submit": stored, "submit and hint": watch.stop()}


def run_messages(found: Services, count: int) -> dict[str, Took]:
    """Messages for all of them: as workers dispatch, and one at a time."""
    messages = [
        QueuedRun(UUID(int=n), "research", "Physics", f"How do tides shape coast number {n:05}?")
        for n in range(count)
    ]
    watch = Watch(found)
    dispatch(messages)
    batched = watch.stop()
    watch.start()
    for message in messages:
        dispatch([message])
    return {"ring, batched": batched, "ring, one by one": watch.stop()}


def measure(*, count: int, repeats: int) -> dict[str, list[Took]]:
    took: dict[str, list[Took]] = {}
    with services() as found, Redis.from_url(found.settings.redis_url) as redis:
        dispatch([QueuedRun(UUID(int=0), "research", "Physics", "warming up")])
        asyncio.run(rows(found, 10))
        for _ in range(repeats):
            for name, one in (asyncio.run(rows(found, count)) | run_messages(found, count)).items():
                took.setdefault(name, []).append(one)
            redis.flushdb()
    return took


def shown(took: dict[str, list[Took]], count: int) -> list[list[str]]:
    found = []
    for name, all_of_it in took.items():
        wall = median(one.wall for one in all_of_it)
        cpu = [
            f"{median(getattr(one, key) for one in all_of_it) * 1e6 / count:.0f}"
            for key in ("client", "postgres")
        ]
        found.append([name, f"{wall * 1_000:.0f}", f"{count / wall:,.0f}", *cpu])
    ratio = median(ours.wall / bare.wall for ours, bare in zip(took["submit"], took["copy"], strict=True))
    return [*found, ["  submit against COPY", f"{ratio:.2f}", "", "", ""]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    with begin(parser) as (arguments, report):
        took = measure(count=arguments.topics, repeats=arguments.repeats)
        report.figures = {name: [asdict(one) for one in all_of_it] for name, all_of_it in took.items()}
        columns = ["step", "ms", "a second", "CPU us each", "Postgres"]
        table(
            f"{arguments.topics:,} topics, median of {arguments.repeats}, load {load_average()}",
            columns,
            shown(took, arguments.topics),
        )


if __name__ == "__main__":
    main()
