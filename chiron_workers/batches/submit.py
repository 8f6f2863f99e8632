import asyncio
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import DictRow
from psycopg.types.json import Json

from chiron_workers.access import allotments
from chiron_workers.access.audit import record_within
from chiron_workers.access.principals import LOCAL, LOCAL_OWNER, Principal
from chiron_workers.batches.topics import invisible_characters
from chiron_workers.billing.budgets import (
    Budget,
    check_amounts,
    check_budget,
    check_model,
    frozen_price,
    run_budget_usd,
)
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.errors import KeyReused, ToolValidationError, UsageError
from chiron_workers.ids import new_id
from chiron_workers.knowledge.coverage.subjects import Subjects, slug
from chiron_workers.roles import role_names, role_of
from chiron_workers.runs import partitions
from chiron_workers.runs.columns import Column, checked_columns, stored
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.states import BatchKind, Effort, ThinkingMode

SQL = load(__file__)
RUNS_MAX = 100_000
TOPIC_CHARS_MAX = 4_000
CONTEXT_CHARS_MAX = 8_000
NAME_CHARS_MAX = 200
KEY_CHARS_MAX = 200
MODEL_CHARS_MAX = 200
INT_MAX = 2**31 - 1
AHEAD_MAX = timedelta(days=3653)
MICRO_USD = Decimal("0.000001")
NO_BUDGET = Budget()
UNSTORABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Earlier:
    """What research that recurs begins with: when its topic was last looked into, and what was found then."""

    since: datetime | None = None
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Occurrence:
    """The time of a subscription that a batch is for."""

    subscription_id: UUID
    due_at: datetime


NOTHING_EARLIER = Earlier()


@dataclass(frozen=True, slots=True)
class NewRun:
    """One topic to be researched. `subject` is any name; its slug is the subject's id. It starts at `ready_at`, or now.

    `context` is background from the user to the topic, for its run alone.
    `thinking` and `effort` are those of the settings where they are None. `scope` says which facts it works on: those of a
    batch or a run, by its id, or of a subject; None: of its own subject.
    """

    topic: str
    role: str
    subject: str
    model: str
    max_turns: int
    priority: int = 0
    budget: Budget = NO_BUDGET
    ready_at: datetime | None = None
    earlier: Earlier = NOTHING_EARLIER
    thinking: ThinkingMode | None = None
    effort: Effort | None = None
    scope: str | None = None
    context: str | None = None


@dataclass(frozen=True, slots=True)
class NewBatch:
    """What somebody submits. `subject` is what the batch is listed under; each run may have another.

    At most `concurrency` of its runs play at once. Where it has `columns`, its runs return rows. `precedents` are members
    of its receipt, in JSON: the same key gets the same receipt.
    """

    runs: Sequence[NewRun]
    subject: str
    name: str = ""
    priority: int = 0
    budget: Budget = NO_BUDGET
    idempotency_key: str | None = None
    concurrency: int | None = None
    occurrence: Occurrence | None = None
    columns: tuple[Column, ...] = ()
    kind: BatchKind = BatchKind.RESEARCH
    precedents: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Submitted:
    """A stored batch; `run_ids` in the order of its topics, `precedents` as it was submitted with first."""

    batch_id: UUID
    run_ids: list[UUID]
    is_new: bool
    precedents: Mapping[str, Any] = field(default_factory=dict, kw_only=True)


def check_run(run: NewRun) -> None:
    """Raises UsageError, saying what would be right, for a run that cannot be submitted."""
    if not run.topic.strip():
        raise UsageError("The topic is empty.")
    if points := invisible_characters(run.topic):
        raise UsageError(f"The topic is empty: none of its characters can be seen ({points}). Remove it.")
    if len(run.topic) > TOPIC_CHARS_MAX:
        raise UsageError(f"The topic has {len(run.topic):,} characters; {TOPIC_CHARS_MAX:,} are allowed.")
    if UNSTORABLE.search(run.topic):
        raise UsageError("The topic is no text: it holds NUL characters or halves of surrogate pairs.")
    if run.context is not None:
        _check_context(run.context)
    if run.role not in role_names():
        raise UsageError(f"There is no role {run.role[:60]!r}; the roles are {', '.join(role_names())}.")
    if not run.model:
        raise UsageError("No model is named: CHIRON_MODEL is empty. Set it, or name one.")
    if not 0 < len(run.model) <= MODEL_CHARS_MAX or UNSTORABLE.search(run.model):
        raise UsageError(f"The model must be a name of at most {MODEL_CHARS_MAX} characters.")
    if not 1 <= run.max_turns <= INT_MAX:
        raise UsageError(f"The number of turns must be between 1 and {INT_MAX:,} (got {run.max_turns}).")
    if abs(run.priority) > INT_MAX:
        raise UsageError(f"The priority must be a whole number of at most {INT_MAX:,}.")
    check_amounts(run.budget)
    if run.ready_at is not None and run.ready_at > datetime.now(UTC) + AHEAD_MAX:
        raise UsageError(f"A run may start within ten years (got {run.ready_at:%Y-%m-%d}).")


def _check_context(context: str) -> None:
    if len(context) > CONTEXT_CHARS_MAX:
        raise UsageError(f"The context has {len(context):,} characters; {CONTEXT_CHARS_MAX:,} are allowed.")
    if UNSTORABLE.search(context):
        raise UsageError("The context is not text: it holds NUL characters or halves of surrogate pairs.")


async def submit(pool: Pool, batch: NewBatch, *, principal: Principal = LOCAL) -> Submitted:
    """Store a batch and its queued runs in one transaction; tell the workers afterwards (pubsub.signals.notify).

    The same idempotency key with the same request of the same owner gives the same batch, also when both are sent at once.

    Args:
        principal: Whose batch it is, and with which key. Where that key has a budget, the batch takes its own from it.

    Raises:
        UsageError: The request itself is wrong; the message says where.
        KeyReused: The idempotency key was used for another request.
        KeyBudgetSpent: The budget of the principal's key has no room for it.
    """
    run_ids = await prepare(pool, batch)
    async with Session(pool) as session:
        return await submit_within(session, batch, run_ids, principal=principal)


async def is_submitted(pool: Pool, batch: NewBatch, *, principal: Principal = LOCAL) -> bool:
    """Whether a batch with its idempotency key is there, so that submitting it stores nothing and costs nothing."""
    args = {"idempotency_key": _stored_key(batch, principal.owner)}
    return bool(await fetch_all(pool, SQL["by_idempotency_key"], args))


async def prepare(pool: Pool, batch: NewBatch) -> list[UUID]:
    """The ids that the runs of a batch are to have, with room made for them. Raises UsageError, as `submit`."""
    # Beside the event loop: a batch may have 100,000 topics.
    run_ids = await asyncio.to_thread(_checked_ids, batch)
    await partitions.ensure(pool, run_ids)
    return run_ids


async def submit_within(
    session: Session, batch: NewBatch, run_ids: list[UUID], *, principal: Principal
) -> Submitted:
    """As `submit`, in the transaction of a session that may write more; `run_ids` come from `prepare`."""
    slugs = _slugs(batch)
    # Before the transaction begins: Postgres ends one that idles for seconds, as hashing many topics may take.
    args = await asyncio.to_thread(_batch_row, batch, slugs, principal)
    await _ensure_subjects(session, slugs)
    connection = await session.begin()
    if principal.key_id is not None:
        if await _is_there(connection, args):
            return await _existing(connection, args)
        args["budget_usd"] = await _reserved_usd(connection, batch, principal.key_id)
    row = await (await connection.execute(SQL["insert"], args)).fetchone()
    if row is None:
        return await _existing(connection, args)
    await _copy_runs(connection, batch, slugs, run_ids, row)
    await connection.execute(SQL["queued_events"], {"batch_id": row["id"]})
    await record_within(connection, batches=row["id"], runs=run_ids[0])
    return Submitted(row["id"], run_ids, is_new=True, precedents=batch.precedents or {})


def _checked_ids(batch: NewBatch) -> list[UUID]:
    check(batch)
    return [new_id() for _ in batch.runs]


def check(batch: NewBatch) -> None:
    """Raises UsageError, saying what would be right, for a batch that cannot be submitted."""
    if not 0 < len(batch.runs) <= RUNS_MAX:
        raise UsageError(f"A batch has between 1 and {RUNS_MAX:,} topics (got {len(batch.runs):,}).")
    for n, run in enumerate(batch.runs, start=1):
        try:
            check_run(run)
        except UsageError as error:
            raise UsageError(f"Topic {n}: {error}") from None
    if len(batch.name) > NAME_CHARS_MAX or UNSTORABLE.search(batch.name):
        raise UsageError(f"The name of a batch is text of at most {NAME_CHARS_MAX} characters.")
    key = batch.idempotency_key
    if key is not None and (not 0 < len(key) <= KEY_CHARS_MAX or UNSTORABLE.search(key)):
        raise UsageError(f"An idempotency key has between 1 and {KEY_CHARS_MAX} characters.")
    models = sorted({run.model for run in batch.runs})
    for model in models:
        check_model(model)
    check_budget(batch.budget, models)
    for budget, model in {(run.budget, run.model) for run in batch.runs}:
        check_budget(budget, [model])
    if abs(batch.priority) > INT_MAX:
        raise UsageError(f"The priority must be a whole number of at most {INT_MAX:,}.")
    if batch.concurrency is not None and not 1 <= batch.concurrency <= INT_MAX:
        raise UsageError(f"The number of runs at once must be at least 1 (got {batch.concurrency}).")
    if batch.columns:
        _check_columns(batch)


def _check_columns(batch: NewBatch) -> None:
    checked_columns(batch.columns)
    for role in sorted({run.role for run in batch.runs}):
        if not role_of(role).may_hand_in_rows:
            raise UsageError(
                f"columns: runs of the role {role} hand in no rows: it has another result, or tools without hand_in_rows. "
                "Ask for rows with the role research."
            )


def _slugs(batch: NewBatch) -> dict[str, str]:
    try:
        return {name: slug(name) for name in {batch.subject, *(run.subject for run in batch.runs)}}
    except ToolValidationError as error:
        raise UsageError(f"The subject cannot be used: {error}") from None


async def _ensure_subjects(session: Session, slugs: Mapping[str, str]) -> None:
    subjects = Subjects(session)
    try:
        # In one order everywhere, so that two submits that make the same subjects cannot lock each other out.
        for name in sorted(slugs, key=lambda name: slugs[name]):
            await subjects.ensure(name, name)
    except ToolValidationError as error:
        raise UsageError(f"The subject cannot be used: {error}") from None


async def _reserved_usd(
    connection: AsyncConnection[DictRow], batch: NewBatch, key_id: UUID
) -> Decimal | None:
    budget_usd = await allotments.reserve(connection, key_id, batch.budget.usd)
    check_budget(replace(batch.budget, usd=budget_usd), sorted({run.model for run in batch.runs}))
    return budget_usd


def _batch_row(batch: NewBatch, slugs: Mapping[str, str], principal: Principal) -> dict[str, Any]:
    return {
        "id": new_id(),
        "owner": principal.owner,
        "key_id": principal.key_id,
        "name": batch.name or _name(batch.runs),
        "subject_id": slugs[batch.subject],
        "priority": batch.priority,
        "budget_usd": batch.budget.usd,
        "budget_tokens": batch.budget.tokens,
        "run_count": len(batch.runs),
        "idempotency_key": _stored_key(batch, principal.owner),
        "request_hash": _request_hash(batch, slugs),
        "concurrency": batch.concurrency,
        "ready_at": _earliest(batch.runs),
        "subscription_id": batch.occurrence.subscription_id if batch.occurrence else None,
        "due_at": batch.occurrence.due_at if batch.occurrence else None,
        "columns": Json(stored(batch.columns)) if batch.columns else None,
        "kind": batch.kind,
        "precedents": Json(batch.precedents) if batch.precedents else None,
    }


def _stored_key(batch: NewBatch, owner: str) -> str | None:
    """An idempotency key as it is stored: two owners may use the same words for theirs."""
    key = batch.idempotency_key
    if key is None or owner == LOCAL_OWNER or batch.occurrence is not None:
        return key
    return f"{owner}: {key}"


def _earliest(runs: Sequence[NewRun]) -> datetime | None:
    times = [run.ready_at for run in runs if run.ready_at is not None]
    return min(times) if len(times) == len(runs) else None


def _name(runs: Sequence[NewRun]) -> str:
    first = " ".join(runs[0].topic.split())
    title = first if len(first) <= 80 else f"{first[:79]}…"
    return title if len(runs) == 1 else f"{title} and {len(runs) - 1:,} more"


def _request_hash(batch: NewBatch, slugs: Mapping[str, str]) -> str:
    runs = [
        (
            run.topic,
            run.role,
            slugs[run.subject],
            run.model,
            run.max_turns,
            run.priority,
            *_budget_key(run.budget),
        )
        for run in batch.runs
    ]
    usd, *tokens = _budget_key(batch.budget) or [None]
    request = [batch.name, slugs[batch.subject], batch.priority, usd, runs, *tokens, *_optional_parts(batch)]
    return hashlib.sha256(json.dumps(request).encode()).hexdigest()


def _budget_key(budget: Budget) -> list[str | int | None]:
    # Nothing for nothing, so that requests without it keep the hash they had before there was such a thing.
    usd = None if budget.usd is None else str(budget.usd.quantize(MICRO_USD))
    return [] if budget == NO_BUDGET else [usd] if budget.tokens is None else [usd, budget.tokens]


def _optional_parts(batch: NewBatch) -> Iterator[object]:
    if batch.concurrency is not None:
        yield {"concurrency": batch.concurrency}
    times = {n: run.ready_at.timestamp() for n, run in enumerate(batch.runs) if run.ready_at is not None}
    if times:
        yield {"ready_at": times}
    reasoning = {
        n: [run.thinking, run.effort]
        for n, run in enumerate(batch.runs)
        if run.thinking is not None or run.effort is not None
    }
    if reasoning:
        yield {"reasoning": reasoning}
    if batch.columns:
        yield {"columns": stored(batch.columns)}
    scopes = {n: run.scope for n, run in enumerate(batch.runs) if run.scope is not None}
    if scopes:
        yield {"scopes": scopes}
    contexts = {n: run.context for n, run in enumerate(batch.runs) if run.context is not None}
    if contexts:
        yield {"contexts": contexts}


async def _copy_runs(
    connection: AsyncConnection[DictRow],
    batch: NewBatch,
    slugs: Mapping[str, str],
    ids: Sequence[UUID],
    row: DictRow,
) -> None:
    current = settings()
    models = {run.model for run in batch.runs}
    prices = {model: frozen_price(model) for model in models}
    default_budgets_usd = {model: run_budget_usd(NO_BUDGET, model) for model in models}
    async with connection.cursor() as cursor, cursor.copy(SQL["copy_runs"]) as copy:
        for number, (run_id, run) in enumerate(zip(ids, batch.runs, strict=True), start=1):
            await copy.write_row(
                (
                    run_id,
                    row["id"],
                    run.role,
                    slugs[run.subject],
                    run.topic,
                    run.model,
                    run.priority,
                    run.max_turns,
                    default_budgets_usd[run.model] if run.budget.usd is None else run.budget.usd,
                    run.budget.tokens,
                    1,
                    max(run.ready_at or row["created_at"], row["created_at"]),
                    batch.occurrence.subscription_id if batch.occurrence else None,
                    run.earlier.since,
                    run.earlier.answer,
                    prices[run.model],
                    run.thinking or current.thinking,
                    run.effort or current.effort or None,
                    run.scope,
                    number,
                    run.context,
                )
            )


async def _is_there(connection: AsyncConnection[DictRow], args: Mapping[str, Any]) -> bool:
    return await (await connection.execute(SQL["by_idempotency_key"], args)).fetchone() is not None


async def _existing(connection: AsyncConnection[DictRow], args: Mapping[str, Any]) -> Submitted:
    batch = await (await connection.execute(SQL["by_idempotency_key"], args)).fetchone()
    is_same = batch is not None and batch["request_hash"] == args["request_hash"]
    if batch is None or not is_same or batch["owner"] != args["owner"]:
        raise KeyReused(
            f"The idempotency key {args['idempotency_key']!r} was used for another request. "
            "Send that request again unchanged, or choose a new key."
        )
    rows = await (await connection.execute(SQL["run_ids"], {"batch_id": batch["id"]})).fetchall()
    run_ids = [row["id"] for row in rows]
    return Submitted(batch["id"], run_ids, is_new=False, precedents=batch["precedents"] or {})
