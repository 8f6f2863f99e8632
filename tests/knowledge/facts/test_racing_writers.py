"""Many writers of one subject at once, some of them cut short: what they leave is what one after the other would leave."""

import asyncio
import os
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from random import Random
from typing import Any

import psycopg
import pytest
from psycopg.errors import DeadlockDetected
from psycopg.sql import SQL
from support.verified_quotes import quoted

from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.embeddings import Embedder
from chiron_workers.knowledge.facts.claims import Claim
from chiron_workers.knowledge.facts.confidences import Confidences, status_of
from chiron_workers.runs.session import Session
from chiron_workers.store import Store

SEEDS = range(int(os.environ.get("CHIRON_RACE_SEEDS", "3")))
POOLS, POOL_SIZE, WRITERS = 3, 4, 12
NAMES = ("Tarbo", "Kolmi", "Vesta", "Runde")
# Of one bridge: what is one fact, in how many ways it is said and by how many sources; the two lengths contradict each other.
LENGTHS = {
    300: ("{name} bridge is 300 metres long.", "{name} bridge is 300 m long."),
    420: ("{name} bridge is 420 metres long.",),
}
SOURCES_OF_A_LENGTH = 4
PAINTED = "{name} bridge was painted {n} times."
APART = (
    "The Moon has no air.",
    "Bees dance to tell the way.",
    "Basalt is a volcanic rock.",
    "Latin has six cases.",
)
CUT_SHARE = 0.3  # of attempts
STOPS_S = 0.15  # within which a writer that is cut short is cut


@pytest.fixture
async def pools(database_url: str) -> AsyncIterator[list[Pool]]:
    """The connections of several processes."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(open_pool(database_url, size=POOL_SIZE, idle_s=2))
            for _ in range(POOLS)
        ]


@dataclass
class Race:
    """Writers that take the next claim until there is none; a claim whose writer is cut short is taken again."""

    pools: list[Pool]
    killers: Pool
    embedder: Embedder
    claims: list[Claim]
    random: Random
    ends: Counter[str] = field(default_factory=Counter)

    async def run(self) -> None:
        async with asyncio.timeout(300), asyncio.TaskGroup() as group:
            for n in range(WRITERS):
                group.create_task(self._write(self.pools[n % len(self.pools)]))

    async def _write(self, pool: Pool) -> None:
        while self.claims:
            claim = self.claims.pop()
            end = (
                self.random.choice(("cancelled", "killed", "failed"))
                if self.random.random() < CUT_SHARE
                else "stored"
            )
            attempt = asyncio.create_task(self._store(pool, claim, end))
            if end == "cancelled":
                await asyncio.wait({attempt}, timeout=self.random.uniform(0, STOPS_S))
                attempt.cancel()
            outcome = (await asyncio.gather(attempt, return_exceptions=True))[0]
            self.ends[end] += 1
            assert not isinstance(outcome, DeadlockDetected)
            if isinstance(outcome, BaseException):
                assert end != "stored", repr(outcome)
                self.claims.insert(0, claim)

    async def _store(self, pool: Pool, claim: Claim, end: str) -> None:
        async with Store(Session(pool), self.embedder) as store:
            await store.facts.add(claim)
            if end == "failed":
                raise ZeroDivisionError
            if end == "killed":
                connection = await store.session.begin()
                async with self.killers.connection() as killer:
                    await killer.execute("select pg_terminate_backend(%s)", [connection.info.backend_pid])
                with pytest.raises(psycopg.OperationalError):
                    await connection.execute("select 1")
                raise ZeroDivisionError


async def planted(pool: Pool) -> list[Claim]:
    claims = [await quoted(pool, content) for content in APART]
    for name in NAMES:
        for contents in LENGTHS.values():
            for n in range(SOURCES_OF_A_LENGTH):
                content = contents[n % len(contents)].format(name=f"The {name}")
                url = f"https://{name}-{len(claims)}.example/"
                claims.append(await quoted(pool, content, source_url=url))
        claims += [
            await quoted(
                pool, PAINTED.format(name=f"The {name}", n=n), source_url=f"https://paint-{name}.example/{n}"
            )
            for n in range(1, 3)
        ]
    return claims


async def rows(pool: Pool, query: str) -> list[dict[str, Any]]:
    return await Session(pool).rows(SQL(query))


@pytest.mark.parametrize("seed", SEEDS)
async def test_racing_writers_leave_what_writers_in_turn_would_leave(
    pool: Pool, pools: list[Pool], embedder: Embedder, seed: int
) -> None:
    random = Random(seed)
    claims = await planted(pool)
    random.shuffle(claims)
    race = Race(pools, pool, embedder, list(claims), random)
    await race.run()
    assert race.ends["stored"] >= len(claims) // 2
    await check_facts(pool, claims)
    await check_contradictions(pool)
    await check_confidences(pool)
    orphans = await rows(pool, "select 1 from fact_intents")
    assert len(orphans) <= race.ends["killed"]


async def check_facts(pool: Pool, claims: list[Claim]) -> None:
    """One fact for all that says the same, and each source once."""
    sources_of = defaultdict(set)
    for row in await rows(pool, "select fact_id, content, source_url from assertions"):
        sources_of[row["fact_id"]].add((row["content"], row["source_url"]))
    assert len(sources_of) == len({claim.content.replace(" m ", " metres ") for claim in claims})
    stored = sorted(source for sources in sources_of.values() for source in sources)
    assert stored == sorted((claim.content, claim.source_url) for claim in claims)
    assert len(await rows(pool, "select 1 from vectors_1")) == len(sources_of)


async def check_contradictions(pool: Pool) -> None:
    """Both lengths of each bridge are linked."""
    pairs = await rows(
        pool,
        """
        select f.content, o.content as other
          from fact_links l join facts f on f.id = l.fact_id join facts o on o.id = l.other_id
         where l.relation = 'contradicts' and f.content ~ 'long' and o.content ~ 'long'
        """,
    )
    assert sorted(pair["content"].split()[1] for pair in pairs) == sorted(NAMES)
    assert all(pair["content"].split()[1] == pair["other"].split()[1] for pair in pairs)


async def check_confidences(pool: Pool) -> None:
    """What is stored of each fact is what its sources and links give."""
    facts = {row["id"]: row for row in await rows(pool, "select id::text, confidence, status from facts")}
    for fact_id, confidence in (await Confidences(Session(pool)).of(list(facts))).items():
        assert facts[fact_id]["confidence"] == pytest.approx(confidence.value, abs=1e-6)
        assert facts[fact_id]["status"] == status_of(confidence)
    vectors = await rows(pool, "select fact_id::text, confidence, status from vectors_1")
    assert {row["fact_id"]: (row["confidence"], row["status"]) for row in vectors} == {
        fact_id: (row["confidence"], row["status"]) for fact_id, row in facts.items()
    }
