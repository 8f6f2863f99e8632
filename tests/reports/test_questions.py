"""Each question of a batch has its answer and its facts in the report, in the order in which it was asked, new or known.

The model is scripted, and behaves as models do: it searches what is known first, and cites in several ways.
"""

import asyncio
import io
import json
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import pytest
from docx import Document
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, says, turn
from support.scripted_sites import Site

from chiron_api.reports.formats import FORMATS
from chiron_api.reports.formats.obsidian import notes
from chiron_api.reports.gathering import gather
from chiron_api.reports.paging import gather_page
from chiron_api.reports.report import Report
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.batches.summaries import summary
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge import report_rows
from chiron_workers.states import Outcome, RunState
from chiron_workers.tools import registry

LAKES = (
    "Abaya", "Baikal", "Chad", "Erie", "Fagnano", "Garda", "Huron", "Iseo", "Jipe", "Kivu", "Ladoga", "Malawi", "Nicaragua",
    "Onega", "Peipus", "Qinghai", "Rudolf", "Saimaa", "Tanganyika", "Urmia", "Victoria", "Winnipeg", "Xolotlan", "Yamdrok",
)  # fmt: skip
NOT_FOUND = "Yamdrok"  # of which no page tells


def question(name: str) -> str:
    return f"How deep is Lake {name}?"


def depth(name: str) -> int:
    return 50 + 17 * LAKES.index(name)


def statement(name: str) -> str:
    return f"Lake {name} has a maximum depth of {depth(name)} metres."


def page(number: int) -> str:
    """Twelve lakes to a page, so that many facts rest on one source."""
    names = [name for name in LAKES if LAKES.index(name) // 12 == number and name != NOT_FOUND]
    return "Depths of lakes\n\n" + "\n\n".join(map(statement, names))


def answered(name: str, url: str, style: int) -> str:
    """What a model says at the end, whose ways to cite differ."""
    if name == NOT_FOUND:
        return "I found no source that gives a depth."
    if style % 3 == 0:
        return f"Its deepest point lies {depth(name)} metres below the surface ({url})."
    if style % 3 == 1:
        return f"Lake {name} is {depth(name)} m deep at most [1].\n\n## Sources\n[1] Depths of lakes {url}"
    return f"**{depth(name)} m** is the maximum depth of Lake {name} [1, 2].\n\nReferences:\n1. {url}\n2. https://maps.example.org/"


def model_of(site: Site, *, is_repeat: bool) -> Callable[[dict[str, Any]], Says]:
    """A model that stores what is not known yet; asked again, it finds all of it by a search."""

    def reply(request: dict[str, Any]) -> Says:
        [name] = {name for name in LAKES if question(name) in json.dumps(request["messages"][:1])}
        place = LAKES.index(name)
        url = f"{site.url}/depths/{place // 12}"
        known_words = {"query": f"depth of Lake {name}", "subject_id": "lakes", "top_k": 8}
        steps = [calls(call("vector_search", **known_words), call("web_fetch", url=url))]
        if is_repeat:
            steps[0] = calls(call("vector_search", **known_words))
        if name == NOT_FOUND:
            steps[0] = calls(call("web_search", query="Yamdrok depth"), call("web_fetch", url=url))
        elif not is_repeat:
            steps.append(
                calls(
                    call(
                        "store_knowledge",
                        content=statement(name),
                        subject_id="lakes",
                        source_url=url,
                        source_score=0.95,
                        topic_path="lakes/depths",
                        confidence=1.0,
                        quote=statement(name),
                    )
                )
            )
        steps.append(says(answered(name, url, place)))
        return steps[turn(request)]

    return reply


async def play_batch(stage: Stage, site: Site, names: Sequence[str], *, is_repeat: bool) -> UUID:
    await stage.model(model_of(site, is_repeat=is_repeat))
    runs = [NewRun(question(name), "research", "Lakes", stage.model_name, 20) for name in names]
    batch = await submit(stage.pool, NewBatch(runs, "Lakes"))
    outcomes = await asyncio.gather(*map(stage.play, batch.run_ids))
    assert set(outcomes) == {Outcome.PLAYED}
    return batch.batch_id


@pytest.fixture
async def site(stage: Stage, local_site: Site, setting: Callable[[str, str], None]) -> Site:
    setting("CONFIDENCE_THRESHOLD", "0.5")
    stage.registry = registry()
    for number in (0, 1):
        local_site.text(f"/depths/{number}", page(number))
    return local_site


def rendered(report: Report, format: str) -> str:
    render = FORMATS[format].render
    assert render
    pieces = list(render(report))
    if format != "docx":
        return "".join(map(str, pieces))
    document = Document(io.BytesIO(b"".join(piece for piece in pieces if isinstance(piece, bytes))))
    return "\n".join(paragraph.text for paragraph in document.paragraphs)


async def check(pool: Pool, batch_id: UUID, names: Sequence[str], *, is_repeat: bool) -> None:
    report = await gather(pool, batch_id)
    assert [section.question.topic for section in report.sections if section.question] == [
        *map(question, names)
    ]
    for name, section in zip(names, report.sections, strict=True):
        assert section.question
        contents = [finding.content for finding in section.findings]
        assert contents == ([] if name == NOT_FOUND else [statement(name)])
        assert bool(section.question.known_findings) is (is_repeat and name != NOT_FOUND)
        assert section.question.nothing_found is (name == NOT_FOUND)
    [last] = report.sections[-1:]
    assert last.question and last.question.attempts
    assert last.question.attempts.searches == ("Yamdrok depth",)
    assert len(report.run_answers) == len(names)
    cited_answers = [
        answer for answer in report.run_answers if answer.sentences[0].sources or NOT_FOUND in answer.topic
    ]
    assert len(cited_answers) == len(names)
    _check_formats(report, names)


def _check_formats(report: Report, names: Sequence[str]) -> None:
    for form in ("md", "html", "docx"):
        text = rendered(report, form)
        body = text[text.rindex("Questions") :] if form == "docx" else text
        places = [body.index(question(name), body.index("Questions")) for name in names]
        assert places == sorted(places)
        assert text.count("(not cited)") == 1  # the sentence that found nothing
        assert "Nothing found." in text
    folder = dict(notes(report))
    for number, name in enumerate(names, start=1):
        [note] = [text for title, text in folder.items() if title.startswith(f"Questions/{number} ")]
        assert (statement(name) in note.replace("\\", "")) is (name != NOT_FOUND)
    document = json.loads(rendered(report, "json"))
    assert [section["question"]["topic"] for section in document["sections"]] == [*map(question, names)]


@pytest.mark.parametrize(
    "names", [LAKES[-4:], pytest.param(LAKES, marks=pytest.mark.acceptance)], ids=["four", "twenty-four"]
)
async def test_questions_that_were_asked_before_have_their_answers_and_facts_again(
    stage: Stage, site: Site, pool: Pool, names: Sequence[str]
) -> None:
    first = await play_batch(stage, site, names, is_repeat=False)
    repeat = await play_batch(stage, site, names, is_repeat=True)
    await check(pool, first, names, is_repeat=False)
    await check(pool, repeat, names, is_repeat=True)
    batch = await summary(pool, repeat)
    assert (batch.facts, batch.confirmed, batch.cited, batch.nothing_found) == (0, 0, len(names) - 1, 1)
    assert batch.runs[RunState.COMPLETED] == len(names)

    target = await report_rows.find_target(pool, repeat)
    assert sum((await report_rows.counts(pool, target)).values()) == len(names) - 1
    part = await gather_page(pool, repeat, number=2)
    assert part.pages == 1
    assert [section.question.topic for section in part.report.sections if section.question] == [
        *map(question, names)
    ]
