"""Who reads a page as a whole rejects what its words alone seem to say; true statements on the same pages stay."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from support.misreadings import (
    Reading,
    careful_judge,
    denied_readings,
    handed_misreadings,
    serve_pages,
    sibling_misreadings,
    storing,
    true_readings,
)
from support.run_harness import Stage
from support.scripted_model import Script, supports_all
from support.scripted_sites import Site

from chiron_workers.documents.html import read_html
from chiron_workers.evidence.quotes.quotes import locate
from chiron_workers.evidence.quotes.reading_window import reading_window
from chiron_workers.states import Outcome
from chiron_workers.tools import registry

MISREADINGS = {"handed": handed_misreadings, "siblings": sibling_misreadings, "denied": denied_readings}
# No model is asked about these: the quote gate finds "2020 | 1,180" too short, or reads no comments below an article.
REFUSED = {"handed": 5, "siblings": 1, "denied": 0}
FEW = 4  # pages of a test that is not of acceptance


@dataclass(frozen=True, slots=True)
class Shelved:
    """What became of readings: the status of each stored statement, how many have each verdict, and why others were refused."""

    statuses: dict[str, str]
    verdicts: Counter[str]
    refusals: list[str]


async def store_all(
    stage: Stage, local_site: Site, readings: Sequence[Reading], judge: Script = supports_all
) -> Shelved:
    """Have a run read the pages and store the statements."""
    stage.registry = registry()
    await stage.model(storing(readings, serve_pages(local_site, readings)), judge=judge)
    [run_id] = await stage.submit("readings")
    assert await stage.play(run_id) is Outcome.PLAYED
    rows = await stage.rows("select content, status, verdict from facts")
    refused = "select body from tool_results where is_error and name = 'store_knowledge'"
    return Shelved(
        {row["content"]: row["status"] for row in rows},
        Counter(row["verdict"] for row in rows),
        [row["body"] for row in await stage.rows(refused)],
    )


@pytest.mark.parametrize("name", sorted(MISREADINGS))
def test_the_window_of_a_misread_quote_holds_the_decisive_words(name: str) -> None:
    unlocated = 0
    for reading in MISREADINGS[name]():
        document = read_html(reading.html)
        match = locate(reading.quote, document.text)
        if match is None:
            unlocated += 1
            continue
        window = reading_window(document.text, match.start, match.end).text_of(document.text)
        shown = f"{document.title} {document.published_at} {window}".casefold()
        assert reading.decisive_words.casefold() in shown, reading.statement
    assert unlocated == REFUSED[name]


@pytest.mark.parametrize(
    ("name", "pages"),
    [("handed", FEW), *(pytest.param(name, None, marks=pytest.mark.acceptance) for name in MISREADINGS)],
)
async def test_a_careful_judge_lets_no_misreading_through(
    stage: Stage, local_site: Site, name: str, pages: int | None
) -> None:
    readings = MISREADINGS[name]()[:pages]
    shelved = await store_all(stage, local_site, readings, careful_judge(readings))
    print(f"{name}: of {len(readings)} misreadings {len(shelved.statuses)} stay candidates,"
          f" {len(shelved.refusals)} are refused")  # fmt: skip
    assert set(shelved.statuses.values()) == {"candidate"}, "they stay out of sight"
    assert set(shelved.verdicts) == {"partly"}
    assert len(shelved.refusals) == (0 if pages else REFUSED[name])
    assert len(shelved.statuses) + len(shelved.refusals) == len(readings)
    questions = len(stage.server.verdict_questions)
    assert questions <= len(readings) / 10 + 1, "a question for all facts of a turn"


@pytest.mark.parametrize(
    "pages", [slice(0, 2 * FEW), pytest.param(slice(None), marks=pytest.mark.acceptance)]
)
@pytest.mark.parametrize("half", [0, 1])
async def test_a_careful_judge_keeps_the_true_statements_of_the_same_pages(
    stage: Stage, local_site: Site, half: int, pages: slice
) -> None:
    readings = true_readings()[pages][half::2]  # two statements of a page may be close to each other
    shelved = await store_all(stage, local_site, readings, careful_judge(readings))
    print(f"of {len(readings)} true statements {Counter(shelved.statuses.values())}")
    assert shelved.refusals == []
    assert shelved.statuses == {reading.statement: "accepted" for reading in readings}
    assert shelved.verdicts == {"supported": len(readings)}


@pytest.mark.parametrize("pages", [FEW, pytest.param(None, marks=pytest.mark.acceptance)])
async def test_nothing_but_the_judge_holds_back_most_misreadings(
    stage: Stage, local_site: Site, pages: int | None
) -> None:
    """The rules and the quote gate alone: what a judge that accepts everything lets through."""
    readings = handed_misreadings()[:pages]
    shelved = await store_all(stage, local_site, readings)
    through = Counter(shelved.statuses.values())["accepted"]
    print(f"of {len(readings)} misreadings {through} depend on the judge alone")
    assert through == len(readings) - len(shelved.refusals)
    assert set(shelved.verdicts) == {"supported"}
    assert shelved.verdicts.total() == through > 0


@pytest.mark.parametrize("pages", [FEW, pytest.param(None, marks=pytest.mark.acceptance)])
async def test_a_run_without_a_judge_calls_none_supported(
    stage: Stage, local_site: Site, setting: Callable[[str, str], None], pages: int | None
) -> None:
    setting("VERDICT_MODEL", "none")
    readings = handed_misreadings()[:pages]
    shelved = await store_all(stage, local_site, readings)
    print(f"without a judge, of {len(readings)} misreadings: {shelved.verdicts}")
    assert set(shelved.verdicts) <= {"unchecked", "partly"}
    assert stage.server.verdict_questions == []
    receipts = [
        row["body"]
        for row in await stage.rows("select body from tool_results where name = 'store_knowledge'")
    ]
    assert len(receipts) == len(readings)
    assert not [receipt for receipt in receipts if "supported" in receipt]
