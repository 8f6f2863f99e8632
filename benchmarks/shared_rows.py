"""Whether runs wait for the rows that they share: `uv run python benchmarks/shared_rows.py [--runs 240] [--json FILE]`.

A Celery worker plays the same runs in one batch and in several, with and without a budget of the batch, by turns, on a
Postgres whose commits take 20 ms as those of a synchronous standby or a network disk do (`commit_delay`). A row that is
held through a commit lets one of its runs commit at a time, so that one batch is slower than several.
"""

import argparse
import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from statistics import median
from uuid import UUID

import psycopg
from bare import MODEL
from concurrency import SQL, Asked, Servers, Throughput, started, throughput, wait_for_the_end, worker
from cpu import load_average
from figures import begin, table
from look_up import create_table
from sampling import Sampler
from services import Services, model_server, services

from chiron_workers.batches.submit import NO_BUDGET, NewBatch, NewRun, submit
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import open_pool
from chiron_workers.pubsub.signals import notify

BUDGET = Budget(Decimal(100_000))  # binds each call, and is never spent


@dataclass(frozen=True, slots=True)
class Sharing:
    """So many batches share the runs; with a budget each call is reserved from that of its batch."""

    batches: int
    has_budget: bool

    @property
    def name(self) -> str:
        """As the table and the figures call it."""
        batches = "one batch" if self.batches == 1 else f"{self.batches} batches"
        return f"{batches}, {'a budget' if self.has_budget else 'no budget'}"


async def enqueue(found: Services, arguments: Asked, sharing: Sharing) -> list[UUID]:
    """Submit the runs in equal batches; their ids."""
    batch_ids = []
    async with open_pool(found.settings.database_url, size=2) as pool:
        for part in range(sharing.batches):
            numbers = range(part, arguments.runs, sharing.batches)
            runs = [NewRun(f"tides {n:04}", "research", "Physics", MODEL, arguments.turns) for n in numbers]
            budget = BUDGET if sharing.has_budget else NO_BUDGET
            batch_ids.append((await submit(pool, NewBatch(runs, "Physics", budget=budget))).batch_id)
    for batch_id in batch_ids:
        await notify(found.settings.redis_url, batch_id)
    return batch_ids


def play(found: Services, servers: Servers, arguments: Asked, sharing: Sharing) -> Throughput:
    """What a worker does while all runs are under way."""
    command, environment = worker(f"shared{sharing.batches}", arguments)
    with (found.folder / "worker.log").open("w+") as log, started(command, log, **environment) as process:
        with Sampler({"client": process, "postgres": found.postgres} | servers) as sampler:
            batch_ids = asyncio.run(enqueue(found, arguments, sharing))
            wait_for_the_end(found, batch_ids, [process], log)
        with psycopg.connect(found.settings.database_url) as connection:
            turns = [
                turn
                for batch_id in batch_ids
                for turn in connection.execute(SQL["turns"], {"batch_id": batch_id}).fetchall()
            ]
        return throughput(turns, sampler)


def slow_commits(found: Services, *, delay_ms: float) -> None:
    """Let each commit that waits for the disk wait for so long."""
    with psycopg.connect(found.settings.database_url, autocommit=True) as connection:
        connection.execute(
            psycopg.sql.SQL("alter system set commit_delay = {}").format(int(delay_ms * 1_000))
        )
        connection.execute("alter system set commit_siblings = 0")
        connection.execute("select pg_reload_conf()")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=240)
    parser.add_argument("--batches", type=int, default=8, help="How many share the runs where it is not one.")
    parser.add_argument("--turns", type=int, default=12, help="Turns of each run.")
    parser.add_argument("--latency-ms", type=float, default=1_500)
    parser.add_argument("--commit-ms", type=float, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    with begin(parser) as (arguments, report):
        sharings = [
            Sharing(batches, has_budget) for has_budget in (False, True) for batches in (arguments.batches, 1)
        ]
        asked = Asked(arguments.runs, arguments.turns, arguments.latency_ms / 1_000)
        results: dict[str, list[Throughput]] = {sharing.name: [] for sharing in sharings}
        with services() as found:
            create_table(found.settings.database_url)
            slow_commits(found, delay_ms=arguments.commit_ms)
            model = model_server(turns=arguments.turns, latency_ms=arguments.latency_ms, reply_chars=2_000)
            with model as servers:
                for _ in range(arguments.repeats):
                    for sharing in sharings:
                        results[sharing.name].append(play(found, servers, asked, sharing))
        report.figures = {name: [asdict(each) for each in parts] for name, parts in results.items()}
        title = f"{arguments.runs} runs, commits of {arguments.commit_ms:g} ms, load {load_average()}"
        columns = ["at once", "turns/s", f"of {arguments.batches} batches", "CPU ms a turn", "Postgres"]
        table(title, columns, shown(sharings, results))


def shown(sharings: Sequence[Sharing], results: dict[str, list[Throughput]]) -> list[list[str]]:
    """Medians of each way to share, and what one batch does of what several do in the same repeat."""
    rows = []
    for several, alone in zip(sharings[::2], sharings[1::2], strict=True):
        pairs = list(zip(results[several.name], results[alone.name], strict=True))
        ratio = median(one.turns_per_s / many.turns_per_s for many, one in pairs)
        for sharing, share in ((several, "1.00"), (alone, f"{ratio:.2f}")):
            parts = results[sharing.name]
            speed, client, postgres = (
                median(getattr(part, name) for part in parts)
                for name in ("turns_per_s", "client", "postgres")
            )
            rows.append([sharing.name, f"{speed:.0f}", share, f"{client:.2f}", f"{postgres:.2f}"])
    return rows


if __name__ == "__main__":
    main()
