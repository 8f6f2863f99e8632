"""From a goal to marked answers: each step ordered as front ends order it, each run played by the offline researcher."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers.knowledge.lessons.reading import Lesson, latest_lesson
from chiron_workers.learning.curriculum_orders import CurriculumOptions, Goal, submit_curriculum
from chiron_workers.learning.lesson_orders import find_node, order_lesson
from chiron_workers.learning.order_options import OrderOptions
from chiron_workers.learning.question_orders import order_questions
from chiron_workers.learning.research_rounds import ResearchRound, RoundOptions, RoundState, research_round
from chiron_workers.states import Outcome
from chiron_workers.tools import registry
from support.run_harness import Stage

ROUNDS_MAX = 12


@dataclass
class Way:
    """The way of one subject."""

    stage: Stage
    subject: str

    async def map(self, purpose: str, depth: str) -> str:
        """Have the goal mapped; the id of the subject."""
        self.stage.registry = registry()
        goal = Goal(self.subject, purpose, depth)
        receipt = await submit_curriculum(self.stage.pool, goal, CurriculumOptions(self.stage.model_name))
        await self.play(receipt.batch.run_ids)
        return receipt.subject_id

    async def research(self, subject_id: str, **options: int) -> list[ResearchRound]:
        """Rounds of research until what the goal needs is covered, or gains nothing any more."""
        rounds: list[ResearchRound] = []
        while len(rounds) < ROUNDS_MAX:
            rounds.append(
                await research_round(
                    self.stage.pool, subject_id, RoundOptions(model=self.stage.model_name, **options)
                )
            )
            if rounds[-1].state is not RoundState.SUBMITTED:
                break
            await self.play([run_id for batch in rounds[-1].batches for run_id in batch.run_ids])
        return rounds

    async def lesson(self, subject_id: str, node: str) -> Lesson:
        """Have a lesson on a node written."""
        target = await find_node(self.stage.pool, subject_id, node)
        options = OrderOptions(model=self.stage.model_name)
        receipt = await order_lesson(self.stage.pool, subject_id, target, options)
        await self.play(receipt.run_ids)
        lesson = await latest_lesson(self.stage.pool, subject_id, UUID(target["node_id"]))
        assert lesson is not None
        return lesson

    async def questions(self, subject_id: str, node: str) -> list[DictRow]:
        """Have questions about a node written; the rows of all that there are."""
        target = await find_node(self.stage.pool, subject_id, node)
        receipt = await order_questions(self.stage.pool, subject_id, UUID(target["node_id"]))
        await self.play(receipt.run_ids)
        return await self.stage.rows("select * from questions where handed_in_at is not null order by id")

    async def play(self, run_ids: Sequence[UUID]) -> None:
        for run_id in run_ids:
            assert await self.stage.play(run_id) is Outcome.PLAYED
