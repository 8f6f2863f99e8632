import asyncio
import sys
from contextlib import aclosing
from dataclasses import replace

from chiron_api.reports.arranging import arrange
from chiron_api.reports.coverage import cover
from chiron_api.reports.gathering import gather
from chiron_workers.knowledge import report_rows
from chiron_workers.states import FactStatus

OPEN = """
select count(*) as n from pg_stat_activity
 where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
   and (state like 'idle in%%' or backend_xmin is not null)"""


async def test_no_transaction_is_open_between_two_pages(shelf, pool, monkeypatch):
    shelf.subject("many")
    for n in range(7):
        shelf.fact("many", f"Fact {n}.", "https://a.org/")
    monkeypatch.setattr(report_rows, "PAGE_FACTS", 2)
    target = await report_rows.find_target(pool, "many")
    found = await report_rows.fact_ids(pool, target, statuses=[FactStatus.ACCEPTED], limit=None)
    sizes = []
    async for page in report_rows.pages(pool, found):
        sizes.append(len(page.facts))
        assert shelf.connection.execute(OPEN).fetchone() == (0,)
    assert sizes == [2, 2, 2, 1]


async def test_a_report_is_the_same_whether_its_facts_are_read_at_once_or_one_by_one(
    sea_ice, pool, monkeypatch
):
    whole = await gather(pool, "sea-ice")
    monkeypatch.setattr(report_rows, "PAGE_FACTS", 1)
    assert replace(await gather(pool, "sea-ice"), made_at=whole.made_at) == whole


async def test_pages_that_are_read_ahead_end_with_their_reader(shelf, pool, monkeypatch):
    shelf.subject("many")
    found = [str(shelf.fact("many", f"Fact {n}.", "https://a.org/")) for n in range(7)]
    monkeypatch.setattr(report_rows, "PAGE_FACTS", 1)
    others = asyncio.all_tasks()
    async with aclosing(report_rows.pages(pool, found, ahead=3)) as pages:
        first = await anext(pages)
    assert [row["content"] for row in first.facts] == ["Fact 0."]
    assert asyncio.all_tasks() == others


async def test_the_loop_that_answers_everybody_arranges_no_report(sea_ice, pool):
    """A large one takes a second, in which no other request would be answered."""
    on_the_loop = set()
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, _: on_the_loop.add(frame.f_code))
    try:
        report = await gather(pool, sea_ice.batch)
    finally:
        sys.setprofile(before)
    assert list(report.findings)
    assert gather.__code__ in on_the_loop
    assert not {arrange.__code__, cover.__code__} & on_the_loop


async def test_what_a_report_has_no_room_for_is_counted(shelf, pool, monkeypatch):
    shelf.subject("many")
    for n in range(5):
        shelf.fact("many", f"Fact {n}.", "https://a.org/")
    monkeypatch.setattr("chiron_api.reports.gathering.FINDINGS_MAX", 3)
    report = await gather(pool, "many")
    assert {finding.content for finding in report.findings} == {"Fact 2.", "Fact 3.", "Fact 4."}
    assert report.left_out == 2


async def test_a_fact_that_goes_while_a_report_is_read_is_left_out(shelf, pool):
    shelf.subject("many")
    gone, stays = (str(shelf.fact("many", words, "https://a.org/")) for words in ("Gone.", "Stays."))
    shelf.connection.execute("delete from facts where id = %s", (gone,))
    contents = [row["content"] async for page in report_rows.pages(pool, [gone, stays]) for row in page.facts]
    assert contents == ["Stays."]
