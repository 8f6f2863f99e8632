"""A report without findings says how many facts were left out, and where they are."""

from typing import Any

import pytest
from support.research_rows import Shelf

from chiron_api.reports.formats import html, markdown
from chiron_api.reports.gathering import gather
from chiron_api.reports.phrasing import NO_FINDINGS, no_findings
from chiron_workers.db.connect import Pool


async def test_facts_that_were_met_again_in_the_same_source_are_shown(shelf: Shelf, pool: Pool) -> None:
    batch = shelf.batch(shelf.subject("tides"))
    run = shelf.run("tides", batch, "When is it high?", facts=0, confirmed=1)
    fact = shelf.fact("tides", "It is high twice a day.", "https://example.org/tides")
    shelf.insert("run_facts", run_id=run, fact_id=fact, how="confirmed")
    for target in (batch, run):
        [section] = (await gather(pool, target)).sections
        [finding] = section.findings
        assert section.question and section.question.known_findings == (finding.number,)


async def test_candidates_that_are_left_out_are_counted(shelf: Shelf, pool: Pool) -> None:
    batch = shelf.batch(shelf.subject("tides"))
    run = shelf.run("tides", batch, "When is it high?", facts=2)
    for content in ("It is high twice a day.", "It is high at noon."):
        shelf.fact("tides", content, "https://example.org/", run_id=run, status="candidate", confidence=0.4)
    report = await gather(pool, batch)
    assert no_findings(report) == (
        f"{NO_FINDINGS} 2 facts are left out, not sure enough or superseded: a report with candidates shows them."
    )
    assert len(list((await gather(pool, batch, with_candidates=True)).findings)) == 2


async def test_where_nothing_was_stored_nothing_is_left_out(shelf: Shelf, pool: Pool) -> None:
    assert no_findings(await gather(pool, shelf.subject("tides"))) == NO_FINDINGS


@pytest.mark.parametrize("format", [markdown, html])
async def test_texts_say_what_is_not_recorded_of_runs_of_an_earlier_version(
    shelf: Shelf, pool: Pool, format: Any
) -> None:
    batch = shelf.batch(shelf.subject("tides"))
    shelf.run("tides", batch, "When is it high?", facts=0, confirmed=3, lease=1)
    text = "".join(map(str, format.render(await gather(pool, batch))))
    assert "1 run of an earlier version met known facts that are not all recorded" in text


@pytest.mark.parametrize("format", [markdown, html])
async def test_a_question_without_facts_says_what_was_tried(shelf: Shelf, pool: Pool, format: Any) -> None:
    batch = shelf.batch(shelf.subject("tides"))
    run = shelf.run("tides", batch, "When is it high?", facts=0, answer="I do not know.")
    called = [
        ("tool.called", {"call_id": str(n), "name": name, "arguments": arguments})
        for n, (name, arguments) in enumerate(
            [
                ("web_search", {"query": "high tide"}),
                ("web_fetch", {"url": "https://example.org/tides"}),
                ("notes", {}),
            ]
        )
    ]
    shelf.events(run, batch, called)
    text = "".join(map(str, format.render(await gather(pool, batch))))
    assert ("\\#1 When is it high?" if format is markdown else "#1 When is it high?") in text
    for words in ("I do not know.", "Nothing found.", "high tide", "example.org/tides"):
        assert words in text
    shelf.connection.execute("update runs set pruned_at = now()")
    text = "".join(map(str, format.render(await gather(pool, batch))))
    assert "Searches and pages are unknown: the journal" in text
