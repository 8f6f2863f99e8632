"""A report without findings says how many facts were left out, and where they are."""

import pytest
from support.research_rows import Shelf

from chiron_api.reports.formats import html, markdown
from chiron_api.reports.gathering import gather
from chiron_api.reports.phrasing import NO_FINDINGS, no_findings
from chiron_workers.db.connect import Pool

MET_AGAIN = (
    "Nothing new has been stored that is sure enough to be shown. 3 times this {} met a fact that was known before. Such a fact "
    "is listed here only where a further source for it was found; the subject's report has it: chiron report --subject tides."
)


async def test_facts_that_were_met_again_in_the_same_source_are_counted(shelf: Shelf, pool: Pool) -> None:
    batch = shelf.batch(shelf.subject("tides"))
    run = shelf.run("tides", batch, "When is it high?", facts=0, confirmed=3)
    shelf.fact("tides", "It is high twice a day.", "https://example.org/tides")
    for kind, id_ in (("batch", batch), ("run", run)):
        report = await gather(pool, id_)
        assert (list(report.findings), no_findings(report)) == ([], MET_AGAIN.format(kind))
    assert len(list((await gather(pool, "tides")).findings)) == 1


async def test_candidates_that_are_left_out_are_counted(shelf: Shelf, pool: Pool) -> None:
    batch = shelf.batch(shelf.subject("tides"))
    run = shelf.run("tides", batch, "When is it high?", facts=2)
    for content in ("It is high twice a day.", "It is high at noon."):
        shelf.fact("tides", content, "https://example.org/", run_id=run, status="candidate", confidence=0.4)
    report = await gather(pool, batch)
    assert no_findings(report) == (
        f"{NO_FINDINGS} 2 facts are left out, not sure enough or superseded: a report with candidates (--candidates) shows them."
    )
    assert len(list((await gather(pool, batch, with_candidates=True)).findings)) == 2


async def test_where_nothing_was_stored_nothing_is_left_out(shelf: Shelf, pool: Pool) -> None:
    assert no_findings(await gather(pool, shelf.subject("tides"))) == NO_FINDINGS


@pytest.mark.parametrize("format", [markdown, html])
async def test_texts_say_it(shelf: Shelf, pool: Pool, format) -> None:
    batch = shelf.batch(shelf.subject("tides"))
    shelf.run("tides", batch, "When is it high?", facts=0, confirmed=3)
    parts = format.render(await gather(pool, batch))
    text = "".join(str(part) for part in parts)
    assert "3 times this batch met a fact that was known before" in text
