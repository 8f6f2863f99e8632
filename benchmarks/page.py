"""The page with much behind it: `uv run python benchmarks/page.py [--runs N] [--facts N] [--events N] [--repeats N]`.

First each view as a browser asks for it and each report as it is downloaded: time, CPU of API and Postgres, and bytes,
with the time of `/healthz` as the floor in the same run. The routes of the page say which views there are, so a new one is
measured without an edit here. Then the pages of the batch and of a run stay open in headless Chromium while events and facts
arrive: the longest task of the browser's main thread, as its own PerformanceObserver tells it.
"""

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from shutil import which
from statistics import median
from typing import Any
from uuid import UUID

import httpx2
import psutil
from cpu import Times, cpu_of, load_average, spent
from figures import Figures, begin, table
from playwright.async_api import async_playwright
from services import Services, services
from starlette.routing import Route

from chiron_api.http.page.forms import FORM_BYTES_MAX
from chiron_api.http.page.routes import all_routes
from chiron_api.local_stack.access import api_key
from chiron_api.local_stack.ports import free_port
from chiron_api.reports.formats import DocumentName
from chiron_workers.db.connect import Pool, fetch_all, open_pool
from chiron_workers.db.queries import load
from chiron_workers.ids import new_id
from chiron_workers.pubsub.publisher import Publisher
from chiron_workers.runs import partitions
from chiron_workers.runs.events import Event

SQL = load(__file__)
VIEW_MS_MAX, REPORT_S_MAX = 60, 0.5  # the aims, of medians
WARM_UPS = 2  # requests that are not counted: the first ones compile a view's template and plan its queries
LIVE, ASSETS = "live", "/assets/"  # in the addresses of streams, which never end, and of files
COMPARISON = "/diff"  # of two batches
BROWSER_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
# Tasks of 50 ms and more, the shortest that a browser tells of; what loading the page took does not count.
WATCH = """
window.longTasks = [];
new PerformanceObserver((list) => longTasks.push(...list.getEntries().map((entry) => entry.duration)))
  .observe({type: "longtask"});
"""


@dataclass(frozen=True, slots=True)
class World:
    """What was written: the batch, its open run, one of its facts, and batches that ended before and after these."""

    batch_id: UUID
    run_id: UUID
    fact_id: UUID
    earlier_id: UUID
    later_id: UUID

    def views(self) -> "Views":
        """The address of each view and of each report, as the routes of the page have them."""
        ids = {"batches": self.batch_id, "runs": self.run_id, "facts": self.fact_id, "subjects": "benchmark"}
        views = Views()
        for route in all_routes():
            assert isinstance(route, Route)
            if "GET" not in (route.methods or ()) or route.path.startswith(ASSETS):
                continue
            path = route.path.replace("{id}", str(ids.get(route.path.split("/")[1], "{id}")))
            if path.endswith(".{format}") and "{id}" not in path:
                views.reports += [path.replace("{format}", name) for name in DocumentName]
            elif path.endswith(COMPARISON):
                views.pages.append(f"/batches/{self.later_id}{COMPARISON}?against={self.earlier_id}")
            elif "{" in path or LIVE in path.split("/"):
                views.left_out.append(route.path)
            else:
                views.pages.append(path)
        batch = f"/batches/{self.batch_id}"
        views.pages += [
            f"{batch}?order=cost&page=100", f"{batch}?nothing_found=true", f"{batch}/report?page=100",
            "/search?q=weighs+4711&mode=text", "/runs?topic=no+topic+has+it&subject=benchmark", "/costs?since=365d",
        ]  # fmt: skip
        return views

    def name(self, path: str) -> str:
        """An address without its ids."""
        for each in (self.batch_id, self.run_id, self.fact_id, self.earlier_id, self.later_id):
            path = path.replace(str(each), "ID")
        return path


@dataclass(slots=True)
class Views:
    """Addresses. `left_out` are streams, and views of what is not in the world."""

    pages: list[str] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def leave_out_absent(self, url: str, key: str) -> None:
        """Leave out the pages that answer 404: a batch without tables, say."""
        with httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=120) as client:
            absent = [path for path in self.pages if client.get(path).status_code == HTTPStatus.NOT_FOUND]
        self.pages = [path for path in self.pages if path not in absent]
        self.left_out += absent


async def make_world(pool: Pool, *, runs: int, facts: int, events: int) -> World:
    """Write a batch of so many runs with so many facts, and a run of it that has had so many events."""
    batch_id, earlier_id, later_id = new_id(), new_id(), new_id()
    run_ids, fact_ids = [new_id() for _ in range(runs)], [new_id() for _ in range(facts)]
    await partitions.ensure(pool, [batch_id])
    ids = {"batch_id": batch_id, "run_ids": run_ids, "fact_ids": fact_ids, "runs": runs}
    ids |= {"earlier_id": earlier_id, "later_id": later_id}
    for query in ("subject", "batch", "runs", "facts", "ended_batches"):
        async with pool.connection() as connection:
            await connection.execute(SQL[query], ids)
    await fetch_all(pool, SQL["events"], {"run_id": run_ids[0], "events": events})
    async with pool.connection() as connection:
        await connection.execute("analyze")
    return World(batch_id, run_ids[0], fact_ids[-1], earlier_id, later_id)


def measure(
    at: Services, url: str, world: World, paths: Sequence[str], *, repeats: int, figures: Figures
) -> list[list[str]]:
    """What each address takes: median and worst time, CPU of the API and of Postgres for an answer, and its size."""
    rows, headers = [], {"Authorization": f"Bearer {api_key(at.settings)}"}
    with httpx2.Client(base_url=url, headers=headers, timeout=120) as client:
        for path in paths:
            for _ in range(WARM_UPS):
                answer = client.get(path)
                assert answer.status_code == 200, f"{path}: {answer.status_code}"
            before, times = _cpu(at), []
            for _ in range(repeats):
                began = time.perf_counter()
                client.get(path)
                times.append((time.perf_counter() - began) * 1_000)
            api_ms, postgres_ms = (
                spent(*pair) * 1_000 / repeats for pair in zip(before, _cpu(at), strict=True)
            )
            name, size = world.name(path), len(answer.content) / 1024
            figures[name] = [
                {
                    "ms": round(median(times), 1),
                    "api_cpu_ms": round(api_ms, 1),
                    "postgres_cpu_ms": round(postgres_ms, 1),
                    "kb": round(size, 1),
                }
            ]
            parts = (median(times), max(times), api_ms, postgres_ms, size)
            rows.append([name, *(f"{part:,.0f}" for part in parts)])
    return rows


def _cpu(at: Services) -> tuple[Times, Times]:
    """Seconds so far of the API, which is the only child that answers requests, and of Postgres."""
    postgres = cpu_of(at.postgres)
    children = cpu_of(*psutil.Process().children())
    return {pid: seconds for pid, seconds in children.items() if pid not in postgres}, postgres


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
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--rate", type=float, default=50.0, help="Events a second while the browser looks.")
    parser.add_argument("--seconds", type=float, default=20.0)
    with begin(parser) as (arguments, report), services() as at:
        size = {"runs": arguments.runs, "facts": arguments.facts, "events": arguments.events}
        world = asyncio.run(_prepare(at, **size))
        with api(at) as url:
            wait_for(url)
            views, repeats = world.views(), arguments.repeats
            views.leave_out_absent(url, api_key(at.settings))
            columns = ["", "median ms", "worst ms", "CPU of the API, ms", "CPU of Postgres, ms", "KB"]
            paths = ["/healthz", *views.pages]
            rows = measure(at, url, world, paths, repeats=repeats, figures=report.figures)
            table(f"Views, aim {VIEW_MS_MAX} ms, load {load_average()}", columns, rows)
            rows = measure(
                at, url, world, views.reports, repeats=max(1, repeats // 4), figures=report.figures
            )
            table(f"Reports, aim {REPORT_S_MAX * 1_000:.0f} ms, load {load_average()}", columns, rows)
            print("Not measured:", *sorted({world.name(path) for path in views.left_out}))
            rows = asyncio.run(measure_floor(url, api_key(at.settings), report.figures))
            table(f"Beside much work, load {load_average()}", ["work", "s", "worst /healthz, ms"], rows)
            if which("chromium"):
                pace = {"rate": arguments.rate, "seconds": arguments.seconds}
                rows = asyncio.run(measure_browser(at, url, world, **pace, figures=report.figures))
                title = f"Browser while {arguments.rate:g} events a second arrive, load {load_average()}"
                table(title, ["page", "tasks of 50 ms and more", "longest ms", "elements"], rows)


if __name__ == "__main__":
    main()
