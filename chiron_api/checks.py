"""Check facts that no model has judged against their quotes: a run of the verifier, in a separate batch."""

import hashlib
import json
import math
from dataclasses import dataclass
from uuid import uuid4

from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.batches.submit import NAME_CHARS_MAX, NO_BUDGET, NewBatch, NewRun, Submitted, submit
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool
from chiron_workers.errors import UsageError
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.knowledge.facts.checks import PAGE_FACTS, unchecked_of
from chiron_workers.knowledge.facts.verdicts import NOBODY
from chiron_workers.runs.session import Session
from chiron_workers.settings import OFFLINE_MODEL, settings
from chiron_workers.states import Decider

ROLE = "verifier"
SPARE_TURNS = 20  # for calls that fail, and for handing in
NOBODY_ASKED = (
    "CHIRON_VERDICT_MODEL is none, so nobody may be asked whether quotes support facts. Name a model there, or leave it "
    "empty for the configured one, and check again."
)


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Who is asked, and for how much; `is_fresh` where the same facts are asked about again."""

    model: str | None = None
    budget: Budget = NO_BUDGET
    is_fresh: bool = False


@dataclass(frozen=True, slots=True)
class SubmittedCheck:
    """What is checked: so many quotes, by the judge (`rules`, or the name of a model), in the batch; None where nothing is open.

    `unverified` counts quotes that nobody can be asked about, since the text of their source is not here.
    """

    subject_id: str
    unchecked: int
    unverified: int
    judge: str
    batch: Submitted | None


async def submit_check(
    pool: Pool, subject: str, options: CheckOptions, *, principal: Principal = LOCAL
) -> SubmittedCheck:
    """Store a run in which a model judges the unjudged facts of a subject; then notify the workers.

    The same facts, by the same model under the same budget, are the same batch.

    Raises:
        NotFound: There is no such subject.
        UsageError: Nobody may be asked, or an option cannot be used.
    """
    session = Session(pool)
    subject_id = (await Subjects(session).require(subject))["subject_id"]
    verdict_model = settings().verdict_model
    if verdict_model == NOBODY:
        raise UsageError(NOBODY_ASKED)
    model = options.model or verdict_model or settings().model
    judge_model = model if model == OFFLINE_MODEL else verdict_model or model
    judge = Decider.RULES if judge_model == OFFLINE_MODEL else judge_model
    unchecked = await unchecked_of(session, subject_id)
    if unchecked.digest is None:
        return SubmittedCheck(subject_id, 0, unchecked.unverified, judge, None)
    run = NewRun(
        topic=f"{unchecked.assertions:,} quotes of {subject_id}",
        role=ROLE,
        subject=subject_id,
        model=model,
        max_turns=max(settings().max_turns, math.ceil(unchecked.assertions / PAGE_FACTS) + SPARE_TURNS),
        budget=options.budget,
        scope=subject_id,
    )
    parts = [subject_id, unchecked.digest, model, str(options.budget.usd), str(options.budget.tokens)]
    key = uuid4().hex if options.is_fresh else hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    name = f"Check: {subject_id}"[:NAME_CHARS_MAX]
    new_batch = NewBatch([run], subject_id, name, idempotency_key=f"check {key}")
    batch = await submit(pool, new_batch, principal=principal)
    return SubmittedCheck(subject_id, unchecked.assertions, unchecked.unverified, judge, batch)
