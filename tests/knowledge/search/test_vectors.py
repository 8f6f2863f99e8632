import asyncio
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest
from psycopg import sql

from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder, Space
from chiron_workers.ids import new_id
from chiron_workers.knowledge.search.filters import Filters, build_condition
from chiron_workers.knowledge.search.search import SQL, Search
from chiron_workers.knowledge.search.vectors import Vectors, halfvec_text
from chiron_workers.runs.session import Session
from chiron_workers.states import SearchMode

SUBJECTS = ("moon", "mars", "venus")
COUNT = 3_000
Row = tuple[UUID, str, str, float, Any]  # id, subject, status, confidence, vector


def rows(dimensions: int) -> list[Row]:
    """Facts of three subjects; one in seven is a candidate, one in eleven withdrawn."""
    random = np.random.default_rng(7)
    vectors = random.normal(size=(COUNT, dimensions)).astype(np.float16)
    statuses = [
        "withdrawn" if n % 11 == 0 else "candidate" if n % 7 == 0 else "accepted" for n in range(COUNT)
    ]
    return [(new_id(), SUBJECTS[n % 3], statuses[n], (n % 100) / 100, vectors[n]) for n in range(COUNT)]


def fill(database_url: str, table: str, made: list[Row]) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.executemany(
            "insert into subjects (id, title) values (%s, %s)", [(one, one) for one in SUBJECTS]
        )
        columns = "id, subject_id, status, confidence, content, source_url, source_score, topic_path"
        with cursor.copy(f"copy facts ({columns}) from stdin") as copy:
            for fact_id, subject, status, confidence, _ in made:
                copy.write_row(
                    (fact_id, subject, status, confidence, f"Fact {fact_id}", "https://a.example", 1, "all")
                )
        with cursor.copy(
            f"copy {table} (fact_id, subject_id, status, confidence, embedding) from stdin"
        ) as copy:
            for fact_id, subject, status, confidence, vector in made:
                copy.write_row((fact_id, subject, status, confidence, halfvec_text(vector.tolist())))
        cursor.execute(f"vacuum analyze {table}")  # type: ignore[call-overload]


@pytest.fixture
async def filled(pool: Pool, embedder: Embedder, database_url: str) -> list[Row]:
    made = rows(embedder.space.dimensions)
    table = await Vectors(Session(pool), embedder.space).ensure()
    await asyncio.to_thread(fill, database_url, table.as_string().strip('"'), made)
    return made


def ranked(made: list[Row], query: list[float]) -> list[str]:
    """Brute force: every given fact, nearest first."""
    wanted = np.array(query, dtype=np.float16).astype(np.float64)
    vectors = np.array([vector for *_, vector in made], dtype=np.float64)
    scores = vectors @ wanted / np.linalg.norm(vectors, axis=1) / np.linalg.norm(wanted)
    return [str(made[place][0]) for place in np.argsort(-scores)]


async def test_a_search_returns_exactly_what_brute_force_does(
    pool: Pool, embedder: Embedder, filled: list[Row]
) -> None:
    search = Search(Session(pool), embedder)
    [query] = await embedder.embed(["craters on the far side"], query=True)
    for subject, confidence, hidden in (
        ("moon", 0.0, False),
        ("mars", 0.7, False),
        ("venus", 0.3, True),
        (None, 0, False),
    ):
        shown = {"accepted", "candidate"} if hidden else {"accepted"}
        visible = [
            row
            for row in filled
            if row[1] == (subject or row[1]) and row[2] in shown and row[3] >= confidence
        ]
        filters = Filters(subject, confidence, hidden)
        found = await search.find(
            "craters on the far side", filters=filters, limit=50, mode=SearchMode.VECTOR
        )
        assert [fact["id"] for fact in found] == ranked(visible, query)[:50]
        assert [fact["score"] for fact in found] == sorted((fact["score"] for fact in found), reverse=True)


async def test_a_search_reads_only_its_subject_and_only_the_index(
    pool: Pool, embedder: Embedder, filled: list[Row]
) -> None:
    vectors = Vectors(Session(pool), embedder.space)
    table = await vectors.table()
    assert table
    wanted = await build_condition(vectors.session, Filters("moon", 0.5))
    statement = SQL["nearest_exactly"].format(table=table, condition=wanted.vector_clause)
    args = wanted.args | {"vector": halfvec_text([1.0] * embedder.space.dimensions), "depth": 5}
    # As `chiron up` and docker-compose.yml set it: at 4, three subjects in 3,000 rows are not worth an index.
    await vectors.session.write(sql.SQL("set local random_page_cost = 1.1"))
    plan = "\n".join(
        row["QUERY PLAN"]
        for row in await vectors.session.rows(sql.SQL("explain (analyze, timing off) ") + statement, args)
    )
    assert f"Index Only Scan using {table.as_string().strip(chr(34))}_search" in plan
    assert "Heap Fetches: 0" in plan
    assert "Seq Scan" not in plan
    await vectors.session.rollback()


async def test_two_that_embed_for_the_first_time_share_one_table(pool: Pool) -> None:
    space = Space("test", "abc", 3)
    tables = await asyncio.gather(*(Vectors(Session(pool), space).ensure() for _ in range(4)))
    other = await Vectors(Session(pool), Space("test", "abc", 4)).ensure()
    assert len({table.as_string() for table in tables}) == 1
    assert other.as_string() != tables[0].as_string()
    assert len(await Session(pool).rows(sql.SQL("select * from embedding_spaces"))) == 2


async def test_the_widest_vector_that_is_allowed_fits_the_index(pool: Pool, database_url: str) -> None:
    table = await Vectors(Session(pool), Space("wide", "abc", 1024)).ensure()
    values = np.random.default_rng(1).normal(size=1024).tolist()
    row = (new_id(), "moon", "accepted", 1.0, np.array(values))
    await asyncio.to_thread(fill, database_url, table.as_string().strip('"'), [row])
    found = await Session(pool).row(sql.SQL("select count(*) from {}").format(table))
    assert found
    assert found["count"] == 1


async def test_a_space_that_was_never_written_to_has_no_table(pool: Pool) -> None:
    assert await Vectors(Session(pool), Space("test", "abc", 3)).table() is None
