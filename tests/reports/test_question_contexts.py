"""Questions stand in reports behind the numbers of their runs, with what was said of them besides."""

import pytest
from reports.test_questions import rendered
from support.research_rows import Shelf

from chiron_api.reports.crate.metadata import metadata
from chiron_api.reports.formats.obsidian import notes
from chiron_api.reports.gathering import gather
from chiron_api.reports.paging import gather_page
from chiron_api.reports.report import Report
from chiron_workers.db.connect import Pool

CONTEXT = "For a book, so *no* jargon."


def text_of(report: Report, form: str) -> str:
    text = "\n".join(dict(notes(report)).values()) if form == "obsidian" else rendered(report, form)
    return text.replace("\\", "")


@pytest.mark.parametrize("form", ["md", "html", "docx", "obsidian"])
async def test_documents_name_number_and_context(shelf: Shelf, pool: Pool, form: str) -> None:
    batch = shelf.batch(shelf.subject("tides"))
    shelf.run("tides", batch, "How high is it?")
    shelf.run("tides", batch, "When is it high?", context=CONTEXT)
    shelf.connection.execute("delete from runs where topic = 'How high is it?'")
    shelf.run("tides", batch, "Where is it high?")
    text = text_of(await gather(pool, batch), form)
    heading, context = text.index("#2 When is it high?"), text.index(f"Context: {CONTEXT}")
    assert heading < context < text.rindex("#3 Where is it high?")
    assert text.count(CONTEXT) == 1
    shelf.connection.execute("update runs set context = %s", [CONTEXT])
    text = text_of(await gather(pool, batch), form)
    assert text.count(CONTEXT) == text.count(f"Context of all questions: {CONTEXT}") == 1


async def test_pages_json_and_crates_name_number_and_context(shelf: Shelf, pool: Pool) -> None:
    batch = shelf.batch(shelf.subject("tides"))
    run = shelf.run("tides", batch, "How high is it?")
    shelf.run("tides", batch, "When is it high?", context=CONTEXT)
    part = await gather_page(pool, batch, number=1)
    assert [topic.topic_path for topic in part.topics] == ["#1 How high is it?", "#2 When is it high?"]
    questions = [section.question for section in part.report.sections]
    assert [(asked.number, asked.context) for asked in questions if asked] == [(1, None), (2, CONTEXT)]
    report = await gather(pool, batch)
    assert f'"context":"{CONTEXT}"' in rendered(report, "json").replace('": "', '":"')
    graph = metadata(report, {}, [], maker="test")["@graph"]
    assert isinstance(graph, list)
    names = [entity["name"] for entity in graph if entity["@type"] == "CreateAction"]
    assert sorted(names) == ["#1 How high is it?", "#2 When is it high?"]
    of_run = await gather(pool, run)
    assert [asked.number for section in of_run.sections if (asked := section.question)] == [1]
    assert "#1 How high" not in rendered(of_run, "md").replace("\\", "")
