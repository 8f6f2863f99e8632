"""Orders of lessons, questions and maps: the same one is one batch, and any other is never refused as the same."""

from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

from support.course import node_with_facts
from support.research_rows import Shelf

from chiron_workers.batches.submit import Submitted
from chiron_workers.db.connect import Pool
from chiron_workers.ids import new_id
from chiron_workers.learning.curriculum_orders import CurriculumOptions, Goal, submit_curriculum
from chiron_workers.learning.lesson_orders import find_node, order_lesson
from chiron_workers.learning.order_options import OrderOptions
from chiron_workers.learning.question_orders import order_questions

Setting = Callable[[str, str], None]


async def questions(pool: Pool) -> Submitted:
    return await order_questions(pool, "sea-ice", None)


async def lesson(pool: Pool, node: str) -> Submitted:
    return await order_lesson(pool, "sea-ice", await find_node(pool, "sea-ice", node), OrderOptions())


async def curriculum(pool: Pool, subject: str) -> Submitted:
    goal = Goal(subject, "Judge what satellites say of sea ice.")
    return (await submit_curriculum(pool, goal, CurriculumOptions())).batch


async def test_an_order_under_another_bound_on_turns_is_another_batch(
    pool: Pool, shelf: Shelf, setting: Setting
):
    node, _ = node_with_facts(shelf)

    async def order_all() -> list[Submitted]:
        return [await questions(pool), await lesson(pool, str(node)), await curriculum(pool, "Sea ice")]

    setting("MODEL", "offline")
    assert all(receipt.is_new for receipt in await order_all())
    assert not any(receipt.is_new for receipt in await order_all())
    setting("MAX_TURNS", "7")
    assert all(receipt.is_new for receipt in await order_all())


async def test_questions_and_a_lesson_on_a_renamed_node_are_ordered_anew(
    pool: Pool, shelf: Shelf, setting: Setting
):
    node, _ = node_with_facts(shelf)
    setting("MODEL", "offline")
    await questions(pool)
    await lesson(pool, str(node))
    shelf.connection.execute("update nodes set title = 'THICKNESS'")
    assert (await questions(pool)).is_new
    assert (await lesson(pool, str(node))).is_new


async def test_a_subject_in_another_spelling_is_the_same_map(pool: Pool, setting: Setting):
    setting("MODEL", "offline")
    first = await curriculum(pool, "Ice")
    again = await curriculum(pool, "ice")
    assert (again.batch_id, again.is_new) == (first.batch_id, False)


def ask_about(shelf: Shelf, node: UUID, fact: UUID) -> None:
    shelf.insert(
        "questions", id=new_id(), node_id=node, subject_id="ice", kind="recall", text="What?", key="k", statement="s",
        fact_ids=[fact], question_hash="h", handed_in_at=datetime.now(UTC),
    )  # fmt: skip


async def test_questions_on_a_large_map_are_ordered_in_pieces_that_say_what_is_left(
    pool: Pool, shelf: Shelf, setting: Setting
):
    setting("MODEL", "offline")
    shelf.subject("ice")
    facts = {}
    for n in range(120):
        node = shelf.node("ice", f"Node {n}")
        facts[node] = shelf.fact("ice", f"Fact {n}.", "https://a.org/", f"node {n}")
    scopes, sizes = set[str](), []
    for _ in range(3):
        batch = await order_questions(pool, "ice", None)
        again = await order_questions(pool, "ice", None)
        assert (again.batch_id, again.is_new, again.nodes_left) == (batch.batch_id, False, batch.nodes_left)
        rows = shelf.connection.execute(
            "select r.scope, b.name from runs r join batches b on b.id = r.batch_id where b.id = %s",
            (batch.batch_id,),
        ).fetchall()
        scopes |= {scope for scope, _ in rows}
        sizes.append((len(rows), batch.nodes_left, rows[0][1]))
        for scope, _ in rows:
            node = UUID(scope.removeprefix("node:"))
            if node in facts:
                ask_about(shelf, node, facts.pop(node))
    assert sizes == [
        (50, 70, "Questions: 50 of 120 nodes of ice"),
        (50, 20, "Questions: 50 of 120 nodes of ice"),
        (20, 0, "Questions: 20 of 120 nodes of ice"),
    ]
    assert len(scopes) == 120
