"""A written report: every sentence of it names its facts and is held to them, and what is refused is not kept."""

import json
from typing import Any

import pytest
from support.report_writing import (
    AGE,
    MEAN,
    OPEN,
    OPPOSITE,
    Batch,
    cited,
    offline_model,
    researched_batch,
    section,
    submit_report,
)
from support.research_rows import Shelf
from support.run_harness import OneStep, Stage
from support.scripted_model import Says, call, calls, says, turn, verdicts

from chiron_workers.knowledge.drafts.reading import latest_draft
from chiron_workers.states import Outcome, Verdict

NEW_WORDS = "From space one gauges how high the ice stands above the water."


@pytest.fixture
def batch(shelf: Shelf) -> Batch:
    return researched_batch(shelf)


def script(*replies: Says) -> Any:
    return lambda request: replies[turn(request)]


def last_results(stage: Stage) -> list[str]:
    return [block["content"] for block in stage.server.requests[-1]["messages"][-1]["content"]]


async def refusal(stage: Stage, batch: Batch, *sentences: dict[str, Any], judge: Any = verdicts) -> str:
    """What a section with these sentences is answered."""
    await stage.model(
        script(calls(section(1, *sentences)), says("Done."), says("Done."), says("Done.")), judge=judge
    )
    run_id = await submit_report(stage, batch.id)
    assert await stage.play(run_id) is Outcome.FAILED
    assert await stage.rows("select 1 from draft_sentences") == []
    return str(stage.server.requests[1]["messages"][-1]["content"][0]["content"])


async def test_a_report_is_written_in_sections_and_shown_once_it_is_handed_in(
    stage: Stage, batch: Batch
) -> None:
    await stage.model(
        script(
            calls(call("list_facts")),
            calls(
                section(1, cited(NEW_WORDS, batch.freeboard), cited(AGE, batch.age), title="Methods and age"),
                section(2, cited(f"Sources disagree: {MEAN} against {OPPOSITE}", batch.mean, batch.opposite)),
            ),
            calls(section(0, cited(AGE, batch.age))),
            calls(call("hand_in_report")),
            says("It is handed in."),
        )
    )
    run_id = await submit_report(stage, batch.id)
    assert await stage.play(run_id) is Outcome.PLAYED
    draft = await latest_draft(stage.pool, str(batch.id))
    assert draft is not None
    assert [(part.place, part.title, len(part.sentences)) for part in draft.sections] == [
        (0, "Summary", 1), (1, "Methods and age", 2), (2, "Findings", 1),
    ]  # fmt: skip
    [first, second] = draft.sections[1].sentences
    assert (first.text, first.fact_ids, first.verdict_by) == (
        NEW_WORDS,
        (str(batch.freeboard),),
        stage.model_name,
    )
    assert (second.text, second.verdict, second.mark) == (AGE, Verdict.SUPPORTED, ""), "asked about too"
    assert len(stage.server.verdict_questions) == 2, (
        "a question for a section, and what was judged is not asked again"
    )
    listed = stage.server.requests[1]["messages"][-1]["content"][0]["content"]
    assert str(batch.candidate) not in listed
    assert str(batch.stranger) not in listed
    assert f'"contradicted_by": ["{batch.opposite}"]' in listed


@pytest.mark.parametrize(
    ("fact", "reason"),
    [
        ("withdrawn", "was withdrawn"),
        ("candidate", "is a candidate, not sure enough to be told"),
        ("stranger", "is none of those that this draft is made of"),
        ("mean", "Tell both in one sentence that names both"),
    ],
)
async def test_a_sentence_does_not_rest_on_a_fact_that_cannot_be_told(
    stage: Stage, batch: Batch, fact: str, reason: str
) -> None:
    [row] = await stage.rows("select content from facts where id = %s", getattr(batch, fact))
    answer = await refusal(stage, batch, cited(AGE, batch.age), cited(row["content"], getattr(batch, fact)))
    assert answer.startswith("Nothing was kept, since these sentences cannot stand.\nSentence 2: ")
    assert reason in answer
    assert "Sentence 1" not in answer


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (AGE.replace("four", "five"), "Its facts do not say older than five years"),
        (f"{AGE} Nobody knows why.", "It is more than one sentence"),
        ("", "text"),
    ],
)
async def test_rules_refuse_without_asking_anybody(
    stage: Stage, batch: Batch, text: str, reason: str
) -> None:
    answer = await refusal(stage, batch, cited(text, batch.age))
    assert reason in answer
    assert stage.server.verdict_questions == []


async def test_a_sentence_without_a_fact_or_with_one_that_is_not_there_is_refused(
    stage: Stage, batch: Batch
) -> None:
    missing = "0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa"
    answer = await refusal(
        stage, batch, cited("Let us now turn to age."), cited(AGE, missing), cited(AGE, "x")
    )
    assert "Sentence 1: It names no fact." in answer
    assert f"Sentence 2: There is no fact {missing}." in answer
    assert "Sentence 3: There is no fact x." in answer


@pytest.mark.parametrize("verdict", ["partly", "contradicted", "silent"])
async def test_what_a_model_does_not_find_supported_in_full_is_refused(
    stage: Stage, batch: Batch, verdict: str
) -> None:
    def judge(request: dict[str, Any]) -> Says:
        return verdicts(request, verdict, "It does not say from space.")

    answer = await refusal(stage, batch, cited(NEW_WORDS, batch.freeboard), judge=judge)
    assert "It does not say from space." in answer


async def test_what_nobody_could_be_asked_about_is_refused_too(
    stage: Stage, batch: Batch, setting: Any
) -> None:
    setting("VERDICT_MODEL", "none")
    answer = await refusal(stage, batch, cited(NEW_WORDS, batch.freeboard))
    assert "Put it in the very words of one of its facts." in answer
    assert stage.server.verdict_questions == []


async def test_both_sides_of_a_contradiction_are_put_to_the_model_as_such(stage: Stage, batch: Batch) -> None:
    text = "Reports of the mean thickness in winter 2023 are at odds: 1.9 m in one, 2.4 m in the other."
    await stage.model(
        script(calls(section(1, cited(text, batch.mean, batch.opposite)), section(0, cited(AGE, batch.age))),
               calls(call("hand_in_report")), says("Done."))
    )  # fmt: skip
    run_id = await submit_report(stage, batch.id)
    assert await stage.play(run_id) is Outcome.PLAYED
    question = next(request for request in stage.server.verdict_questions if text in str(request["messages"]))
    assert "takes neither side" in str(question["messages"])
    assert MEAN in str(question["messages"])
    assert OPPOSITE in str(question["messages"])


async def test_a_report_without_a_summary_is_not_taken(stage: Stage, batch: Batch) -> None:
    await stage.model(
        script(
            calls(section(1, cited(AGE, batch.age)), call("hand_in_report")),
            calls(call("hand_in_report")), says("Done."), says("Done."), says("Done."),
        )
    )  # fmt: skip
    run_id = await submit_report(stage, batch.id)
    assert await stage.play(run_id) is Outcome.FAILED
    assert (await stage.row(run_id))["error"]["kind"] == "no_result"
    assert "has no summary (place 0) yet" in str(stage.server.requests[2]["messages"][-1])
    assert await latest_draft(stage.pool, str(batch.id)) is None


async def test_a_fact_that_is_withdrawn_meanwhile_keeps_the_report_from_being_handed_in(
    stage: Stage, batch: Batch, shelf: Shelf
) -> None:
    def answer(request: dict[str, Any]) -> Says:
        if turn(request) == 1:
            shelf.connection.execute("update facts set status = 'withdrawn' where id = %s", (batch.age,))
        steps = [
            lambda: calls(section(1, cited(AGE, batch.age)), section(0, cited(OPEN, batch.freeboard))),
            lambda: calls(call("hand_in_report")),
            lambda: calls(section(1, cited(OPEN, batch.freeboard))),
            lambda: calls(call("hand_in_report")),
            lambda: says("Done."),
        ]
        return steps[turn(request)]()

    await stage.model(answer)
    run_id = await submit_report(stage, batch.id)
    assert await stage.play(run_id) is Outcome.PLAYED
    refused = str(stage.server.requests[2]["messages"][-1])
    assert f"Section 1, sentence 1: Fact {batch.age} was withdrawn" in refused
    draft = await latest_draft(stage.pool, str(batch.id))
    assert draft is not None
    assert draft.sections[1].sentences[0].text == OPEN


async def test_a_worker_that_dies_between_two_sections_loses_neither_words_nor_money(
    stage: Stage, batch: Batch
) -> None:
    await stage.model(
        script(
            calls(section(1, cited(NEW_WORDS, batch.freeboard))),
            calls(section(0, cited(AGE, batch.age))),
            calls(call("hand_in_report")), says("Done."),
        )
    )  # fmt: skip
    run_id = await submit_report(stage, batch.id)
    for worker in "abcdefghijkl":
        run = await stage.claim(run_id, worker)
        execution = stage.execution(run)
        execution.__class__ = OneStep
        outcome = await execution.execute()
        if outcome is Outcome.PLAYED:
            break
        await stage.end_waiting()
    assert outcome is Outcome.PLAYED
    assert len(stage.server.requests) == 4
    assert len(stage.server.verdict_questions) == 2, "one for each section"
    row = await stage.row(run_id)
    paid = "select sum(cost_usd) from (select cost_usd from entries union all select cost_usd from tool_results) as paid"
    assert row["spent_usd"] == (await stage.rows(paid))[0]["sum"]


async def test_the_offline_researcher_writes_a_report_in_the_words_of_the_facts(
    stage: Stage, batch: Batch
) -> None:
    async with offline_model(stage):
        run_id = await submit_report(stage, batch.id)
        assert await stage.play(run_id) is Outcome.PLAYED
    draft = await latest_draft(stage.pool, str(batch.id))
    assert draft is not None
    texts = [sentence.text for part in draft.sections for sentence in part.sentences]
    assert set(texts) == {OPEN, AGE, f"Sources disagree: {MEAN[:-1]} — against: {OPPOSITE}"}
    sentences = [sentence for part in draft.sections for sentence in part.sentences]
    assert {sentence.verdict for sentence in sentences} == {Verdict.UNCHECKED}
    assert {sentence.mark for sentence in sentences} == {"in its fact's words, meaning unchecked"}
    assert "a program without a language model" in (await stage.row(run_id))["answer"]


async def test_a_subject_can_be_written_about_and_a_run_without_a_scope_has_its_own(
    stage: Stage, batch: Batch
) -> None:
    async with offline_model(stage):
        run_id = await submit_report(stage, "birds", subject="Birds")
        assert await stage.play(run_id) is Outcome.PLAYED
    draft = await latest_draft(stage.pool, "birds")
    assert draft is not None
    assert draft.sections[0].sentences[0].text == "Ducks dive for food."


async def test_what_is_started_over_is_not_shown_until_it_is_handed_in_again(
    stage: Stage, batch: Batch
) -> None:
    from chiron_workers.batches.steering import retry

    async with offline_model(stage):
        run_id = await submit_report(stage, batch.id)
        assert await stage.play(run_id) is Outcome.PLAYED
        await retry(stage.pool, run_id, from_scratch=True)
        assert await latest_draft(stage.pool, str(batch.id)) is None
        assert await stage.play(run_id) is Outcome.PLAYED
    assert await latest_draft(stage.pool, str(batch.id)) is not None


async def test_facts_are_listed_in_pages_that_are_never_cut_in_the_middle(
    stage: Stage, batch: Batch, shelf: Shelf
) -> None:
    for n in range(30):
        words = f"Station {n} measured " + "the thickness of the ice and its age " * 80
        shelf.fact(
            "sea-ice",
            words,
            f"https://example.org/{n}",
            f"stations/{n}",
            run_id=batch.run,
            valid_until="2020",
        )

    def script(request: dict[str, Any]) -> Says:
        block = request["messages"][-1]["content"][-1]
        offset = json.loads(block["content"])["next_offset"] if turn(request) else 0
        return says("Read.") if offset is None else calls(call("list_facts", offset=offset))

    await stage.model(lambda request: script(request) if turn(request) < 20 else says("Enough."))
    run_id = await submit_report(stage, batch.id)
    await stage.play(run_id)
    bodies = await stage.rows("select body, whole from tool_results where run_id = %s order by n", run_id)
    pages = [json.loads(row["body"]) for row in bodies]
    assert {row["whole"] for row in bodies} == {None}, "no page was cut"
    assert len(pages) > 1
    ids = [fact["fact_id"] for page in pages for fact in page["facts"]]
    assert len(ids) == len(set(ids)) == pages[0]["total"] == 34
    assert {fact.get("valid_until") for page in pages for fact in page["facts"]} == {None, "2020"}
