"""The page with much behind it: `uv run python benchmarks/page.py [--runs N] [--facts N] [--events N] [--json FILE]`.

First each view as a browser asks for it, its time and its bytes, with the time of `/healthz` as the floor in the same run; then
the pages of the batch and of a run open in headless Chromium while events and facts arrive: the longest task of the browser's
main thread, as its own PerformanceObserver tells it.
"""

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from shutil import which
from statistics import median
from typing import Any
from uuid import UUID

import httpx2
from cpu import load_average
from figures import Figures, begin, table
from playwright.async_api import async_playwright
from services import Services, services

from chiron_api.http.page.forms import FORM_BYTES_MAX
from chiron_api.local_stack.access import api_key
from chiron_api.local_stack.ports import free_port
from chiron_workers.db.connect import Pool, fetch_all, open_pool
from chiron_workers.db.queries import load
from chiron_workers.ids import new_id
from chiron_workers.pubsub.publisher import Publisher
from chiron_workers.runs import partitions
from chiron_workers.runs.events import Event

SQL = load(__file__)
REPEATS = 7
BROWSER_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
# Tasks of 50 ms and more, the shortest that a browser tells of; what loading the page took does not count.
WATCH = """
window.longTasks = [];
new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((entry) => entry.duration)))
  .observe({type: "longtask"});
"""


@dataclass(frozen=True, slots=True)
class World:
    """What was written: the batch, its run that goes on, and one of its facts."""

    batch_id: UUID
    run_id: UUID
    fact_id: UUID

    def views(self) -> list[str]:
        """The address of each view."""
        batch, run = f"/batches/{self.batch_id}", f"/runs/{self.run_id}"
        subject = "/subjects/benchmark"
        return [
            "/", "/submit", "/batches", batch, f"{batch}?order=cost&page=100", f"{batch}/report", run,
            "/runs", "/runs?topic=no+topic+has+it&subject=benchmark",
            f"/facts/{self.fact_id}", "/search", "/search?q=weighs+4711&mode=text", "/subjects", subject,
            f"{subject}/sources", f"{subject}/learn", f"{subject}/changes", "/costs?since=365d", "/system", "/docs",
        ]  # fmt: skip


async def make_world(pool: Pool, *, runs: int, facts: int, events: int) -> World:
    """Write a batch of so many runs with so many facts, and a run of it that has had so many events."""
    batch_id = new_id()
    run_ids, fact_ids = [new_id() for _ in range(runs)], [new_id() for _ in range(facts)]
    await partitions.ensure(pool, [batch_id])
    ids = {"batch_id": batch_id, "run_ids": run_ids, "fact_ids": fact_ids, "runs": runs}
    for query in ("subject", "batch", "runs", "facts"):
        async with pool.connection() as connection:
            await connection.execute(SQL[query], ids)
    await fetch_all(pool, SQL["events"], {"run_id": run_ids[0], "events": events})
    async with pool.connection() as connection:
        await connection.execute("analyze")
    return World(batch_id, run_ids[0], fact_ids[-1])


def measure_views(url: str, key: str, world: World, figures: Figures) -> list[list[str]]:
    """The median time and the size of each view."""
    rows = []
    with httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
        for path in ["/healthz", *world.views()]:
            times, size = [], 0
            for _ in range(REPEATS):
                began = time.perf_counter()
                answer = client.get(path)
                times.append((time.perf_counter() - began) * 1_000)
                assert answer.status_code == 200, f"{path}: {answer.status_code}"
                size = len(answer.content)
            name = path.replace(str(world.batch_id), "ID").replace(str(world.run_id), "ID")
            name = name.replace(str(world.fact_id), "ID")
            figures[name] = [{"ms": round(median(times), 1), "kb": round(size / 1024, 1)}]
            rows.append([name, f"{median(times):.0f}", f"{max(times):.0f}", f"{size / 1024:.0f}"])
    return rows


async def measure_floor(url: str, key: str, figures: Figures) -> list[list[str]]:
    """How long `/healthz` takes at most while a form of 16 MB is read, and while sixty ask for the reference at once."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    body = b"subject=Physics&topics=" + b"%C3%BC" * ((FORM_BYTES_MAX - 100) // 6)
    rows = []
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=60) as client:
        works: dict[str, list[Coroutine[Any, Any, httpx2.Response]]] = {
            "a form of 16 MB": [client.post("/submit/estimate", content=body, headers=form)],
            "/docs, sixty at once": [client.get("/docs") for _ in range(60)],
        }
        for name, requests in works.items():
            began, worst_s = time.perf_counter(), 0.0
            answers = asyncio.gather(*requests)
            while not answers.done():
                sent = time.perf_counter()
                await client.get("/healthz")
                worst_s = max(worst_s, time.perf_counter() - sent)
            assert {answer.status_code for answer in answers.result()} == {200}
            total_s = time.perf_counter() - began
            figures[f"/healthz, {name}"] = [{"worst_ms": round(worst_s * 1_000), "s": round(total_s, 2)}]
            rows.append([name, f"{total_s:.1f}", f"{worst_s * 1_000:.0f}"])
    return rows


async def measure_browser(
    at: Services, url: str, world: World, *, rate: float, seconds: float, figures: Figures
) -> list[list[str]]:
    """The longest task of the browser while events arrive, on the page of the batch and on that of the run."""
    rows = []
    async with open_pool(at.settings.database_url, size=4) as pool, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=which("chromium"), args=BROWSER_FLAGS)
        for name, path in (("batch", f"/batches/{world.batch_id}"), ("run", f"/runs/{world.run_id}")):
            context = await browser.new_context(
                extra_http_headers={"Authorization": f"Bearer {api_key(at.settings)}"}
            )
            page = await context.new_page()
            await page.goto(url + path)
            await page.wait_for_timeout(2_000)
            await page.evaluate(WATCH)
            await stream_events(at, pool, world, rate=rate, seconds=seconds)
            await page.wait_for_timeout(2_000)
            tasks = await page.evaluate("longTasks")
            counts = await page.evaluate("[...document.querySelectorAll('#facts > *, #story > *')].length")
            figures[f"browser, {name}"] = [{"longest_ms": max(tasks, default=0), "tasks": len(tasks)}]
            rows.append([name, f"{len(tasks)}", f"{max(tasks, default=0):.0f}", f"{counts}"])
            await context.close()
        await browser.close()
    return rows


async def stream_events(at: Services, pool: Pool, world: World, *, rate: float, seconds: float) -> None:
    """Commit and publish events of the run at a steady rate, each tenth with a fact."""
    publisher, begin_at = Publisher(at.settings.redis_url), time.monotonic()
    for n in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, begin_at + n / rate - time.monotonic()))
        if n % 10 == 0:
            fact = {"id": new_id(), "n": f"{begin_at:.0f}-{n}", "run_id": world.run_id}
            async with pool.connection() as connection:
                await connection.execute(SQL["fact_for"], fact)
        for row in await fetch_all(pool, SQL["events"], {"run_id": world.run_id, "events": 1}):
            publisher.publish(Event(**row))
    await publisher.close()


@contextmanager
def api(at: Services) -> Iterator[str]:
    """The address of an API that answers, a process of its own."""
    port = free_port()
    command = [sys.executable, "-m", "chiron_api", "api", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=at.folder) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def wait_for(url: str) -> None:
    """Return once it answers."""
    while True:  # ends: the process starts, or the request after this loop says why not
        try:
            httpx2.get(f"{url}/healthz", timeout=5)
        except httpx2.TransportError:
            time.sleep(0.2)
        else:
            return


async def _prepare(at: Services, **size: int) -> World:
    async with open_pool(at.settings.database_url, size=2) as pool:
        return await make_world(pool, **size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--events", type=int, default=5_000)
    parser.add_argument("--rate", type=float, default=50.0, help="Events a second while the browser looks.")
    parser.add_argument("--seconds", type=float, default=20.0)
    with begin(parser) as (arguments, report), services() as at:
        size = {"runs": arguments.runs, "facts": arguments.facts, "events": arguments.events}
        world = asyncio.run(_prepare(at, **size))
        with api(at) as url:
            wait_for(url)
            rows = measure_views(url, api_key(at.settings), world, report.figures)
            load = load_average()
            table(f"Views, load {load}", ["view", "median ms", "worst ms", "KB"], rows)
            rows = asyncio.run(measure_floor(url, api_key(at.settings), report.figures))
            table(f"Beside much work, load {load_average()}", ["work", "s", "worst /healthz, ms"], rows)
            if which("chromium"):
                pace = {"rate": arguments.rate, "seconds": arguments.seconds}
                rows = asyncio.run(measure_browser(at, url, world, **pace, figures=report.figures))
                title = f"Browser while {arguments.rate:g} events a second arrive, load {load_average()}"
                table(title, ["page", "tasks of 50 ms and more", "longest ms", "elements"], rows)


if __name__ == "__main__":
    main()
