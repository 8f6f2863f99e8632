"""Facts of one subject from many runs: `uv run python benchmarks/fact_writers.py [--runs 24] [--facts 480]`.

The runs of one process store facts of one subject through the real toolbox, tool and journal, each call with its
embedding: at the speed of this disk, and with commits that take 20 ms, as with a synchronous standby or a disk on the
network. Some of the facts are said by several runs, so that they are joined. A run that is alone, through a relay that
counts, says how many statements and round trips a call makes.
"""

import argparse
import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from random import Random

import psycopg
import uvloop
from cpu import cpu_of, load_average, spent
from figures import begin, table
from psycopg import sql
from relay import Relay
from services import Services, services

from chiron_workers.agent.toolbox import Toolbox
from chiron_workers.batches.dispatch import dispatch_next
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.db.connect import open_pool
from chiron_workers.embeddings import Embedder, open_embedder
from chiron_workers.model import Model
from chiron_workers.model.admission import Admission
from chiron_workers.runs.entries import ToolCall
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run, acquire
from chiron_workers.runs.session import Caller, Session
from chiron_workers.runs.turns import Turn
from chiron_workers.settings import OFFLINE_MODEL
from chiron_workers.sources.sources import Page, Sources
from chiron_workers.telemetry.logs import log_to_stderr
from chiron_workers.toolkit.registry import Registry
from chiron_workers.tools.knowledge import store_knowledge
from chiron_workers.worker.memory import spare_start_up

SUBJECT = "Landmarks"
LEASE = timedelta(minutes=10)
PLACES = ("lighthouse", "bridge", "abbey", "mill", "quarry", "observatory", "harbour", "tunnel")
SENTENCES = (
    "The {name} {place} was opened in {year}.",
    "Builders of the {name} {place} used {count} tons of granite.",
    "A fire in {year} destroyed the roof of the {name} {place}.",
    "The {name} {place} stands {count} metres above the sea.",
    "In {year} the county sold the {name} {place} to a family of brewers.",
    "Engineers measure the cracks of the {name} {place} {count} times a year.",
)


@dataclass(frozen=True, slots=True)
class Pace:
    """How many facts a second became durable, and the CPU of one in milliseconds."""

    facts_per_s: float
    client_ms: float
    postgres_ms: float
    joined: int


@dataclass(frozen=True, slots=True)
class Calls:
    """What one call sends: statements, and times that it waits for an answer."""

    statements: float
    round_trips: float
    client_ms: float
    embedding_ms: float


@dataclass(frozen=True, slots=True)
class Writers:
    """Runs that hold their leases, and a page for each, which says everything that any run will store."""

    toolbox: Toolbox
    runs: Sequence[Run]

    async def store(self, run: Run, n: int, facts: Sequence[str]) -> int:
        """Have a run store facts, the calls of one reply; how many were known."""
        calls = [
            ToolCall(f"call_{n}_{place}", "store_knowledge", _arguments(run, fact))
            for place, fact in enumerate(facts)
        ]
        turn = Turn(call.id for call in calls)
        results = await asyncio.gather(
            *(self.toolbox.call(run, n, call, is_fresh=True, turn=turn) for call in calls)
        )
        assert not any(result.is_error for result in results), [result.text for result in results]
        return sum('"joined"' in result.text for result in results)


def _arguments(run: Run, fact: str) -> dict[str, object]:
    return {
        "content": fact,
        "subject_id": run.subject_id,
        "source_url": _url(run),
        "source_score": 0.9,
        "topic_path": "landmarks/history",
        "confidence": 0.9,
        "quote": fact,
    }


def _url(run: Run) -> str:
    return f"https://site-{run.id.hex[-8:]}.example/landmarks"


def sentences(random: Random, count: int) -> list[str]:
    """Facts about landmarks that are not there, no two about one."""
    syllables = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
    names = {"".join(random.choices(syllables, k=3)).title(): None for _ in range(2 * count)}
    return [
        random.choice(SENTENCES).format(
            name=name,
            place=random.choice(PLACES),
            year=random.randrange(1500, 1990),
            count=random.randrange(20, 900),
        )
        for name in list(names)[:count]
    ]


@asynccontextmanager
async def writers(
    at: Services, url: str, embedder: Embedder, *, runs: int, facts: Sequence[str]
) -> AsyncIterator[Writers]:
    """Runs of one batch, each with a page that holds all facts."""
    async with AsyncExitStack() as stack:
        size = at.settings.pool_size // 2
        core, tools = [await stack.enter_async_context(open_pool(url, size=size)) for _ in range(2)]
        registry = Registry()
        registry.register(store_knowledge)
        traffic = Admission(at.settings)
        stack.push_async_callback(traffic.close)
        model = Model(at.settings, traffic, base_url="http://127.0.0.1:9", api_key="benchmark")
        stack.push_async_callback(model.close)
        journal = Journal(core, lambda _: None, lease_for=LEASE)
        toolbox = Toolbox(registry, journal, tools, embedder, at.settings, lambda _: model)
        new_runs = [NewRun(f"landmark {n}", "research", SUBJECT, OFFLINE_MODEL, 1_000) for n in range(runs)]
        run_ids = (await submit(core, NewBatch(new_runs, SUBJECT))).run_ids
        await dispatch_next(core, room=lambda: runs, redispatch_after=LEASE, model_limits={})
        taken = [await acquire(core, run_id, worker="benchmark", lease_for=LEASE) for run_id in run_ids]
        leased = [lease[0] for lease in taken if lease is not None]
        assert len(leased) == runs
        for run in leased:
            async with Session(core, Caller(run_id=run.id, batch_id=run.batch_id)) as session:
                await Sources(session).save(Page(_url(run), "\n\n".join(facts), "text/plain"))
        yield Writers(toolbox, leased)


async def pace(
    at: Services, embedder: Embedder, *, runs: int, facts: int, calls: int, shared: float, seed: int
) -> Pace:
    """How fast runs store facts side by side, each run `calls` in a reply."""
    random = Random(seed)
    distinct = sentences(random, facts)
    work = [
        random.choice(distinct[:place]) if place and random.random() < shared else fact
        for place, fact in enumerate(distinct)
    ]
    async with writers(at, at.settings.database_url, embedder, runs=runs, facts=distinct) as ready:

        async def write(place: int) -> int:
            mine, run = work[place::runs], ready.runs[place]
            return sum([await ready.store(run, n, mine[n : n + calls]) for n in range(0, len(mine), calls)])

        await ready.store(ready.runs[0], 1_000_000, [distinct[0]])
        before, began, cpu = cpu_of(at.postgres), time.perf_counter(), time.process_time()
        joined = sum(await asyncio.gather(*map(write, range(runs))))
        seconds, client, after = time.perf_counter() - began, time.process_time() - cpu, cpu_of(at.postgres)
    each_ms = 1_000 / facts
    return Pace(facts / seconds, client * each_ms, spent(before, after) * each_ms, joined)


async def count_calls(at: Services, embedder: Embedder, *, facts: int, seed: int) -> Calls:
    """What a call of a run that is alone sends, and its CPU, in a subject that has neighbours of its fact."""
    texts = sentences(Random(seed), 3 * facts)
    relay = Relay(at.settings.database_url)
    async with relay, writers(at, relay.url, embedder, runs=1, facts=texts) as ready:
        (run,) = ready.runs
        for n, text in enumerate(texts[:facts]):
            await ready.store(run, n, [text])
        before = relay.counts()
        for n, text in enumerate(texts[facts : 2 * facts], facts):
            await ready.store(run, n, [text])
        after = relay.counts()
    async with writers(at, at.settings.database_url, embedder, runs=1, facts=texts) as ready:
        (run,) = ready.runs
        await ready.store(run, 1, texts[:1])
        cpu = time.process_time()
        for n, text in enumerate(texts[2 * facts :], 2):
            await ready.store(run, n, [text])
        client = time.process_time() - cpu
    cpu = time.process_time()
    for text in texts[2 * facts :]:
        await embedder.embed([text])
    embedding = time.process_time() - cpu
    statements, round_trips = ((late - early) / facts for early, late in zip(before, after, strict=True))
    return Calls(statements, round_trips, 1_000 * client / facts, 1_000 * embedding / facts)


def delay_commits(at: Services, ms: int) -> None:
    """Have every commit that waits for the disk wait so much longer."""
    with psycopg.connect(at.settings.database_url, autocommit=True) as connection:
        for name, value in {"commit_delay": 1_000 * ms, "commit_siblings": 0}.items():
            connection.execute(
                sql.SQL("alter system set {} = {}").format(sql.Identifier(name), sql.Literal(value))
            )
        connection.execute("select pg_reload_conf()")


async def measure(arguments: argparse.Namespace, at: Services) -> tuple[Calls, dict[int, list[Pace]]]:
    embedder = open_embedder(at.settings)
    try:
        await embedder.embed(["The model is loaded."])
        spare_start_up()
        calls = await count_calls(at, embedder, facts=arguments.facts // 10, seed=1)
        paces: dict[int, list[Pace]] = {ms: [] for ms in arguments.commit_ms}
        for repeat in range(arguments.repeats):
            for ms, found in paces.items():
                delay_commits(at, ms)
                options = {"runs": arguments.runs, "facts": arguments.facts, "calls": arguments.calls}
                found.append(
                    await pace(at, embedder, **options, shared=arguments.shared, seed=100 * ms + repeat + 2)
                )
        return calls, paces
    finally:
        await embedder.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=24)
    parser.add_argument("--facts", type=int, default=480)
    parser.add_argument("--calls", type=int, default=2, help="Facts of one reply.")
    parser.add_argument(
        "--shared", type=float, default=0.1, help="Share of facts that a run before has stored."
    )
    parser.add_argument("--commit-ms", type=int, nargs="+", default=[0, 20])
    parser.add_argument("--repeats", type=int, default=3)
    with begin(parser) as (arguments, report), services() as at:
        log_to_stderr("warning")
        calls, paces = uvloop.run(measure(arguments, at))  # as a worker does
        report.figures = {"a call": [asdict(calls)]}
        report.figures |= {
            f"commits +{ms} ms": [asdict(each) for each in found] for ms, found in paces.items()
        }
        for name, found in report.figures.items():
            columns = list(found[0])
            rows = [
                [str(n), *(f"{each[column]:.1f}" for column in columns)] for n, each in enumerate(found, 1)
            ]
            table(f"{name}, load {load_average()}", ["", *columns], rows)


if __name__ == "__main__":
    main()
