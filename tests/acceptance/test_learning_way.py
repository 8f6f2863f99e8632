"""The whole way of learning on real documentation: goal, map, research, lessons, a quiz, marks, with counts."""

from typing import Any

import pytest
from support.learning_way import Way
from support.python_documents import (
    NO_PACKAGE,
    Fill,
    add_carried_reference,
    add_debian_manuals,
    debian_folders,
)
from support.report_writing import offline_model
from support.run_harness import Stage

from chiron_workers.embeddings import Embedder
from chiron_workers.knowledge.assessment.quizzes import Quiz
from chiron_workers.knowledge.lessons.reading import Lesson
from chiron_workers.learning.needs import FACTS_MIN, NodeNeed, load_needs
from chiron_workers.learning.research_rounds import RoundState
from chiron_workers.runs.session import Caller, Session
from chiron_workers.sources.sources import Sources
from chiron_workers.states import SHOWN_STATUSES, Mark, QuestionKind
from chiron_workers.store import Store

GOAL = "Understand how names, scopes and functions work in Python"
LESSONS = 3
CORPORA = [
    pytest.param(add_carried_reference, id="the reference that Python carries"),
    pytest.param(
        add_debian_manuals,
        id="the Debian package python3-doc",
        marks=pytest.mark.skipif(not debian_folders(), reason=NO_PACKAGE),
    ),
]


@pytest.mark.parametrize("fill", CORPORA)
async def test_from_a_goal_to_marked_answers_without_a_key(
    stage: Stage, embedder: Embedder, setting: Any, fill: Fill
) -> None:
    setting("MODEL", "offline")
    async with Session(stage.pool) as session:
        documents = await fill(session, "Python")
    async with offline_model(stage):
        way = Way(stage, "Python")
        subject_id = await way.map(GOAL, "practical")
        rounds = await way.research(subject_id)
        needs = await load_needs(Session(stage.pool), subject_id)
        check_map(needs)
        assert rounds[-1].state in (RoundState.COVERED, RoundState.EXHAUSTED)
        gaps = [need for need in needs if need.is_on_the_way and not need.is_covered(FACTS_MIN)]
        assert all(need.is_exhausted for need in gaps)
        taught_ids = [need.node["node_id"] for need in needs[:LESSONS]]
        lessons = [await way.lesson(subject_id, node_id) for node_id in taught_ids]
        for node_id in taught_ids:
            questions = await way.questions(subject_id, node_id)
    citations = [await resolved_citations(stage, lesson) for lesson in lessons]
    quiz = await answered_quiz(stage, embedder, subject_id)
    facts = await stage.rows("select count(*) as facts from facts where status = 'accepted'")
    print(
        f"{documents.added} documents, {len(needs)} nodes, {len(rounds) - 1} rounds, {facts[0]['facts']} accepted facts, "
        f"{len(lessons)} lessons with {sum(citations)} citations of which all resolve, {len(questions)} questions, "
        f"{len(quiz.answers)} answers"
    )
    assert len(needs) >= 12
    assert facts[0]["facts"] >= 3 * len(needs)
    assert min(citations) >= 4
    assert {question["kind"] for question in questions} == {*QuestionKind}
    assert [answer.mark for answer in quiz.answers] == [Mark.RIGHT, Mark.WRONG, Mark.RIGHT]


def check_map(needs: list[NodeNeed]) -> None:
    """Hold a map to what it is for: parts below wholes, a third of it critical, each node after what it needs."""
    nodes = {need.node["node_id"]: need.node for need in needs}
    places = {node_id: place for place, node_id in enumerate(nodes)}
    [top] = [node for node in nodes.values() if node["parent_id"] is None]
    critical_ids = {node_id for node_id, node in nodes.items() if node["is_goal_critical"]}
    assert (top["title"], {*top["prerequisites"]}) == (GOAL, critical_ids - {top["node_id"]})
    assert 2 <= len(critical_ids) <= len(nodes) // 3 + 1
    assert {node["depth"] for node in nodes.values()} == {0, 1, 2}
    needed_ids = [(node_id, other) for node_id, node in nodes.items() for other in node["prerequisites"]]
    assert all(places[other] < places[node_id] for node_id, other in needed_ids)
    assert len(needed_ids) > len(critical_ids)


async def resolved_citations(stage: Stage, lesson: Lesson) -> int:
    """Follow each citation of a lesson to its fact, and that to the words in the kept text; how many there are."""
    assert not lesson.is_stale
    fact_ids = [key for section in lesson.sections for item in section.sentences for key in item.fact_ids]
    assert all(item.fact_ids for section in lesson.sections for item in section.sentences)
    for fact_id in fact_ids:
        assert lesson.facts[fact_id].status in SHOWN_STATUSES
        rows = await stage.rows(
            "select quote, source_url, snapshot_hash from assertions where fact_id = %s and quote_state = 'verified'",
            fact_id,
        )
        assert rows, f"fact {fact_id} has no verified quote"
        for row in rows:
            versions = await Sources(Session(stage.pool)).versions(row["source_url"])
            texts = [version.text for version in versions if version.hash == row["snapshot_hash"]]
            assert texts
            assert all(row["quote"] in text for text in texts)
    return len(fact_ids)


async def answered_quiz(stage: Stage, embedder: Embedder, subject_id: str) -> Quiz:
    """A quiz of three questions, answered with the key, with nothing, and with the key."""
    async with Store(Session(stage.pool, Caller()), embedder) as store:
        quiz, _ = await store.quizzes.start(subject_id, None, count=3)
    for is_known in (True, False, True):
        assert quiz.current is not None
        response = quiz.current.key if is_known else ""
        async with Store(Session(stage.pool, Caller()), embedder) as store:
            quiz = await store.quizzes.answer(quiz.id, quiz.current.id, response)
    assert quiz.is_finished
    return quiz
