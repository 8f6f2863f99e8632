"""Having a report written: a run of the writer, in a batch of its own, on what a batch, a run or a subject found."""

import hashlib
import json
from dataclasses import dataclass
from uuid import UUID, uuid4

from chiron_api.reports.scope import resolve_scope
from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.batches.submit import (
    NAME_CHARS_MAX,
    NO_BUDGET,
    TOPIC_CHARS_MAX,
    NewBatch,
    NewRun,
    Submitted,
    submit,
)
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool
from chiron_workers.errors import UsageError
from chiron_workers.knowledge import report_rows
from chiron_workers.knowledge.drafts.citable_facts import CitableFacts, Scope
from chiron_workers.knowledge.report_rows import Target
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.states import BatchKind, ReportKind

ROLE = "writer"
TOPICS_MAX = 50  # that the writer is told
WHAT_IS_KNOWN = "What is known of {title}?"


@dataclass(frozen=True, slots=True)
class WritingOptions:
    """How a report is written; `is_fresh` where it is written again though nothing has changed."""

    model: str | None = None
    budget: Budget = NO_BUDGET
    is_fresh: bool = False


async def submit_report(
    pool: Pool, scope: UUID | str, options: WritingOptions, *, principal: Principal = LOCAL
) -> Submitted:
    """Store a run that writes a report on a batch, a run or a subject; notify the workers afterwards.

    The same report on the same facts, by the same model under the same budget for the same owner, is the same batch.

    Raises:
        NotFound: There is nothing of that id or name.
        UsageError: There is no fact to write from, or an option cannot be used.
    """
    target = await report_rows.find_target(pool, await resolve_scope(pool, scope))
    digest = await CitableFacts(Session(pool), Scope.of(str(target.id))).digest()
    if digest is None:
        raise UsageError(
            f"There is no fact to write from: the {target.kind} {target.id} has none that is sure enough to be shown."
        )
    model = options.model or settings().model
    run = NewRun(
        topic=await _question(pool, target),
        role=ROLE,
        subject=target.subject_id,
        model=model,
        max_turns=settings().max_turns,
        budget=options.budget,
        scope=str(target.id),
    )
    name = f"Report: {' '.join(target.title.split()) or target.id}"[:NAME_CHARS_MAX]
    parts = [str(target.id), digest, model, str(options.budget.usd), str(options.budget.tokens)]
    key = uuid4().hex if options.is_fresh else hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    batch = NewBatch([run], target.subject_id, name, idempotency_key=f"report {key}", kind=BatchKind.REPORT)
    return await submit(pool, batch, principal=principal)


async def _question(pool: Pool, target: Target) -> str:
    """What the report is to answer: what was researched, as it was put."""
    if target.kind is ReportKind.SUBJECT:
        return WHAT_IS_KNOWN.format(title=target.title)[:TOPIC_CHARS_MAX]
    rows = await report_rows.runs(pool, target, limit=TOPICS_MAX)
    topics = list(dict.fromkeys(" ".join(row["topic"].split()) for row in rows))
    return ("; ".join(topics) or target.title)[:TOPIC_CHARS_MAX]
