from collections.abc import AsyncIterator, Callable

import psycopg
import pytest
from psycopg import sql
from support.research_rows import Shelf

from chiron_workers import ids
from chiron_workers.db.connect import Pool, open_pool

TEXT = "Ice is cold. In winter 2023 the mean thickness was 1.9 metres. It is not effective against heat. Older ice is thicker."


@pytest.fixture
async def other_home(postgres: str) -> AsyncIterator[Pool]:
    """A migrated database with nothing in it, beside the test's own."""
    name = f"o_{ids.new_id().hex}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(
            sql.SQL("create database {} template chiron_template").format(sql.Identifier(name))
        )
    async with open_pool(postgres.replace("/postgres?", f"/{name}?"), size=3) as opened:
        yield opened
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@pytest.fixture
def library(shelf: Shelf) -> Shelf:
    """Facts with everything that can hang on them; their confidences are those that are computed of them."""
    shelf.subject("sea-ice", "Sea ice", "Know it =all=,\nall of it.")
    shelf.subject("birds", "Birds")
    mean = shelf.fact(
        "sea-ice", "=SUM(A) is no formula; the ice was 1.9 m thick.", "https://a.org/ice", "thickness/arctic",
        quote="In winter 2023 the mean thickness was 1.9 metres.", text=TEXT, confidence=0.45, status="disputed",
    )  # fmt: skip
    other = shelf.fact(
        "sea-ice", "'+ more', it says,\nand \"more\".", "https://c.org/sonar", quote="Older ice is thicker.", text=TEXT,
        contradictions='["Some say it is 3 m."]', confidence=0.45, status="disputed",
    )  # fmt: skip
    shelf.fact(
        "birds",
        "@ducks dive.",
        "corpus://birds/ducks.md",
        confidence=0.5,
        status="candidate",
        claimed_confidence=None,
    )
    shelf.fact("birds", "-1 duck", "javascript:alert(1)", status="withdrawn")
    shelf.confirm(mean, "\tThickness: 1.9 m.", "https://a.org/more", quote="thickness was 1.9 m")
    shelf.link(other, mean, "contradicts", decided_by="model", reason="=2.4 is not 1.9")
    shelf.change(mean)
    shelf.change(mean, confidence=0.1, reason="-")
    return shelf


@pytest.fixture
def rows() -> Callable[[Pool, str], object]:
    async def read(pool: Pool, query: str) -> list[dict]:
        async with pool.connection() as connection:
            return await (await connection.execute(query)).fetchall()

    return read
