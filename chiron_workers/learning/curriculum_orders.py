"""Ordering the coverage map of a goal: a run of the role curriculum, in a batch of its own."""

import hashlib
import json
from dataclasses import dataclass
from uuid import uuid4

from chiron_workers.access.audit import record_within
from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.batches.submit import (
    NO_BUDGET,
    UNSTORABLE,
    NewBatch,
    NewRun,
    Submitted,
    prepare,
    submit_within,
)
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool
from chiron_workers.errors import Conflict, UsageError
from chiron_workers.knowledge.coverage.subjects import DEPTH_CHARS_MAX, Subjects, slug
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.states import BatchKind

ROLE = "curriculum"
GOAL_CHARS_MAX = 3_000  # it is the topic of a run
DEPTH = "practical"
TITLE_CHARS = 80  # of a subject, in the name of a batch; the depth stands behind it
KEY_USED = (
    "The idempotency key {key} was used for another goal, depth, model or budget. "
    "Send that request again unchanged, or choose a new key."
)


@dataclass(frozen=True, slots=True)
class Goal:
    """What somebody wants to understand of a subject, and how deeply; both in their own words."""

    subject: str
    purpose: str
    depth: str = DEPTH


@dataclass(frozen=True, slots=True)
class CurriculumOptions:
    """Who draws the map up, and for how much; `is_fresh` where the same goal is mapped again.

    With an idempotency key of one's own, whatever is sent under it is one batch, fresh or not. `key` is that of the batch as it
    is stored; None: one that goal, model and bounds make up.
    """

    model: str | None = None
    budget: Budget = NO_BUDGET
    is_fresh: bool = False
    idempotency_key: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class SubmittedCurriculum:
    """The subject, and the batch with the one run that draws up its map."""

    subject_id: str
    batch: Submitted


async def submit_curriculum(
    pool: Pool, goal: Goal, options: CurriculumOptions, *, principal: Principal = LOCAL
) -> SubmittedCurriculum:
    """Save a learning goal and submit the run that maps it, in one transaction; notify the workers afterwards.

    The same goal and depth, by the same model under the same bounds, are the same batch.

    Raises:
        UsageError: Goal or depth is empty or too long, or an option cannot be used.
        ToolValidationError: The name of the subject holds no letter and no digit.
        Conflict: The idempotency key was used for another goal, depth, model or budget.
        KeyBudgetSpent: The budget of the principal's key has no room for it.
    """
    check_goal(goal)
    subject_id = slug(goal.subject)
    run = NewRun(
        topic=goal.purpose,
        role=ROLE,
        subject=goal.subject,
        model=options.model or settings().model,
        max_turns=settings().max_turns,
        budget=options.budget,
    )
    subject = await Subjects(Session(pool)).find(subject_id)
    title = subject["title"] if subject else goal.subject
    name = f"Map: {' '.join(title.split())[:TITLE_CHARS]}, {' '.join(goal.depth.split())}"
    batch = NewBatch(
        [run],
        goal.subject,
        name,
        idempotency_key=_key(subject_id, run, name, options),
        kind=BatchKind.LEARNING,
    )
    run_ids = await prepare(pool, batch)
    async with Session(pool) as session:
        subjects = Subjects(session)
        await subjects.ensure(goal.subject, goal.subject)
        await subjects.save_goal(subject_id, purpose_statement=goal.purpose, target_depth=goal.depth)
        try:
            receipt = await submit_within(session, batch, run_ids, principal=principal)
        except Conflict:
            raise Conflict(KEY_USED.format(key=repr(options.idempotency_key))) from None
        await record_within(await session.begin(), batches=receipt.batch_id)
    return SubmittedCurriculum(subject_id, receipt)


def _key(subject_id: str, run: NewRun, name: str, options: CurriculumOptions) -> str:
    if options.key is not None:
        return options.key
    if options.idempotency_key is not None:
        return f"curriculum key {hashlib.sha256(options.idempotency_key.encode()).hexdigest()}"
    if options.is_fresh:
        return f"curriculum {uuid4().hex}"
    bounds = [str(run.budget.usd), str(run.budget.tokens), str(run.max_turns)]
    parts = [subject_id, run.topic, run.model, *bounds, name]
    return f"curriculum {hashlib.sha256(json.dumps(parts).encode()).hexdigest()}"


def check_goal(goal: Goal) -> None:
    """Raises UsageError where goal or depth is empty or too long."""
    for word, text, chars_max in (
        ("goal", goal.purpose, GOAL_CHARS_MAX),
        ("depth", goal.depth, DEPTH_CHARS_MAX),
    ):
        if not text.strip():
            raise UsageError(f"The {word} is empty; say it in a few words.")
        if len(text) > chars_max:
            raise UsageError(f"The {word} has {len(text):,} characters; {chars_max:,} are allowed.")
        if UNSTORABLE.search(text):
            raise UsageError(f"The {word} is no text: it holds NUL characters or halves of surrogate pairs.")
