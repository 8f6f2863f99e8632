"""What deciding who runs next costs: `uv run python benchmarks/order.py [--json FILE]`.

Claims against a bare update, and looks for the next runs, with few and with many queued; and how soon a batch of 5
starts behind one of 10,000, with a real worker whose model does not answer.
"""

import argparse
import asyncio
import subprocess
import sys
import time
from datetime import timedelta
from functools import partial
from statistics import median

from bare import MODEL
from cpu import load_average
from figures import begin, table
from services import Services, model_server, services

from chiron_workers.batches.dispatch import dispatch_next
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.db.queries import load
from chiron_workers.ids import new_id
from chiron_workers.pubsub.signals import notify
from chiron_workers.runs import partitions
from chiron_workers.runs.leases import acquire

SQL = load(__file__)
FEW = 100
AGAIN = timedelta(hours=1)
PATIENCE_S = 120.0
Times = dict[str, list[float]]  # milliseconds, by what was timed


async def do(pool: Pool, name: str, **args: object) -> None:
    async with pool.connection() as connection:
        await connection.execute(SQL[name], args)


async def fill(pool: Pool, *, batches: int, each: int) -> None:
    await do(pool, "empty")
    await do(pool, "subject")
    await partitions.ensure(pool, [new_id()])
    await do(pool, "fill", batches=batches, each=each, model=MODEL)
    await do(pool, "settle")


async def claims(pool: Pool, queued: int, took: Times) -> None:
    """One claim after the other: by the bare statement, then as a worker claims, with its event."""
    await fill(pool, batches=1, each=queued)
    async with pool.connection() as connection:
        rows = await (await connection.execute(SQL["some"], {"count": FEW})).fetchall()
        ids = [row["id"] for row in rows]
        bare, ours = ids[: FEW // 2], ids[FEW // 2 :]
        await connection.execute(SQL["ring"], {"ids": ids})
        for run_id in bare:
            began = time.perf_counter()
            await connection.execute(SQL["bare_claim"], {"id": run_id})
            note(took, f"bare claim, {queued:,} queued", began)
    for run_id in ours:
        began = time.perf_counter()
        assert await acquire(pool, run_id, worker="bench", lease_for=timedelta(seconds=12)) is not None
        note(took, f"claim, {queued:,} queued", began)


async def looks(pool: Pool, name: str, took: Times, *, repeats: int) -> None:
    """Looks for one free slot and for a hundred; what is rung is taken back."""
    for room in (1, 100):
        for _ in range(repeats):
            began = time.perf_counter()
            look = await dispatch_next(pool, room=partial(int, room), redispatch_after=AGAIN, model_limits={})
            note(took, f"look for {room}, {name}", began)
            assert len(look.runs_to_dispatch) == room
            await do(pool, "take_back")


def note(took: Times, name: str, began: float) -> None:
    took.setdefault(name, []).append((time.perf_counter() - began) * 1_000)


async def statements(found: Services, *, many: int, batches: int, playing: int, repeats: int) -> Times:
    took: Times = {}
    async with open_pool(found.settings.database_url, size=1) as pool:
        for queued in (FEW, many):
            await claims(pool, queued, took)
        for queued in (FEW, many):
            await fill(pool, batches=1, each=queued)
            await looks(pool, f"{queued:,} queued in one batch", took, repeats=repeats)
        await fill(pool, batches=batches, each=max(2, many // batches))
        await looks(pool, f"{many:,} queued in {batches:,} batches", took, repeats=repeats)
        await do(pool, "play", count=playing)
        await looks(pool, f"the same, {playing:,} running", took, repeats=repeats)
        await do(pool, "empty")
    return took


async def behind(found: Services, *, large: int, slots: int, repeats: int) -> list[float]:
    """Milliseconds from the submit of a batch of 5 to its fifth run that has started. Slots are free for all of them."""
    took = []
    async with open_pool(found.settings.database_url, size=2) as pool:
        free = 5 * repeats
        await started(pool, await enqueue(pool, found, large, concurrency=slots - free), slots - free)
        for _ in range(repeats):
            async with pool.connection() as connection:
                row = await (await connection.execute(SQL["queued"])).fetchone()
            assert row is not None
            at = await started(pool, await enqueue(pool, found, 5), 5)
            took.append((at - row["at"]) * 1_000)
    return took


async def enqueue(pool: Pool, found: Services, count: int, *, concurrency: int | None = None) -> object:
    runs = [NewRun(f"tides {n}", "research", "Physics", MODEL, 200) for n in range(count)]
    batch_id = (await submit(pool, NewBatch(runs, "Physics", concurrency=concurrency))).batch_id
    await notify(found.settings.redis_url, batch_id)
    return batch_id


async def started(pool: Pool, batch_id: object, count: int) -> float:
    """When the last of so many runs of a batch started, in seconds of the server's clock."""
    give_up_at = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up_at:
        async with pool.connection() as connection:
            row = await (await connection.execute(SQL["started"], {"batch_id": batch_id})).fetchone()
        assert row is not None
        if row["runs"] >= count:
            return float(row["at"])
        await asyncio.sleep(0.05)
    raise SystemExit(f"{count} runs did not start within {PATIENCE_S:g} s")


def measure(*, many: int, batches: int, playing: int, large: int, slots: int, repeats: int) -> Times:
    with services() as found:
        took = asyncio.run(statements(found, many=many, batches=batches, playing=playing, repeats=repeats))
        command = [sys.executable, "-m", "celery", "-A", "chiron_workers", "worker", "-c", str(slots)]
        with (
            model_server(turns=3, latency_ms=600_000, reply_chars=100),
            (found.folder / "worker.log").open("w") as log,
            subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT) as worker,
        ):
            try:
                name = f"5 started behind {large:,}, slots free"
                took[name] = asyncio.run(behind(found, large=large, slots=slots, repeats=repeats))
            finally:
                worker.kill()
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queued", type=int, default=100_000)
    parser.add_argument("--batches", type=int, default=1_000, help="Among which the queued runs are divided.")
    parser.add_argument("--playing", type=int, default=2_000)
    parser.add_argument("--large", type=int, default=10_000, help="Runs of the batch before the batch of 5.")
    parser.add_argument("--slots", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=9)
    with begin(parser) as (asked, report):
        took = measure(
            many=asked.queued,
            batches=asked.batches,
            playing=asked.playing,
            large=asked.large,
            slots=asked.slots,
            repeats=asked.repeats,
        )
        report.figures = {name: [{"ms": one} for one in each] for name, each in took.items()}
        rows = [[name, f"{median(each):.2f}", f"{max(each):.2f}"] for name, each in took.items()]
        table(f"Who runs next, load {load_average()}", ["", "median ms", "worst"], rows)


if __name__ == "__main__":
    main()
