"""Pages of a report by questions have the findings and the numbers of the whole report, and read only what they show."""

from uuid import UUID

import pytest
from support.research_rows import Shelf

from chiron_api.reports.gathering import gather
from chiron_api.reports.paging import PAGE_FINDINGS, gather_page
from chiron_api.reports.report import Report
from chiron_workers.db.connect import Pool

URL = "https://tides.example/page"


@pytest.fixture
def batch(shelf: Shelf) -> UUID:
    """Questions with many facts, with none, and with facts that an earlier one has, in several pages."""
    batch_id = shelf.batch(shelf.subject("tides"))
    run_ids = [shelf.run("tides", batch_id, f"Question {n}?", answer=f"Answer {n}.") for n in range(40)]
    for n, run_id in enumerate(run_ids):
        for part in range((0, 2, PAGE_FINDINGS + 5, 1)[n % 4]):
            confidence = 0.9 - part / 100
            status = "disputed" if part == 1 else "accepted"
            content = f"Tide {n} rises {part} metres."
            shelf.fact("tides", content, URL, run_id=run_id, confidence=confidence, status=status)
    met_before = (
        "insert into run_facts (run_id, fact_id, how) select %s, id, 'cited' from facts where content like %s"
    )
    shelf.connection.execute(met_before, [run_ids[20], "Tide 2 rises 1_ metres."])
    shelf.connection.execute(met_before, [run_ids[37], "Tide 9 rises%"])
    shelf.fact("tides", "What no question met.", URL)
    return batch_id


def findings_of(report: Report) -> list[tuple[int, str, str]]:
    """Number, question and words of each finding."""
    return [
        (finding.number, section.question.topic, finding.content)
        for section in report.sections
        if section.question
        for finding in section.findings
    ]


async def test_pages_have_the_findings_numbers_and_repeats_of_the_whole(batch: UUID, pool: Pool) -> None:
    whole = await gather(pool, batch)
    first = await gather_page(pool, batch, number=1)
    parts = [first, *[await gather_page(pool, batch, number=n) for n in range(2, first.pages + 1)]]
    findings = [finding for part in parts for finding in findings_of(part.report)]
    assert findings == sorted(findings_of(whole))
    assert {part.findings for part in parts} == {len(findings)}
    repeats = {
        question.topic: question.repeats
        for part in parts
        for section in part.report.sections
        if (question := section.question) and question.repeats
    }
    assert len(repeats["Question 20?"]) == 10
    assert repeats == {
        section.question.topic: section.question.repeats
        for section in whole.sections
        if section.question and section.question.repeats
    }
    answers = [answer.topic for part in parts for answer in part.report.run_answers]
    assert answers == [answer.topic for answer in whole.run_answers]
    assert first.counts == {status: whole.counts[status] for status in first.counts}


async def test_the_contents_name_the_page_on_which_a_question_begins(batch: UUID, pool: Pool) -> None:
    first = await gather_page(pool, batch, number=1)
    assert first.topic_count == len(first.topics) == 40
    for topic in first.topics:
        page = await gather_page(pool, batch, number=topic.page)
        questions = [section.question for section in page.report.sections]
        assert topic.topic_path in {f"#{asked.number} {asked.topic}" for asked in questions if asked}


async def test_a_page_behind_the_last_is_the_last(batch: UUID, pool: Pool) -> None:
    last = await gather_page(pool, batch, number=1_000)
    assert last.number == last.pages > 10
