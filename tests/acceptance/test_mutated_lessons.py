"""200 lessons in each of which one sentence has gone wrong, all caught; and lessons whose every citation leads to its fact."""

from random import Random
from typing import Any

import pytest
from support.generated_drafts import WITHOUT_A_JUDGE, World, made_world
from support.lesson_writing import part, submit_lesson
from support.mutated_drafts import Mutated, answers, caught, judge_of, kinds, mutated_drafts
from support.report_writing import offline_model
from support.research_rows import Shelf
from support.run_harness import Stage

from chiron_workers.knowledge.lessons.reading import lessons_of, read_lesson
from chiron_workers.states import Outcome

LESSONS = 20


def world_with_a_map(shelf: Shelf, random: Random, name: str) -> tuple[World, str]:
    """Facts of all kinds, and the title of a node that some of them belong to."""
    world = made_world(shelf, random, name=name)
    title = f"{world.facts[0].content.split()[3]}s"
    shelf.node(name, title)
    return world, title


async def lesson_answers(stage: Stage, node: str, drafts: list[Mutated], judge: Any) -> list[str]:
    """What each draft was answered as a section of a lesson."""
    run_id = await submit_lesson(stage, "valley", node)
    return await answers(stage, run_id, [part("explanation", *draft.sentences) for draft in drafts], judge)


@pytest.mark.parametrize("in_own_words", [True, False], ids=["own words", "other words"])
async def test_every_mutated_lesson_is_refused_for_the_sentence_that_went_wrong(
    stage: Stage, shelf: Shelf, in_own_words: bool, seed: int
) -> None:
    random = Random(seed)
    world, node = world_with_a_map(shelf, random, "valley")
    drafts = mutated_drafts(world, random, in_own_words=in_own_words)
    true_sentences = {text for fact in world.facts for text in (fact.content, fact.reworded)}
    counts = caught(drafts, await lesson_answers(stage, node, drafts, judge_of(true_sentences)))
    print({kind: f"{counts[kind]} of {number}" for kind, number in kinds(drafts).items()})
    assert counts == kinds(drafts)
    assert counts.total() == 200
    assert await stage.rows("select 1 from draft_sentences union all select 1 from lesson_sentences") == []


async def test_a_judge_that_believes_everything_lets_no_rule_be_broken(
    stage: Stage, shelf: Shelf, seed: int
) -> None:
    random = Random(seed)
    world, node = world_with_a_map(shelf, random, "valley")
    drafts = [
        draft for draft in mutated_drafts(world, random, in_own_words=False) if draft.kind in WITHOUT_A_JUDGE
    ]
    assert caught(drafts, await lesson_answers(stage, node, drafts, judge_of(None))) == kinds(drafts)


async def test_every_citation_of_a_lesson_leads_to_a_shown_fact_that_says_so(
    stage: Stage, shelf: Shelf, seed: int
) -> None:
    citations = 0
    async with offline_model(stage):
        for n in range(LESSONS):
            name = f"valley-{n}"
            _, node = world_with_a_map(shelf, Random(seed + n), name)
            assert await stage.play(await submit_lesson(stage, name, node)) is Outcome.PLAYED
            [line] = await lessons_of(stage.pool, name)
            lesson = await read_lesson(stage.pool, line.id)
            assert not lesson.is_stale
            for sentence in (sentence for section in lesson.sections for sentence in section.sentences):
                assert sentence.fact_ids
                for fact_id in sentence.fact_ids:
                    assert lesson.facts[fact_id].is_shown
                    assert lesson.facts[fact_id].content.rstrip(".") in sentence.text
                    citations += 1
    print(f"{citations} citations in {LESSONS} lessons, all of which resolve")
    assert citations >= 2 * LESSONS
