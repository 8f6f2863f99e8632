"""Ordering the coverage map of a goal: a run of the role curriculum, in a batch of its own."""

import hashlib
import json
from dataclasses import dataclass
from uuid import uuid4

from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.batches.submit import NAME_CHARS_MAX, NO_BUDGET, NewBatch, NewRun, Submitted, submit
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool
from chiron_workers.errors import UsageError
from chiron_workers.knowledge.coverage.subjects import DEPTH_CHARS_MAX, Subjects, slug
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings

ROLE = "curriculum"
GOAL_CHARS_MAX = 3_000  # it is the topic of a run
DEPTH = "practical"


@dataclass(frozen=True, slots=True)
class Goal:
    """What somebody wants to understand of a subject, and how deeply; both in their own words."""

    subject: str
    purpose: str
    depth: str = DEPTH


@dataclass(frozen=True, slots=True)
class CurriculumOptions:
    """Who draws the map up, and for how much; `is_fresh` where the same goal is mapped again."""

    model: str | None = None
    budget: Budget = NO_BUDGET
    is_fresh: bool = False


@dataclass(frozen=True, slots=True)
class SubmittedCurriculum:
    """The subject, and the batch with the one run that draws up its map."""

    subject_id: str
    batch: Submitted


async def submit_curriculum(
    pool: Pool, goal: Goal, options: CurriculumOptions, *, principal: Principal = LOCAL
) -> SubmittedCurriculum:
    """Save a learning goal and submit the run that maps it; notify the workers afterwards.

    The same goal and depth, by the same model under the same bounds, are the same batch.

    Raises:
        UsageError: Goal or depth is empty or too long, or an option cannot be used.
        ToolValidationError: The name of the subject holds no letter and no digit.
    """
    _check(goal)
    subject_id = slug(goal.subject)
    model = options.model or settings().model
    run = NewRun(
        topic=goal.purpose,
        role=ROLE,
        subject=goal.subject,
        model=model,
        max_turns=settings().max_turns,
        budget=options.budget,
    )
    async with Session(pool) as session:
        subjects = Subjects(session)
        await subjects.ensure(goal.subject, goal.subject)
        await subjects.save_goal(subject_id, purpose_statement=goal.purpose, target_depth=goal.depth)
        title = (await subjects.get(subject_id))["title"]
    name = f"Map: {title}"[:NAME_CHARS_MAX]
    parts = [subject_id, goal.purpose, goal.depth, model, str(options.budget.usd), str(options.budget.tokens)]
    parts += [str(run.max_turns), name]
    key = uuid4().hex if options.is_fresh else hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    new_batch = NewBatch([run], goal.subject, name, idempotency_key=f"curriculum {key}")
    return SubmittedCurriculum(subject_id, await submit(pool, new_batch, principal=principal))


def _check(goal: Goal) -> None:
    for word, text, chars_max in (
        ("goal", goal.purpose, GOAL_CHARS_MAX),
        ("depth", goal.depth, DEPTH_CHARS_MAX),
    ):
        if not text.strip():
            raise UsageError(f"The {word} is empty; say it in a few words.")
        if len(text) > chars_max:
            raise UsageError(f"The {word} has {len(text):,} characters; {chars_max:,} are allowed.")
