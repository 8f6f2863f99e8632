import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers.access.audit import record_within
from chiron_workers.access.principals import LOCAL_OWNER
from chiron_workers.batches.submit import NewRun, check_run
from chiron_workers.billing.budgets import check_model
from chiron_workers.db.queries import load
from chiron_workers.errors import Conflict, NotFound, UsageError
from chiron_workers.ids import new_id
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.problems import SEE_SUBSCRIPTIONS
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.states import SubscriptionState
from chiron_workers.subscriptions.allowance import Allowance, occurrence_budget
from chiron_workers.subscriptions.cron import Recurrence

SQL = load(__file__)
TOPICS_MAX = 20
ASKED_FOR = "asked for"


@dataclass(frozen=True, slots=True)
class NewSubscription:
    """Research that is to recur. `subject` is any name; `budget_usd` is for all topics of one time together."""

    topics: tuple[str, ...]
    subject: str
    recurrence: Recurrence
    role: str = "research"
    model: str | None = None  # the one of the run that makes it, or of new runs
    budget_usd: Decimal | None = None
    ends_at: datetime | None = None
    recheck: bool = False  # also read the sources of the subject again each time
    context: str | None = None  # the user's words on the topics, for their runs

    def fingerprint(self, subject_id: str, owner: str) -> str:
        """What two subscriptions of one owner have in common that are the same."""
        when = self.recurrence.cron.split(), self.recurrence.time_zone
        # Nothing for the local user and no context, so that subscriptions keep the one they had before there were these.
        owners = [] if owner == LOCAL_OWNER else [{"owner": owner}]
        contexts = [] if self.context is None else [{"context": self.context}]
        parts = [subject_id, self.topics, self.role, *when, *owners, *contexts]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Subscription:
    """Research that recurs. `reason` says why it is paused, or why its latest time was passed over.

    `next_at` is None unless it is active, `last_batch_id` is what its latest time started. `last_counts` are the differences
    that this time brought, None while they are not counted.
    """

    id: UUID
    subject_id: str
    topics: list[str]
    context: str | None
    role: str
    model: str
    cron: str
    time_zone: str
    budget_usd: Decimal | None
    made_by: str
    run_id: UUID | None
    state: SubscriptionState
    reason: str
    next_at: datetime | None
    last_due_at: datetime | None
    last_batch_id: UUID | None
    last_finished_at: datetime | None
    last_counts: dict[str, int] | None
    times: int
    times_skipped: int
    ends_at: datetime | None
    recheck: bool
    created_at: datetime


class Subscriptions:
    """Who wants what researched again and again, and when each is due."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def create(self, new: NewSubscription) -> tuple[Subscription, bool]:
        """Make a subscription, or find the one that is the same; and whether it is new.

        What a run makes is paused until a person resumes it, and costs no more each time than the run and its batch may.

        Raises:
            UsageError: Something of it is not possible; the message says what would be.
            ToolValidationError: A run names a subject that is not its own.
            Conflict: The subject has as many as it may have, or the same with another model, budget, end or recheck.
        """
        row = await self._session.row(SQL["of_the_run"], {"run_id": self._session.caller.run_id})
        model = new.model or (row["model"] if row else settings().model)
        allowance = _check_allowance(new, model, run_may_cost=row["budget_usd"] if row else None)
        subject_id = await self._subject(new.subject)
        fingerprint = new.fingerprint(subject_id, self._session.caller.owner)
        await self._lock_subject(subject_id)
        if existing_row := await self._session.row(SQL["by_fingerprint"], {"fingerprint": fingerprint}):
            subscription = await self.get(existing_row["id"])
            if (
                current := Allowance(subscription.model, subscription.budget_usd, subscription.ends_at)
            ) != allowance:
                raise Conflict(
                    f"Subscription {subscription.id} has the same topics and times, but {current}; you ask for {allowance}. "
                    "Delete it first, or ask for what it has."
                )
            if subscription.recheck is not new.recheck:
                does = "reads" if subscription.recheck else "does not read"
                raise Conflict(
                    f"Subscription {subscription.id} has the same topics and times, but {does} the sources of its subject "
                    "again. Delete it first, or ask for what it has."
                )
            await record_within(await self._session.begin(), subscriptions=subscription.id)
            return subscription, False
        next_at = await self._first_time(new)
        await self._require_room(subject_id)
        return await self._insert(new, subject_id, allowance, next_at), True

    async def _insert(
        self, new: NewSubscription, subject_id: str, allowance: Allowance, next_at: datetime
    ) -> Subscription:
        caller, subscription_id = self._session.caller, new_id()
        # Words that a run has read may have told it to: a person decides whether money is spent again and again.
        is_paused = caller.run_id is not None
        reason = f"made by run {caller.run_id}; a person resumes it"
        await self._session.write(
            SQL["insert"],
            {
                "id": subscription_id,
                "subject_id": subject_id,
                "topics": list(new.topics),
                "role": new.role,
                "model": allowance.model,
                "cron": " ".join(new.recurrence.cron.split()),
                "time_zone": new.recurrence.time_zone,
                "budget_usd": allowance.budget_usd,
                "made_by": caller.owner,
                "run_id": caller.run_id,
                "key_id": caller.key_id,
                "fingerprint": new.fingerprint(subject_id, caller.owner),
                "state": SubscriptionState.PAUSED if is_paused else SubscriptionState.ACTIVE,
                "reason": reason if is_paused else "",
                "next_at": None if is_paused else next_at,
                "ends_at": allowance.ends_at,
                "recheck": new.recheck,
                "context": new.context,
            },
        )
        await record_within(await self._session.begin(), subscriptions=subscription_id)
        return await self.get(subscription_id)

    async def get(self, subscription_id: UUID) -> Subscription:
        """One subscription. Raises NotFound."""
        row = await self._session.row(SQL["get"], {"id": subscription_id})
        if row is None:
            raise _unknown(subscription_id)
        return _subscription(row)

    async def newest(
        self, *, limit: int, before: UUID | None = None, subject_id: str | None = None
    ) -> list[Subscription]:
        """The newest subscriptions that the caller sees, newest first; with `before` those older than that one."""
        owner = self._session.caller.visible_owner
        args = {"limit": limit, "before": before, "subject_id": subject_id, "owner": owner}
        return [_subscription(row) for row in await self._session.rows(SQL["newest"], args)]

    async def pause(self, subscription_id: UUID) -> Subscription:
        """Let no more times come due until somebody resumes it. Raises NotFound, Conflict if it has ended."""
        subscription = await self._lock(subscription_id)
        if subscription.state == SubscriptionState.ACTIVE:
            await self._session.write(SQL["pause"], {"id": subscription_id, "reason": ASKED_FOR})
        await record_within(await self._session.begin(), subscriptions=subscription_id)
        return await self.get(subscription_id)

    async def resume(self, subscription_id: UUID) -> Subscription:
        """Let it come due again, first at the next of its times: what was missed meanwhile is not made up for.

        Raises:
            NotFound: There is no such subscription.
            Conflict: It has ended, or its subject has as many active ones as it may have.
            UsageError: Its expression or time zone cannot be read.
        """
        subscription = await self._lock(subscription_id)
        if subscription.state == SubscriptionState.PAUSED:
            await self._lock_subject(subscription.subject_id)
            await self._require_room(subscription.subject_id)
            next_at = Recurrence(subscription.cron, subscription.time_zone).next_after(await self._now())
            await self._session.write(SQL["resume"], {"id": subscription_id, "next_at": next_at})
        await record_within(await self._session.begin(), subscriptions=subscription_id)
        return await self.get(subscription_id)

    async def remove(self, subscription_id: UUID) -> None:
        """Delete it; what it has started goes on and stays. Raises NotFound."""
        if not await self._session.write(SQL["remove"], {"id": subscription_id}):
            raise _unknown(subscription_id)
        await record_within(await self._session.begin(), subscriptions=subscription_id)

    async def started_this_run(self) -> bool:
        """Whether a subscription started the run on whose behalf the store is used."""
        row = await self._session.row(SQL["started"], {"run_id": self._session.caller.run_id})
        return row is not None

    async def _lock(self, subscription_id: UUID) -> Subscription:
        rows = await self._session.write(SQL["lock"], {"id": subscription_id})
        if not rows:
            raise _unknown(subscription_id)
        subscription = await self.get(subscription_id)
        if subscription.state == SubscriptionState.ENDED:
            raise Conflict(f"Subscription {subscription_id} has ended; make a new one.")
        return subscription

    async def _subject(self, name: str) -> str:
        subjects = Subjects(self._session)
        if self._session.caller.subject_id is not None:
            return subjects.require_writable(name)
        return await subjects.ensure(name, name)

    async def _lock_subject(self, subject_id: str) -> None:
        args = {"subject_id": subject_id}
        await self._session.lock(SQL["lock_subject"], args, keys=[f"subscriptions {subject_id}"])

    async def _require_room(self, subject_id: str) -> None:
        [row] = await self._session.rows(SQL["counts"], {"subject_id": subject_id})
        limit = settings().subscriptions_per_subject
        unstarted_count = row["unstarted"] if self._session.caller.run_id is not None else 0
        if row["active"] + unstarted_count >= limit:
            unstarted_text = (
                f" and {unstarted_count:,} that wait for a person to start them" if unstarted_count else ""
            )
            raise Conflict(
                f"{subject_id} has {row['active']:,} active subscriptions{unstarted_text}, and may have {limit:,} "
                "(CHIRON_SUBSCRIPTIONS_PER_SUBJECT). Pause or delete one first."
            )

    async def _first_time(self, new: NewSubscription) -> datetime:
        next_at = new.recurrence.next_after(await self._now())
        if new.ends_at is not None and next_at > new.ends_at:
            raise UsageError(
                f"The first time would be {next_at:%Y-%m-%d %H:%M} UTC, after the subscription has ended. Let it end later."
            )
        return next_at

    async def _now(self) -> datetime:
        # All workers see one clock: that of Postgres.
        [row] = await self._session.rows(SQL["now"])
        now: datetime = row["now"]
        return now


def _check_allowance(new: NewSubscription, model: str, *, run_may_cost: Decimal | None) -> Allowance:
    """On what terms it recurs. Raises UsageError for what cannot be subscribed to."""
    if not 0 < len(new.topics) <= TOPICS_MAX:
        raise UsageError(f"A subscription has 1 to {TOPICS_MAX} topics (got {len(new.topics):,}).")
    if len(set(new.topics)) < len(new.topics):
        raise UsageError("A topic is named twice.")
    for topic in new.topics:
        check_run(NewRun(topic, new.role, new.subject, model, settings().max_turns, context=new.context))
    check_model(model)
    new.recurrence.check(at_least=timedelta(seconds=settings().subscription_interval_s))
    budget_usd = occurrence_budget(new.budget_usd, model, run_may_cost=run_may_cost)
    return Allowance(model, budget_usd, new.ends_at)


def _unknown(subscription_id: UUID) -> NotFound:
    return NotFound(f"There is no subscription {subscription_id}.", remedies=(SEE_SUBSCRIPTIONS,))


def _subscription(row: DictRow) -> Subscription:
    return Subscription(**{**row, "state": SubscriptionState(row["state"])})
