"""A page of the report on a subject with 100,000 facts, read while others are answered."""

import gc

import psycopg
import pytest
from psycopg.sql import SQL
from support.event_loop_delay import beating

from chiron_api.reports.paging import PAGE_FINDINGS, gather_page
from chiron_workers.db.connect import Pool

FACTS = 100_000
LOOP_S_MAX = 0.2  # of processor time in one go: half of what it takes in one piece
INSERT = """
insert into facts (id, subject_id, content, source_url, source_score, topic_path, confidence, status)
select gen_random_uuid(), 'ice', 'Fact ' || n, 'https://a.org/', 0.9, {path}, 0.9, 'accepted'
  from generate_series(1, {facts}) n
"""


@pytest.fixture
def small_heap() -> None:
    """What other tests left takes the collector longer than a page may."""
    gc.collect()
    gc.freeze()


@pytest.mark.acceptance
@pytest.mark.usefixtures("small_heap")
@pytest.mark.parametrize(
    "path",
    ["'a/b'", "'a/' || (n % 100)", "'topic ' || n"],
    ids=["in one topic", "in a hundred", "in as many"],
)
async def test_a_page_of_a_large_report_holds_up_nobody(pool: Pool, database_url: str, path: str):
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("insert into subjects (id, title) values ('ice', 'Ice')")
        connection.execute(SQL(INSERT).format(path=SQL(path), facts=FACTS))
        connection.execute("analyze facts")
    for number in (1, 1_000_000):
        async with beating() as pulse:
            page = await gather_page(pool, "ice", number=number)
        assert (page.findings, page.pages) == (FACTS, -(-FACTS // PAGE_FINDINGS))
        assert pulse.worked_s < LOOP_S_MAX
