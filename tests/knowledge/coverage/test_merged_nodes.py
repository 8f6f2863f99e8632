"""What hangs on a node goes to the one that it is merged into: rows of every kind, in every state, beside what is there."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from support.course import ASKED, AsLearner, Course, course_of_three
from support.research_rows import Shelf

from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.ids import new_id
from chiron_workers.knowledge.coverage.nodes import Nodes
from chiron_workers.knowledge.coverage.removal import Removal
from chiron_workers.knowledge.drafts.citable_facts import CitableFacts, Scope
from chiron_workers.learning.lesson_orders import find_node
from chiron_workers.learning.question_orders import order_questions
from chiron_workers.runs.session import Caller, Session
from chiron_workers.states import Mark
from chiron_workers.store import Store

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
WAITING = "select 1 from pg_locks where not granted"
KEYS = [UUID(int=n) for n in range(1, 4)]


async def merge(pool: Pool, node: UUID, into: UUID, subject_id: str = "sea-ice") -> None:
    async with Session(pool) as session:
        nodes = Nodes(session)
        await nodes.lock(subject_id)
        await Removal(session).merge(await nodes.get(str(node)), await nodes.get(str(into)))


@dataclass(frozen=True)
class Case:
    """Rows of a table on the merged node and on the one that remains, by name, and what becomes of each."""

    table: str
    node_rows: dict[str, dict[str, Any]]
    other_rows: dict[str, dict[str, Any]]
    result: dict[str, str]  # the name of the row, and where it hangs then; with a value of `shown`
    shown: str = "null"
    usual: dict[str, Any] = field(default_factory=dict)


LESSON = {"subject_id": "sea-ice", "title": "T", "depth": "practical", "model": "offline"}
QUIZ = {"learner": "ada", "subject_id": "sea-ice", "question_ids": KEYS}
CARD = {
    "learner": "ada", "question_hash": "h", "state": 2, "stability": 1.0, "difficulty": 5.0, "due_at": NOW,
    "last_review_at": NOW,
}  # fmt: skip
ANSWER = {"learner": "ada", "question_hash": "h", "response": "x", "correct": True}
QUESTION = {
    "subject_id": "sea-ice", "kind": "recall", "text": "What?", "key": "k", "statement": "s", "fact_ids": KEYS[:1],
}  # fmt: skip
JOURNEY = {
    "learner": "ada", "subject_id": "sea-ice", "purpose": "p", "depth": "d", "model": "offline", "facts_min": 3,
    "needs_map": False, "state": "idle", "event": "started",
}  # fmt: skip
RESEARCH = {
    "subject_id": "sea-ice",
    "owner": "local",
    "round_key": "research 1",
    "request": "{}",
    "facts_before": 1,
}
PROPOSAL = {"subject_id": "sea-ice", "reason": "A page says so."}
THIRD, OTHER, SELF = "third node", "node that remains", "merged node"

CASES = {
    "lessons": Case(
        "lessons",
        {"draft": {}, "former": {"state": "handed_in", "handed_in_at": NOW}},
        {"own": {"state": "handed_in", "handed_in_at": NOW}},
        {"draft": "other", "former": "other", "own": "other"},
        usual=LESSON,
    ),
    "journeys": Case(
        "journeys",
        {"teaching": {"state": "delivering_lesson"}, "held": {"learner": "bob", "held_state": "exercising"}},
        {"own": {"learner": "eve"}},
        {"teaching": "other", "held": "other", "own": "other"},
        usual=JOURNEY,
    ),
    "quizzes of learners who have one": Case(
        "quizzes",
        {"open": {}, "finished": {"position": 3}, "of another": {"learner": "bob", "position": 1}},
        {"own": {"position": 1}},
        {"open": "other 3", "finished": "other 3", "of another": "other 1", "own": "other 1"},
        "position",
        QUIZ,
    ),
    "quizzes of learners whose one is finished": Case(
        "quizzes", {"open": {"position": 2}}, {"own": {"position": 3}},
        {"open": "other 2", "own": "other 3"}, "position", QUIZ,
    ),
    "review cards": Case(
        "review_cards",
        {"due": {}, "of another": {"learner": "bob"}, "of a question": {"question_hash": "i"}},
        {},
        {"due": "other", "of another": "other", "of a question": "other"},
        usual=CARD,
    ),
    "a card that was reviewed before the other": Case(
        "review_cards", {"older": {"state": 1, "last_review_at": NOW - timedelta(1)}}, {"own": {"state": 2}},
        {"own": "other 2"}, "state", CARD,
    ),
    "a card that was reviewed after the other": Case(
        "review_cards", {"newer": {"state": 1, "last_review_at": NOW + timedelta(1)}}, {"own": {"state": 2}},
        {"newer": "other 1"}, "state", CARD,
    ),
    "answers": Case(
        "assessments",
        {"right": {"mark": "right"}, "doubtful": {"mark": "doubtful", "correct": False}, "old": {}},
        {"own": {"mark": "wrong"}},
        {"right": "other", "doubtful": "other", "old": "other", "own": "other"},
        usual=ANSWER,
    ),
    "questions": Case(
        "questions",
        {
            "asked": {"question_hash": "a", "handed_in_at": NOW},
            "not yet": {"question_hash": "b"},
            "twice": {"question_hash": "c", "handed_in_at": NOW},
        },
        {"own": {"question_hash": "c", "handed_in_at": NOW}},
        {"asked": "other", "not yet": "other", "twice": "node", "own": "other"},
        usual=QUESTION,
    ),
    "research": Case(
        "node_research", {"open": {}, "over": {"settled_at": NOW, "facts_after": 2}},
        {"own": {"settled_at": NOW, "facts_after": 1}},
        {"open": "other", "over": "other", "own": "other"}, usual=RESEARCH,
    ),
    "research beside an open one": Case(
        "node_research", {"open": {}, "over": {"settled_at": NOW, "facts_after": 2}}, {"own": {}},
        {"open": "node", "over": "other", "own": "other"}, usual=RESEARCH,
    ),
    "proposals": Case(
        "node_proposals",
        {
            "needs": {"kind": "prerequisite", "other_node_id": THIRD},
            "goes": {"kind": "remove"},
            "same": {"kind": "merge", "other_node_id": OTHER},
            "decided": {"kind": "remove", "state": "rejected"},
        },
        {"back": {"kind": "prerequisite", "other_node_id": SELF}, "own": {"kind": "remove"}},
        {
            "needs": "other open", "goes": "node rejected", "same": "node rejected", "decided": "node rejected",
            "back": "other rejected", "own": "other open",
        },
        "state",
        PROPOSAL,
    ),
    "a proposal that the other has too": Case(
        "node_proposals",
        {"needs": {"kind": "prerequisite", "other_node_id": THIRD}},
        {"own": {"kind": "prerequisite", "other_node_id": THIRD}},
        {"needs": "node rejected", "own": "other open"},
        "state",
        PROPOSAL,
    ),
}  # fmt: skip


@pytest.fixture
def nodes(shelf: Shelf) -> dict[str, UUID]:
    shelf.subject("sea-ice")
    titles = {"node": "Thickness", "other": "Depth", "third": "Sonar"}
    return {name: shelf.node("sea-ice", title) for name, title in titles.items()}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
async def test_rows_follow_a_merge(pool: Pool, shelf: Shelf, nodes: dict[str, UUID], case: Case):
    places = {THIRD: nodes["third"], OTHER: nodes["other"], SELF: nodes["node"]}
    marks = {}
    for place, rows in (("node", case.node_rows), ("other", case.other_rows)):
        for name, more in rows.items():
            columns = {column: places.get(str(value), value) for column, value in (case.usual | more).items()}
            if case.table != "review_cards":
                columns = {"id": new_id()} | columns
            marks[name] = columns.get("id") or (columns["learner"], columns["question_hash"])
            shelf.insert(case.table, **columns, node_id=nodes[place])
    await merge(pool, nodes["node"], nodes["other"])
    key = "id" if case.table != "review_cards" else "learner, question_hash"
    rows = shelf.connection.execute(f"select node_id, {case.shown}, {key} from {case.table}").fetchall()  # noqa: S608
    stored = {row[2] if case.table != "review_cards" else row[2:]: row for row in rows}
    names = {node_id: name for name, node_id in nodes.items()}
    assert len(rows) == len(case.result)
    assert {
        name: " ".join(str(part) for part in (names[stored[marks[name]][0]], stored[marks[name]][1]) if part is not None)
        for name in case.result
    } == case.result  # fmt: skip


async def test_a_node_to_add_below_a_merged_one_is_added_below_the_other(
    pool: Pool, shelf: Shelf, nodes: dict[str, UUID]
):
    shelf.insert(
        "node_proposals", id=new_id(), **PROPOSAL, kind="add",
        draft=f'{{"title": "New", "parent_id": "{nodes["node"]}", "prerequisites": ["{nodes["node"]}"]}}',
    )  # fmt: skip
    await merge(pool, nodes["node"], nodes["other"])
    [(draft,)] = shelf.connection.execute("select draft from node_proposals").fetchall()
    assert (draft["parent_id"], draft["prerequisites"]) == (str(nodes["other"]), [str(nodes["other"])])


async def test_the_id_and_the_title_of_a_merged_node_name_the_one_that_remains(
    pool: Pool, shelf: Shelf, nodes: dict[str, UUID], setting: Callable[[str, str], None]
):
    shelf.fact("sea-ice", "A fact.", "https://a.org/", "thickness")
    await merge(pool, nodes["node"], nodes["other"])
    await merge(pool, nodes["other"], nodes["third"])
    for name in (str(nodes["node"]), "thickness", str(nodes["other"]), "DEPTH"):
        assert (await find_node(pool, "sea-ice", name))["node_id"] == str(nodes["third"])
    setting("MODEL", "offline")
    batches = {(await order_questions(pool, "sea-ice", node_id)).batch_id for node_id in nodes.values()}
    assert len(batches) == 1
    session = Session(pool)
    assert (await Nodes(session).get(str(nodes["node"])))["node_id"] == str(nodes["third"])
    for node_id in nodes.values():
        assert await CitableFacts(session, Scope(subject_id="sea-ice", node_id=node_id)).count() == 1


@pytest.fixture
def course(shelf: Shelf) -> Course:
    return course_of_three(shelf)


@pytest.fixture
def as_learner(pool: Pool, embedder: Embedder) -> AsLearner:
    return lambda owner: Store(Session(pool, Caller(owner=owner, is_admin=False)), embedder)


async def test_a_quiz_goes_on_after_its_node_was_merged(
    pool: Pool, shelf: Shelf, course: Course, as_learner: AsLearner
):
    depth = shelf.node("sea-ice", "Depth")
    async with as_learner("ada") as store:
        quiz, _ = await store.quizzes.start("sea-ice", course.node, count=3)
        quiz = await store.quizzes.answer(quiz.id, course.questions[0], ASKED[0][1])
    await merge(pool, course.node, depth)
    for node in (depth, course.node):  # its former id too
        async with as_learner("ada") as store:
            same, is_new = await store.quizzes.start("sea-ice", node, count=3)
        assert (same.id, is_new, len(same.answers)) == (quiz.id, False, 1)
    for question, (_, key) in zip(course.questions[1:], ASKED[1:], strict=True):
        async with as_learner("ada") as store:
            quiz = await store.quizzes.answer(quiz.id, question, key)
    assert quiz.is_finished
    async with as_learner("ada") as store:
        progress = await store.assessments.progress(depth)
        assert (progress["attempts"], progress["correct"]) == (3, 3)
        assert await store.reviews.next_review(depth) is not None
        assert len(await store.assessments.history(depth)) == 3


@pytest.mark.parametrize("writer", ["answer", "settle", "start"])
async def test_what_is_written_during_a_merge_is_not_left_behind(
    pool: Pool, shelf: Shelf, course: Course, as_learner: AsLearner, writer: str
):
    depth = shelf.node("sea-ice", "Depth")
    async with as_learner("ada") as store:
        quiz, _ = await store.quizzes.start("sea-ice", course.node, count=3)
    if writer == "settle":
        async with as_learner("ada") as store:
            quiz = await store.quizzes.answer(quiz.id, course.questions[0], "thin, I think")
            assert quiz.answers[0].mark is Mark.DOUBTFUL

    async def write() -> None:
        async with as_learner("bob" if writer == "start" else "ada") as store:
            match writer:
                case "answer":
                    await store.quizzes.answer(quiz.id, course.questions[0], ASKED[0][1])
                case "settle":
                    await store.quizzes.settle(quiz.id, course.questions[0], Mark.RIGHT)
                case _:
                    await store.quizzes.start("sea-ice", course.node, count=3)

    async with Session(pool) as session:
        nodes = Nodes(session)
        await nodes.lock("sea-ice")
        await Removal(session).merge(await nodes.get(str(course.node)), await nodes.get(str(depth)))
        writing = asyncio.create_task(write())
        while not shelf.connection.execute(WAITING).fetchone():
            assert not writing.done()
            await asyncio.sleep(0.01)
    await writing
    for table in ("assessments", "review_cards", "quizzes"):
        rows = shelf.connection.execute(f"select distinct node_id from {table}").fetchall()  # noqa: S608
        assert rows in ([], [(depth,)]), table
