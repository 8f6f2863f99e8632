"""Questions: only what their facts bear out is stored, and nobody is asked before they are handed in."""

from collections.abc import Callable
from typing import Any, LiteralString
from uuid import UUID

import psycopg
from support.course import FREEBOARD, MEAN, node_with_facts
from support.report_writing import offline_model
from support.research_rows import Shelf
from support.run_harness import Stage
from support.scripted_model import Block, Says, call, calls, says, supports_all, turn

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.embeddings import Embedder
from chiron_workers.runs.session import Session
from chiron_workers.states import Outcome
from chiron_workers.store import Store
from chiron_workers.tools import registry

WITHDRAWAL = "update facts set status = 'withdrawn' where content like '%1.9 m%'"


def question(fact: UUID, **more: str) -> Block:
    usual = {
        "kind": "recall",
        "question": "How thick was the ice in winter 2023?",
        "key": "1.9 m",
        "statement": MEAN,
    }
    return call("write_question", **usual | more, fact_ids=[str(fact)])


async def play_assessment(
    stage: Stage, node: UUID, *replies: Says, withdraw: LiteralString = "select 1", judge: Any = None
) -> tuple[Outcome, list[dict[str, Any]]]:
    """The outcome of a run that makes these calls, and the results that it was shown.

    `withdraw` is run before the questions are handed in.
    """

    def script(request: dict[str, Any]) -> Says:
        if turn(request) == len(replies):
            with psycopg.connect(stage.pool.conninfo, autocommit=True) as connection:
                connection.execute(withdraw)
        steps = [*replies, calls(call("hand_in_questions")), says("Done.")]
        return steps[min(turn(request), len(steps) - 1)]

    stage.registry = registry()
    await stage.model(script, judge=judge)
    run = NewRun("Thickness", "assessment", "sea-ice", stage.model_name, 9, scope=f"node:{node}")
    [run_id] = (await submit(stage.pool, NewBatch([run], "sea-ice"))).run_ids
    outcome = await stage.play(run_id)
    last = stage.server.requests[-1]["messages"]
    results = [
        block
        for message in last
        for block in message["content"]
        if isinstance(block, dict) and block["type"] == "tool_result"
    ]
    return outcome, results


async def test_a_question_is_stored_with_its_key_and_facts_before_it_is_asked(stage: Stage, shelf: Shelf):
    node, facts = node_with_facts(shelf)
    outcome, _ = await play_assessment(stage, node, calls(question(facts[0])))
    assert outcome is Outcome.PLAYED
    [row] = await stage.rows("select * from questions")
    assert (row["key"], row["fact_ids"], row["kind"]) == ("1.9 m", [facts[0]], "recall")
    assert row["handed_in_at"] is not None
    assert len(row["question_hash"]) == 32


async def test_a_question_says_which_model_found_its_key_borne_out_if_any_did(
    stage: Stage, shelf: Shelf, setting: Callable[[str, str], None]
):
    node, facts = node_with_facts(shelf)
    await play_assessment(stage, node, calls(question(facts[0])), judge=supports_all)
    setting("VERDICT_MODEL", "none")
    other = question(
        facts[1],
        question="What measures the freeboard?",
        key="Satellites",
        statement=FREEBOARD,
    )
    await play_assessment(stage, node, calls(other))
    rows = await stage.rows("select key, verdict_by from questions order by key")
    assert rows == [{"key": "1.9 m", "verdict_by": stage.model_name}, {"key": "Satellites", "verdict_by": ""}]


async def test_a_key_that_its_facts_do_not_bear_out_is_refused_with_the_reason(stage: Stage, shelf: Shelf):
    node, facts = node_with_facts(shelf)
    wrong = [
        question(facts[0], key="2.4 m", statement=MEAN.replace("1.9", "2.4")),
        question(facts[1]),
        question(facts[0], key="3 m"),
        question(facts[0], question="Was it 1.9 m thick?"),
        question(UUID(int=7)),
    ]
    outcome, results = await play_assessment(stage, node, calls(*wrong))
    assert outcome is Outcome.FAILED
    assert await stage.rows("select 1 from questions") == []
    refusals = [result["content"] for result in results if result.get("is_error")]
    for words in ("2.4", "key: does not stand", "says its own key", "There is no fact"):
        assert any(words in str(refusal) for refusal in refusals), words


async def test_a_question_of_the_same_words_is_stored_once(stage: Stage, shelf: Shelf):
    node, facts = node_with_facts(shelf)
    again = question(facts[0], question="how thick was  the ice in WINTER 2023?")
    await play_assessment(stage, node, calls(question(facts[0])), calls(again))
    await play_assessment(stage, node, calls(again))
    assert len(await stage.rows("select 1 from questions")) == 1


async def test_a_question_whose_fact_falls_is_left_out_and_the_others_are_handed_in(
    stage: Stage, shelf: Shelf
):
    node, facts = node_with_facts(shelf)
    other = question(
        facts[1],
        question="What measures the freeboard?",
        key="Satellites",
        statement=FREEBOARD,
    )
    outcome, results = await play_assessment(
        stage, node, calls(question(facts[0]), other), withdraw=WITHDRAWAL
    )
    assert outcome is Outcome.PLAYED
    rows = await stage.rows("select key from questions where handed_in_at is not null")
    assert rows == [{"key": "Satellites"}]
    assert '"left_out":1' in str(results[-1]["content"]).replace(" ", "")


async def test_a_question_whose_facts_no_longer_stand_is_replaced_by_one_of_the_same_words(
    stage: Stage, shelf: Shelf
):
    node, facts = node_with_facts(shelf)
    await play_assessment(stage, node, calls(question(facts[0])))
    shelf.connection.execute(WITHDRAWAL)
    newer = MEAN.replace("1.9", "1.7")
    fact = shelf.fact("sea-ice", newer, "https://example.org/9", "thickness", quote=newer, text=newer)
    outcome, _ = await play_assessment(stage, node, calls(question(fact, key="1.7 m", statement=newer)))
    assert outcome is Outcome.PLAYED
    [row] = await stage.rows("select key, fact_ids, handed_in_at is not null as is_handed_in from questions")
    assert row == {"key": "1.7 m", "fact_ids": [fact], "is_handed_in": True}


async def test_the_offline_researcher_asks_for_a_number_or_a_word_of_each_fact(stage: Stage, shelf: Shelf):
    node, _ = node_with_facts(shelf)
    stage.registry = registry()
    async with offline_model(stage):
        run = NewRun("Thickness", "assessment", "sea-ice", "offline", 20, scope=f"node:{node}")
        [run_id] = (await submit(stage.pool, NewBatch([run], "sea-ice"))).run_ids
        assert await stage.play(run_id) is Outcome.PLAYED
    rows = await stage.rows("select text, key, statement from questions where handed_in_at is not null")
    assert len(rows) == 3
    for row in rows:
        assert row["text"].endswith(row["statement"].replace(row["key"], "____"))
    assert any(row["statement"] == FREEBOARD and row["key"] == "Satellites" for row in rows)


async def test_a_question_about_two_facts_of_the_offline_researcher_goes_when_either_of_them_falls(
    stage: Stage, shelf: Shelf, embedder: Embedder
):
    node, _ = node_with_facts(shelf)
    sonar = "Submarines measured the draft of the ice with sonar since 1958."
    buoys = "Moored buoys look up with sonar at the ice above them."
    pair = [
        shelf.fact("sea-ice", words, f"https://example.org/{words[:5]}", "thickness", quote=words, text=words)
        for words in (sonar, buoys)
    ]
    stage.registry = registry()
    async with offline_model(stage):
        run = NewRun("Thickness", "assessment", "sea-ice", "offline", 20, scope=f"node:{node}")
        [run_id] = (await submit(stage.pool, NewBatch([run], "sea-ice"))).run_ids
        assert await stage.play(run_id) is Outcome.PLAYED
    [row] = await stage.rows("select * from questions where kind = 'transfer' and handed_in_at is not null")
    assert (row["key"], {*row["fact_ids"]}, row["verdict_by"]) == ("sonar", {*pair}, "")
    for words in (sonar, buoys):
        assert words[1:].rstrip(".") in row["statement"], "the statement says what each of its facts says"
    questions = Store(Session(stage.pool), embedder).questions
    assert await questions.standing([row["id"]]) == {row["id"]}
    shelf.connection.execute("update facts set status = 'withdrawn' where id = %s", (pair[1],))
    assert await questions.standing([row["id"]]) == set()
