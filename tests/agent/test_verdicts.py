"""Whether its quote bears a fact out is asked once for all facts of a turn, paid for once, and decides what is shown."""

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest
from support.run_harness import Stage
from support.scripted_model import Fails, Says, call, calls, page_of, question_words, says, turn, verdicts
from support.scripted_sites import Site

from chiron_workers.evidence.quotes.reading_window import WINDOW_CHARS_MAX
from chiron_workers.knowledge.facts import verdicts as verdicts_module
from chiron_workers.states import Outcome
from chiron_workers.tools import registry

PAGE = "The tower\n\nThe tower has a lift. Stairs lead to the second floor. It was painted in 2010."
CLAIMS = {
    "Visitors can ride up the tower.": "The tower has a lift.",
    "One can walk to the second floor.": "Stairs lead to the second floor.",
    "The tower was painted in 2010.": "It was painted in 2010.",
}


@pytest.fixture
def site(local_site: Site) -> Site:
    local_site.text("/tower", PAGE)
    return local_site


def fact(site: Site, content: str, quote: str) -> dict[str, Any]:
    return call(
        "store_knowledge", content=content, quote=quote, subject_id="physics", source_url=site.url + "/tower",
        source_score=0.9, topic_path="towers", confidence=1.0,
    )  # fmt: skip


def script(site: Site, claims: dict[str, str]) -> Callable[[dict[str, Any]], Says]:
    def answer(request: dict[str, Any]) -> Says:
        steps = [
            lambda: calls(call("web_fetch", url=site.url + "/tower")),
            lambda: calls(*(fact(site, content, quote) for content, quote in claims.items())),
            lambda: says("Done."),
        ]
        return steps[turn(request)]()

    return answer


async def facts(stage: Stage) -> dict[str, dict[str, Any]]:
    return {row["content"]: row for row in await stage.rows("select * from facts")}


async def test_the_facts_of_a_turn_are_one_question_and_each_shows_who_checked_it(
    stage: Stage, site: Site
) -> None:
    stage.registry = registry()
    await stage.model(script(site, CLAIMS))
    [run_id] = await stage.submit("towers")
    assert await stage.play(run_id) is Outcome.PLAYED
    [question] = stage.server.verdict_questions
    rows = await facts(stage)
    assert {row["verdict"] for row in rows.values()} == {"supported"}
    assert {row["verdict_by"] for row in rows.values()} == {question["model"]}
    assert {row["status"] for row in rows.values()} == {"accepted"}
    assert rows["The tower was painted in 2010."]["context"] == "Stairs lead to the second floor."
    row = await stage.row(run_id)
    paid = "select sum(cost_usd) from (select cost_usd from entries union all select cost_usd from tool_results) as paid"
    [costs] = await stage.rows(paid)
    assert row["spent_usd"] == costs["sum"], "the question is paid for like any call"


async def test_what_a_quote_does_not_bear_out_is_refused_or_stays_out_of_sight(
    stage: Stage, site: Site
) -> None:
    judgements = {1: "partly", 2: "silent", 3: "contradicted"}

    def judge(request: dict[str, Any]) -> Says:
        entries = [
            {"number": number, "verdict": verdict, "reason": f"Reason {number}."}
            for number, verdict in judgements.items()
        ]
        return calls(call("give_verdicts", verdicts=entries))

    stage.registry = registry()
    await stage.model(script(site, CLAIMS), judge=judge)
    [run_id] = await stage.submit("towers")
    assert await stage.play(run_id) is Outcome.PLAYED
    rows = await facts(stage)
    assert list(rows) == ["Visitors can ride up the tower."]
    [row] = rows.values()
    assert (row["verdict"], row["verdict_reason"], row["status"]) == ("partly", "Reason 1.", "candidate")
    last = stage.server.requests[-1]["messages"][-1]["content"]
    partly, silent, contradicted = (str(block["content"]) for block in last if block["type"] == "tool_result")
    assert "supports it in part: Reason 1." in partly
    assert "does not speak of it. Reason 2." in silent
    assert "contradicts it. Reason 3." in contradicted


async def test_a_fact_that_the_rules_alone_read_as_contradicted_is_a_candidate_while_the_model_gives_no_answer(
    stage: Stage, site: Site
) -> None:
    stage.registry = registry()
    content = "The tower was painted in 2012."
    await stage.model(script(site, {content: "It was painted in 2010."}), judge=lambda request: says("Hm."))
    [run_id] = await stage.submit("towers")
    assert await stage.play(run_id) is Outcome.PLAYED
    row = (await facts(stage))[content]
    assert (row["verdict"], row["verdict_by"], row["status"]) == ("partly", "rules", "candidate")


async def test_a_better_wording_of_a_doubted_fact_is_a_fact_of_its_own(stage: Stage, site: Site) -> None:
    claims = {"The tower has a fast lift.": "The tower has a lift."}

    def judge(request: dict[str, Any]) -> Says:
        is_first = "fast" in str(request["messages"])
        return verdicts(request, *(("partly", "It does not say how fast.") if is_first else ()))

    def answer(request: dict[str, Any]) -> Says:
        steps = [
            lambda: calls(call("web_fetch", url=site.url + "/tower")),
            lambda: calls(*(fact(site, content, quote) for content, quote in claims.items())),
            lambda: calls(fact(site, "The tower has a lift.", "The tower has a lift.")),
            lambda: says("Done."),
        ]
        if [tool["name"] for tool in request["tools"]] == ["give_relations"]:
            same = {"number": 1, "relation": "same", "reason": "They say the same."}
            return calls(call("give_relations", relations=[same]))
        return steps[turn(request)]()

    stage.registry = registry()
    await stage.model(answer, judge=judge)
    [run_id] = await stage.submit("towers")
    assert await stage.play(run_id) is Outcome.PLAYED
    rows = await facts(stage)
    assert (rows["The tower has a fast lift."]["status"], rows["The tower has a lift."]["status"]) == (
        "candidate",
        "accepted",
    )
    assert rows["The tower has a lift."]["verdict_by"] == stage.model_name, "equal words are no verdict"


async def test_a_refused_key_leaves_all_calls_open_that_ask_together(stage: Stage, site: Site) -> None:
    judgements: list[Any] = [Fails(status=401, type="authentication_error", message="invalid x-api-key")]
    stage.registry = registry()
    await stage.model(
        script(site, CLAIMS), judge=lambda request: judgements.pop() if judgements else verdicts(request)
    )
    [run_id] = await stage.submit("towers")
    assert await stage.play(run_id) is Outcome.LEFT
    assert [row["name"] for row in await stage.rows("select name from tool_results")] == ["web_fetch"]
    assert await facts(stage) == {}
    await stage.end_waiting()
    assert await stage.play(run_id) is Outcome.PLAYED
    assert {row["verdict"] for row in (await facts(stage)).values()} == {"supported"}
    assert len(stage.server.verdict_questions) == 2


async def test_a_worker_that_dies_behind_the_answer_does_not_ask_again(
    stage: Stage, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.registry = registry()
    await stage.model(script(site, CLAIMS))
    [run_id] = await stage.submit("towers")
    is_answered = asyncio.Event()
    parse = verdicts_module.parse_findings

    def die(*args: Any) -> Any:
        is_answered.set()
        first.cancel()  # as a killed worker: the reply is committed, and no verdict
        return parse(*args)

    monkeypatch.setattr(verdicts_module, "parse_findings", die)
    first = asyncio.create_task(stage.play(run_id))
    await asyncio.wait_for(is_answered.wait(), 60)
    await asyncio.gather(first, return_exceptions=True)
    monkeypatch.setattr(verdicts_module, "parse_findings", parse)
    assert await facts(stage) == {}
    await stage.rows("update runs set state = 'queued' where id = %s returning 1", run_id)
    assert await stage.play(run_id) is Outcome.PLAYED
    assert len(stage.server.verdict_questions) == 1
    assert {row["verdict"] for row in (await facts(stage)).values()} == {"supported"}


def is_honest(step: int, steps: int) -> bool:
    """Whether what the agent stores at a step is what its source says: the longer it works, the less often."""
    return step % (5 if step < steps // 2 else 2) != 0


def is_repetition(step: int) -> bool:
    """Whether the agent stores once more what it stored two steps before."""
    return step % 5 == 4


async def ask_of_a_new_run(stage: Stage, site: Site, claim: str, quote: str) -> dict[str, Any]:
    """The question for a verdict of a run that stores one fact alone, while no other is known."""
    assert await stage.rows("with facts as (delete from facts) delete from verdicts returning 1")
    await stage.model(script(site, {claim: quote}))
    [run_id] = await stage.submit("one pump")
    assert await stage.play(run_id) is Outcome.PLAYED
    [request] = stage.server.verdict_questions
    return request


@pytest.mark.parametrize("steps", [20, pytest.param(150, marks=pytest.mark.acceptance)])
async def test_a_long_run_has_verdicts_at_its_end_as_at_its_beginning_and_asks_about_nothing_twice(
    stage: Stage, site: Site, steps: int
) -> None:
    quotes = [f"Pump {step} of the works belongs to hall {step}." for step in range(steps)]
    # A third has the words of its quote, which is no verdict.
    truths = [
        quote if step % 3 == 0 else f"Hall {step} houses pump {step}." for step, quote in enumerate(quotes)
    ]
    slips = [f"Hall {step} houses pump {step}, which leaks." for step in range(steps)]
    site.text("/tower", "The works\n\n" + " ".join(quotes))
    claims = [
        truth if is_honest(step, steps) else slip
        for step, (truth, slip) in enumerate(zip(truths, slips, strict=True))
    ]
    questions: dict[str, dict[str, Any]] = {}

    def judge(request: dict[str, Any]) -> Says:
        [statement] = re.findall(r"<statement-[0-9a-f]+>\n(.*?)\n</statement", question_words(request))
        assert statement not in questions, "it was asked about before"
        questions[statement] = request
        return verdicts(request) if statement in truths else verdicts(request, "partly", "It leaks nowhere.")

    def answer(request: dict[str, Any]) -> Says:
        if [tool["name"] for tool in request["tools"]] == ["give_relations"]:
            return says("They are about different pumps.")
        step = turn(request) - 1
        if step < 0:
            return calls(call("web_fetch", url=site.url + "/tower"))
        if step == steps:
            return says("Done.")
        place = step - 2 if is_repetition(step) else step
        return calls(fact(site, claims[place], quotes[place]))

    stage.registry = registry()
    await stage.model(answer, judge=judge)
    [run_id] = await stage.submit("pumps", max_turns=steps + 10)
    assert await stage.play(run_id) is Outcome.PLAYED
    rows = await facts(stage)
    expected = {claims[step] for step in range(steps) if not is_repetition(step)}
    assert rows.keys() == expected == questions.keys()
    assert {row["verdict_by"] for row in rows.values()} == {stage.model_name}, "a model judged each"
    for content, row in rows.items():
        assert (row["verdict"], row["status"]) == (
            ("supported", "accepted") if content in truths else ("partly", "candidate")
        )
    sizes = [len(page_of(request, "Its page: A")) for request in questions.values()]
    assert 0 < max(sizes) < WINDOW_CHARS_MAX + 200, "a window of the page, with its address"
    for step in (2, steps - 3):
        claim = claims[step]
        request = await ask_of_a_new_run(stage, site, claim, quotes[step])
        assert questions[claim] == request, "a verdict sees nothing of the run, however long it is"
