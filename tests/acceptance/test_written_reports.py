"""200 drafts in each of which one sentence has gone wrong, all caught; and 50 reports without a sentence that has no fact."""

from random import Random
from typing import Any
from uuid import UUID

import pytest
from support.generated_drafts import WITHOUT_A_JUDGE, World, made_world
from support.mutated_drafts import Mutated, answers, caught, judge_of, kinds, mutated_drafts
from support.report_writing import cited, offline_model, section, submit_report
from support.research_rows import Shelf
from support.run_harness import Stage

from chiron_api.reports.formats import FORMATS
from chiron_api.reports.gathering import gather
from chiron_workers.states import Outcome

REPORTS = 50


async def report_answers(stage: Stage, world: World, drafts: list[Mutated], judge: Any) -> list[str]:
    """What each draft was answered as a section of a report."""
    run_id = await submit_report(stage, world.batch)
    return await answers(stage, run_id, [section(1, *draft.sentences) for draft in drafts], judge)


@pytest.mark.parametrize("in_own_words", [True, False], ids=["own words", "other words"])
async def test_every_mutated_draft_is_refused_for_the_sentence_that_went_wrong(
    stage: Stage, shelf: Shelf, in_own_words: bool, seed: int
) -> None:
    random = Random(seed)
    world = made_world(shelf, random, name="valley")
    drafts = mutated_drafts(world, random, in_own_words=in_own_words)
    true_sentences = {text for fact in world.facts for text in (fact.content, fact.reworded)}
    replies = await report_answers(stage, world, drafts, judge_of(true_sentences))
    counts = caught(drafts, replies)
    print({kind: f"{counts[kind]} of {number}" for kind, number in kinds(drafts).items()})
    assert counts == kinds(drafts)
    assert await stage.rows("select 1 from draft_sentences") == []


async def test_without_anybody_to_ask_every_mutated_draft_is_refused_too(
    stage: Stage, shelf: Shelf, setting: Any, seed: int
) -> None:
    setting("VERDICT_MODEL", "none")
    random = Random(seed)
    world = made_world(shelf, random, name="valley")
    drafts = mutated_drafts(world, random, in_own_words=True)
    counts = caught(drafts, await report_answers(stage, world, drafts, judge_of(set())))
    assert counts == kinds(drafts)
    assert stage.server.verdict_questions == []


async def test_a_judge_that_believes_everything_lets_no_rule_be_broken(
    stage: Stage, shelf: Shelf, seed: int
) -> None:
    random = Random(seed)
    world = made_world(shelf, random, name="valley")
    drafts = [
        draft for draft in mutated_drafts(world, random, in_own_words=False) if draft.kind in WITHOUT_A_JUDGE
    ]
    counts = caught(drafts, await report_answers(stage, world, drafts, judge_of(None)))
    print({kind: f"{counts[kind]} of {number}" for kind, number in kinds(drafts).items()})
    assert counts == kinds(drafts)


async def test_true_drafts_are_kept(stage: Stage, shelf: Shelf, seed: int) -> None:
    random = Random(seed)
    world = made_world(shelf, random, name="valley")
    drafts = [
        Mutated(
            "none", [cited(random.choice([fact.content, fact.reworded]), fact.id) for fact in world.facts], 0
        )
        for _ in range(20)
    ]
    true_sentences = {text for fact in world.facts for text in (fact.content, fact.reworded)}
    replies = await report_answers(stage, world, drafts, judge_of(true_sentences))
    assert all('"sentences_in_all"' in reply for reply in replies)


async def test_no_sentence_of_fifty_reports_is_without_a_fact(stage: Stage, shelf: Shelf, seed: int) -> None:
    sentences = 0
    async with offline_model(stage):
        for n in range(REPORTS):
            random = Random(seed + n)
            world = made_world(
                shelf, random, name=f"valley-{n}", facts=random.randrange(1, 40), pairs=random.randrange(0, 4)
            )
            run_id = await submit_report(stage, world.batch, subject=f"valley-{n}")
            assert await stage.play(run_id) is Outcome.PLAYED
            sentences += await check_report(stage, world, run_id)
    print(f"{sentences} sentences in {REPORTS} reports")
    assert sentences > 5 * REPORTS


async def check_report(stage: Stage, world: World, run_id: UUID) -> int:
    """Hold each sentence of a report to the facts it names; how many there are."""
    facts = {
        fact.id: fact.content for fact in [*world.facts, *(side for pair in world.sides for side in pair)]
    }
    rows = await stage.rows("select text, fact_ids from draft_sentences where run_id = %s", run_id)
    for row in rows:
        assert row["fact_ids"]
        assert set(row["fact_ids"]) <= facts.keys(), "a fact that cannot be told"
        assert all(facts[fact_id].rstrip(".") in row["text"] for fact_id in row["fact_ids"])
    report = await gather(stage.pool, world.batch)
    assert report.answer is not None
    shown = [sentence for part in report.answer.sections for sentence in part.sentences]
    assert len(shown) == len(rows)
    assert all(sentence.facts and sentence.sources for sentence in shown)
    render = FORMATS["md"].render
    assert render
    answer = "".join(map(str, render(report))).partition("## Answer")[2].partition("### What is not known")[0]
    answer = answer.partition("\n- Findings")[0]
    assert answer.count("(finding ") >= len(rows)
    return len(rows)
