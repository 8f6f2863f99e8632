"""Subscriptions with workers as everybody starts them: two that race, and one of them killed."""

import asyncio
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import psycopg
from support.scripted_model import Says, call, calls, scripted_model, searched
from support.worker_processes import end_leases, rows, running, wait_until

from chiron_workers.db.connect import open_pool
from chiron_workers.runs.session import Session
from chiron_workers.settings import Settings
from chiron_workers.subscriptions.cron import Recurrence
from chiron_workers.subscriptions.subscriptions import NewSubscription, Subscriptions

COUNT = 60
ENV = {
    "CHIRON_RESCUE_S": "0.1",
    "ANTHROPIC_API_KEY": "test",
}


async def subscribe(settings: Settings, count: int) -> None:
    """Subscriptions of `count` subjects, none of which is due for weeks."""
    async with open_pool(settings.database_url, size=2) as pool, Session(pool) as session:
        for n in range(count):
            when = Recurrence(f"0 9 1 {datetime.now(UTC).month % 12 + 1} *", "Europe/Berlin")
            new = NewSubscription((f"topic {n}",), f"Subject {n}", when, model="claude-opus-5-5")
            await Subscriptions(session).create(new)


def make_due(settings: Settings) -> None:
    """As if all had been due last week."""
    rows(settings, "update subscriptions set next_at = now() - interval '7 days' returning 1")


def nothing_new(request: dict[str, Any]) -> Says:
    """Some say that they found nothing, others answer without a fact that would be new."""
    if "topic 1" in str(request["messages"][0]):
        return searched("It is as it was.")
    return calls(call("silent_exit", reason="Nothing has changed."))


async def test_each_due_time_starts_one_batch_with_two_workers_racing_and_one_killed(
    settings: Settings,
) -> None:
    async with scripted_model(nothing_new) as model:
        env = {**ENV, "ANTHROPIC_BASE_URL": model.url}
        with running(settings, name="w1", **env) as first, running(settings, name="w2", **env) as second:
            ready = lambda: all(worker.has_said("ready") for worker in (first, second))  # noqa: E731
            await asyncio.to_thread(wait_until, ready, what="both workers are ready")
            await subscribe(settings, COUNT)
            starting = lambda: [w for w in (first, second) if w.has_said("subscription.started")]  # noqa: E731
            with psycopg.connect(settings.database_url) as connection:
                # No worker comes past the middle before one of them is dead: a batch needs its subject.
                connection.execute(
                    "select 1 from subjects where id = %s for update", [f"subject-{COUNT // 2}"]
                )
                make_due(settings)
                killed, *_ = await asyncio.to_thread(wait_until, starting, what="one of them starts some")
                killed.kill()
            assert len(rows(settings, "select 1 from batches")) < COUNT, "it was killed in the midst of them"
            end_leases(settings, killed)
            done = "select 1 from runs where state = 'completed' having count(*) = %s"
            await asyncio.to_thread(
                wait_until, lambda: rows(settings, done, [COUNT]), what="all runs completed"
            )
            loud = "select 1 from runs where not silent"
            await asyncio.to_thread(
                wait_until, lambda: not rows(settings, loud), what="all times that brought nothing are silent"
            )
            left = second if killed is first else first
            assert await asyncio.to_thread(left.stop) == 0
    started = rows(settings, "select subscription_id, count(*) as n from batches group by 1")
    assert (len(started), {row["n"] for row in started}) == (COUNT, {1})
    assert rows(settings, "select 1 from subscriptions where times <> 1 or next_at < now()") == []
    assert rows(settings, "select 1 from runs where not silent or turns <> 1") == []
    topics = Counter(str(request["messages"][0]["content"][0]["text"]) for request in model.answered)
    repeated = sum(topics.values()) - COUNT
    handed_back = rows(settings, "select 1 from events where kind = 'run.handed_back'")
    assert len(topics) == COUNT
    assert repeated <= len(handed_back), (
        "a silent exit costs no further call, a kill at most the one in flight"
    )
