"""Orders of lessons, questions and maps: the same one is one batch, and any other is never refused as the same."""

from collections.abc import Callable

from support.course import node_with_facts
from support.research_rows import Shelf

from chiron_workers.batches.submit import Submitted
from chiron_workers.db.connect import Pool
from chiron_workers.learning.curriculum_orders import CurriculumOptions, Goal, submit_curriculum
from chiron_workers.learning.lesson_orders import LessonOptions, find_node, order_lesson
from chiron_workers.learning.question_orders import order_questions

Setting = Callable[[str, str], None]


async def questions(pool: Pool) -> Submitted:
    return await order_questions(pool, "sea-ice", None)


async def lesson(pool: Pool, node: str) -> Submitted:
    return await order_lesson(pool, "sea-ice", await find_node(pool, "sea-ice", node), LessonOptions())


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
