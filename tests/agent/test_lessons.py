"""A lesson: written from the facts of a node alone, handed in whole, and marked where its facts are no longer what they were."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
from support.lesson_writing import (
    AGE,
    CASE,
    MEAN,
    OPEN,
    OPPOSITE,
    Taught,
    part,
    submit_lesson,
    taught_subject,
)
from support.report_writing import cited, offline_model
from support.research_rows import Shelf
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, says, turn

from chiron_workers.errors import NotFound, UsageError
from chiron_workers.knowledge.drafts.sections import SQL as SECTIONS_SQL
from chiron_workers.knowledge.lessons.lengths import sentences_max
from chiron_workers.knowledge.lessons.reading import Lesson, latest_lesson, lessons_of, read_lesson
from chiron_workers.states import LessonState, Outcome, Verdict


@pytest.fixture
def taught(shelf: Shelf) -> Taught:
    return taught_subject(shelf)


def script(*replies: Says) -> Any:
    return lambda request: replies[min(turn(request), len(replies) - 1)]


def both_sides(taught: Taught) -> dict[str, Any]:
    return cited(f"Sources disagree: {MEAN} against {OPPOSITE}", taught.mean, taught.opposite)


def whole(taught: Taught) -> Says:
    return calls(
        part("explanation", cited(OPEN, taught.freeboard), both_sides(taught)),
        part("example", cited(CASE, taught.case), title="From freeboard to thickness"),
        part("summary", cited(AGE, taught.age)),
    )


async def written(stage: Stage, taught: Taught, *, again: bool = False) -> Lesson:
    await stage.model(script(whole(taught), calls(call("hand_in_lesson")), says("It is handed in.")))
    assert await stage.play(await submit_lesson(stage, again=again)) is Outcome.PLAYED
    lesson = await latest_lesson(stage.pool, "sea-ice", taught.thickness)
    assert lesson is not None
    return lesson


async def refusal(stage: Stage, *replies: Says) -> str:
    """What the last call is answered in a lesson that is not handed in."""
    await stage.model(script(*replies, says("Done."), says("Done."), says("Done.")))
    assert await stage.play(await submit_lesson(stage)) is Outcome.FAILED
    assert await stage.rows("select 1 from lesson_sentences") == []
    return str(stage.server.requests[len(replies)]["messages"][-1]["content"][-1]["content"])


async def test_a_lesson_has_summary_explanation_example_and_says_what_is_not_known(
    stage: Stage, taught: Taught
) -> None:
    lesson = await written(stage, taught)
    assert [(section.title, len(section.sentences)) for section in lesson.sections] == [
        ("What this lesson says", 1), ("Measuring", 2), ("From freeboard to thickness", 1),
    ]  # fmt: skip
    assert (lesson.line.title, lesson.line.depth, lesson.line.state) == (
        "Thickness",
        "practical",
        LessonState.HANDED_IN,
    )
    assert lesson.line.not_known == [
        f"Sources contradict each other, and nothing settles it: {MEAN[:-1]} — against: {OPPOSITE}",
        "1 statement is not sure enough to be told.",
        "Nothing is known yet of Snow.",
        "Nothing is known yet of Ice, which is to be known first.",
    ]
    assert not lesson.is_stale
    cited_ids = {key for part in lesson.sections for sentence in part.sentences for key in sentence.fact_ids}
    assert cited_ids == lesson.facts.keys()


async def test_the_plan_names_goal_prerequisites_and_length_and_lists_the_facts_of_the_node(
    stage: Stage, taught: Taught
) -> None:
    await stage.model(script(calls(call("lesson_plan"), call("list_facts")), says("Done.")))
    await stage.play(await submit_lesson(stage))
    plan, facts = (block["content"] for block in stage.server.requests[1]["messages"][-1]["content"])
    assert '"goal": "Judge what satellites say of sea ice."' in plan
    assert '"sentences_max": 40' in plan
    assert f'"node_id": "{taught.ice}"' in plan
    assert str(taught.freeboard) in facts
    assert str(taught.elsewhere) not in facts
    assert '"total": 5' in facts


async def test_what_is_missing_is_named_at_the_handing_in(stage: Stage, taught: Taught) -> None:
    answer = await refusal(stage, calls(call("hand_in_lesson")))
    assert "The lesson has no summary and no explanation and no worked example" in answer


async def test_a_lesson_without_an_example_says_that_the_facts_hold_none(
    stage: Stage, taught: Taught
) -> None:
    sections = calls(
        part("explanation", cited(OPEN, taught.freeboard)), part("summary", cited(AGE, taught.age))
    )
    hand_in = calls(call("hand_in_lesson", has_example=False))
    await stage.model(script(sections, hand_in, says("Done.")))
    assert await stage.play(await submit_lesson(stage)) is Outcome.PLAYED
    lesson = await latest_lesson(stage.pool, "sea-ice", taught.thickness)
    assert lesson is not None
    assert lesson.line.not_known[0] == "The known facts hold no example that could be worked through."


async def test_every_contradiction_of_a_cited_fact_is_told(
    stage: Stage, taught: Taught, shelf: Shelf
) -> None:
    third = shelf.fact(
        "sea-ice",
        "In winter 2023 Arctic sea ice was 3.1 m thick on average.",
        "https://c.org/",
        "thickness/c",
    )
    shelf.link(third, taught.mean, "contradicts")
    answer = await refusal(stage, whole(taught), calls(call("hand_in_lesson")))
    assert "These contradictions are not told yet." in answer
    assert f"Section 1, sentence 2: fact {taught.mean} is contradicted by fact {third}" in answer


async def test_a_contradiction_that_comes_up_before_the_handing_in_is_refused(
    stage: Stage, taught: Taught, shelf: Shelf
) -> None:
    def answer(request: dict[str, Any]) -> Says:
        if turn(request) == 1:
            shelf.link(taught.elsewhere, taught.age, "contradicts")
        steps = [whole(taught), calls(call("hand_in_lesson"))]
        return steps[turn(request)] if turn(request) < 2 else says("Done.")

    await stage.model(answer)
    assert await stage.play(await submit_lesson(stage)) is Outcome.FAILED
    refused = str(stage.server.requests[2]["messages"][-1])
    assert f"Section 0, sentence 1: Fact {taught.age} is contradicted by fact {taught.elsewhere}" in refused


async def test_a_section_that_is_written_during_the_handing_in_is_checked_too(
    stage: Stage, taught: Taught, shelf: Shelf
) -> None:
    run_id = await submit_lesson(stage)

    def answer(request: dict[str, Any]) -> Says:
        if turn(request) == 1:  # another call of the run holds the draft
            shelf.connection.execute("begin")
            shelf.connection.execute(SECTIONS_SQL["lock"], {"run_id": run_id})
        return script(whole(taught), calls(call("hand_in_lesson")), says("Done."))(request)

    await stage.model(answer)
    play = asyncio.create_task(stage.play(run_id))
    waiting = (
        "select 1 from pg_locks where locktype = 'advisory' and not granted"
        " and database = (select oid from pg_database where datname = current_database())"
    )
    while not play.done() and not await stage.rows(waiting):
        await asyncio.sleep(0.02)
    assert not play.done()
    shelf.insert("draft_sections", run_id=run_id, place=2, title="Figures", call_id="other")
    shelf.insert(
        "draft_sentences", run_id=run_id, place=2, n=1, text="Sea ice is salty all through.",
        fact_ids=[taught.withdrawn], verdict_reason="It is so.", verdict_by="rules",
    )  # fmt: skip
    shelf.connection.execute("commit")
    assert await play is Outcome.FAILED
    refused = str(stage.server.requests[2]["messages"][-1])
    assert f"Section 2, sentence 1: Fact {taught.withdrawn} was withdrawn" in refused
    assert await stage.rows("select 1 from lesson_sentences") == []


async def test_a_lesson_is_no_longer_than_its_depth_allows(
    stage: Stage, taught: Taught, shelf: Shelf
) -> None:
    shelf.connection.execute("update subjects set target_depth = 'overview'")
    sentences = [cited(AGE, taught.age)] * (sentences_max("overview") + 1)
    answer = await refusal(stage, calls(part("explanation", *sentences)))
    assert "would have 17 sentences; for the depth 'overview' it has at most 16" in answer
    assert sentences_max("an expert who teaches") == sentences_max("expert") > sentences_max("deep") == 40


async def test_a_fact_of_another_subject_or_a_withdrawn_one_carries_no_sentence(
    stage: Stage, taught: Taught, shelf: Shelf
) -> None:
    shelf.subject("birds")
    stranger = shelf.fact("birds", "Ducks dive for food.", "https://example.org/ducks")
    sentences = [
        cited(AGE, taught.age),
        cited("Ducks dive for food.", stranger),
        cited("Sea ice is salty all through.", taught.withdrawn),
    ]
    answer = await refusal(stage, calls(part("explanation", *sentences)))
    assert "Sentence 2: " in answer
    assert f"Sentence 3: Fact {taught.withdrawn} was withdrawn" in answer
    assert "Sentence 1" not in answer


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("update facts set status = 'withdrawn' where id = %s", "was withdrawn since"),
        ("update facts set status = 'candidate' where id = %s", "is no longer sure enough to be told"),
        ("update facts set status = 'disputed' where id = %s", "was accepted and is disputed now"),
        (
            "update facts set status = 'superseded', superseded_by = '{age}' where id = %s",
            "is superseded since by fact {age}",
        ),
    ],
)
async def test_a_lesson_says_which_sentence_is_stale_and_why(
    stage: Stage, taught: Taught, shelf: Shelf, change: str, reason: str
) -> None:
    lesson = await written(stage, taught)
    shelf.connection.execute(change.format(age=taught.age), (taught.freeboard,))
    lesson = await read_lesson(stage.pool, lesson.line.id)
    [stale] = lesson.stale_sentences
    assert (stale.section, stale.number) == ("Measuring", 1)
    assert stale.reason == f"Fact {taught.freeboard} {reason.format(age=taught.age)}."


async def test_a_contradiction_that_comes_up_later_makes_a_lesson_stale(
    stage: Stage, taught: Taught, shelf: Shelf
) -> None:
    lesson = await written(stage, taught)
    shelf.link(taught.elsewhere, taught.age, "contradicts")
    [stale] = (await read_lesson(stage.pool, lesson.line.id)).stale_sentences
    assert stale.reason == f"Fact {taught.age} is contradicted since by fact {taught.elsewhere}."


async def test_a_lesson_written_again_leaves_the_old_one_as_a_former_version(
    stage: Stage, taught: Taught
) -> None:
    first = await written(stage, taught)
    second = await written(stage, taught, again=True)
    assert (first.version, second.version) == (1, 2)
    former = await read_lesson(stage.pool, first.line.id)
    assert former.latest_id == second.line.id
    assert [line.id for line in await lessons_of(stage.pool, "sea-ice")] == [second.line.id, first.line.id]


async def test_the_same_lesson_from_the_same_facts_is_ordered_once(
    stage: Stage, taught: Taught, shelf: Shelf
) -> None:
    first = await submit_lesson(stage)
    assert await submit_lesson(stage) == first
    [draft] = await lessons_of(stage.pool, "sea-ice", with_drafts=True)
    assert (draft.run_id, draft.state) == (first, LessonState.DRAFT)
    assert await lessons_of(stage.pool, "sea-ice") == []
    shelf.connection.execute("update facts set confidence = 0.95 where id = %s", (taught.age,))
    assert await submit_lesson(stage) != first


async def test_a_lesson_outlives_its_run(stage: Stage, taught: Taught) -> None:
    lesson = await written(stage, taught)
    await stage.rows("delete from events returning 1")
    await stage.rows("delete from runs returning 1")
    assert (await read_lesson(stage.pool, lesson.line.id)).sections == lesson.sections


async def test_what_has_no_facts_or_is_no_node_is_refused(stage: Stage, taught: Taught) -> None:
    with pytest.raises(UsageError, match="There is no fact to teach from: of 'Snow' in 'sea-ice'"):
        await submit_lesson(stage, node="Snow")
    with pytest.raises(NotFound, match=r"has no node 'Thicknes'\. There are: Thickness and \d more\."):
        await submit_lesson(stage, node="Thicknes")
    with pytest.raises(UsageError, match=r"at most 300 characters \(got 301\)"):
        await submit_lesson(stage, node="x" * 301)
    with pytest.raises(NotFound, match="There is no lesson"):
        await read_lesson(stage.pool, UUID(int=1))


async def test_the_offline_researcher_teaches_in_the_words_of_the_facts(stage: Stage, taught: Taught) -> None:
    async with offline_model(stage):
        assert await stage.play(run_id := await submit_lesson(stage)) is Outcome.PLAYED
    lesson = await latest_lesson(stage.pool, "sea-ice", taught.thickness)
    assert lesson is not None
    assert [section.title for section in lesson.sections][::3] == [
        "What this lesson says",
        "Where sources disagree",
    ]
    assert lesson.sections[-1].title == "Worked example"
    assert [sentence.text for sentence in lesson.sections[-1].sentences] == [CASE]
    sentences = [sentence for section in lesson.sections for sentence in section.sentences]
    assert {sentence.verdict for sentence in sentences} == {Verdict.UNCHECKED}
    assert {sentence.mark for sentence in sentences} == {"in its fact's words, meaning unchecked"}
    assert "a program without a language model" in (await stage.row(run_id))["answer"]
