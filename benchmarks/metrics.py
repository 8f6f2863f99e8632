"""What a scrape of /metrics takes with many runs behind it: `uv run python benchmarks/metrics.py [--runs N] [--json FILE]`.

Scrapes over HTTP, with the time of `/healthz` as the floor in the same run: right after all runs were written, while Postgres has
not swept their rows, and after its vacuum. Only the first scrape waits for the count; the others get the answer before, while
the next is counted.
"""

import argparse
import asyncio
import time
from pathlib import Path
from statistics import median

import httpx2
from cpu import load_average
from figures import Figures, begin, table
from page import api, wait_for
from services import Services, services

from chiron_api.http.exposition import Exposition
from chiron_api.local_stack.access import api_key
from chiron_workers.db.connect import open_pool
from chiron_workers.db.queries import load
from chiron_workers.ids import new_id
from chiron_workers.runs import partitions

SQL, PAGE_SQL = load(__file__), load(str(Path(__file__).with_name("page.py")))
REPEATS = 7


async def write_runs(at: Services, count: int) -> None:
    """A batch of so many runs, of which one in a hundred waits and a hundred are playing."""
    batch_id = new_id()
    args = {"batch_id": batch_id, "runs": count}
    async with open_pool(at.settings.database_url, size=2) as pool:
        await partitions.ensure(pool, [batch_id])
        for query in (PAGE_SQL["subject"], PAGE_SQL["batch"], SQL["runs"], SQL["end"], SQL["begin"]):
            async with pool.connection() as connection:
                await connection.execute(query, args)


async def vacuum(at: Services) -> None:
    """Sweep the rows of runs, as autovacuum does sooner or later."""
    async with open_pool(at.settings.database_url, size=1) as pool, pool.connection() as connection:
        await connection.set_autocommit(True)
        await connection.execute(SQL["vacuum"])
        await connection.set_autocommit(False)


async def count_ms(at: Services) -> list[float]:
    """How long an answer takes that nobody has asked for in the last seconds, several times."""
    times = []
    async with open_pool(at.settings.database_url, size=2) as pool:
        for _ in range(REPEATS):
            exposition, began = Exposition(at.settings, pool), time.perf_counter()
            await exposition.text()
            times.append((time.perf_counter() - began) * 1_000)
    return times


def request_ms(url: str, key: str, path: str, *, repeats: int = REPEATS, every_s: float = 0.0) -> list[float]:
    """How long requests take that follow each other."""
    times = []
    with httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
        for _ in range(repeats):
            time.sleep(every_s)
            began = time.perf_counter()
            client.get(path).raise_for_status()
            times.append((time.perf_counter() - began) * 1_000)
    return times


def row(name: str, times: list[float], figures: Figures) -> list[str]:
    """A line of the table, noted as a figure too."""
    figures[name] = [{"ms": round(each, 1)} for each in times]
    return [name, f"{median(times):.1f}", f"{max(times):.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000_000)
    parser.add_argument("--every-s", type=float, default=15.0, help="Between two scrapes over HTTP.")
    with begin(parser) as (arguments, report), services() as at:
        asyncio.run(write_runs(at, arguments.runs))
        figures = report.figures
        rows = [row("counted, before vacuum", asyncio.run(count_ms(at)), figures)]
        asyncio.run(vacuum(at))
        rows.append(row("counted, after vacuum", asyncio.run(count_ms(at)), figures))
        with api(at) as url:
            wait_for(url)
            key = api_key(at.settings)
            rows.append(
                row("/metrics over HTTP, first", request_ms(url, key, "/metrics", repeats=1), figures)
            )
            rows.append(
                row(
                    "/metrics over HTTP, later",
                    request_ms(url, key, "/metrics", every_s=arguments.every_s),
                    figures,
                )
            )
            rows.append(row("/healthz over HTTP", request_ms(url, key, "/healthz"), figures))
        title = f"{arguments.runs:,} runs, load {load_average()}"
        table(title, ["answer", "median ms", "worst ms"], rows)


if __name__ == "__main__":
    main()
