from collections.abc import Sequence
from typing import Any

from chiron_workers.subscriptions.occurrences import PastOccurrence
from chiron_workers.subscriptions.subscriptions import Subscription

TIMES_MAX = 100


def as_items(times: Sequence[PastOccurrence]) -> list[dict[str, Any]]:
    """Times of a subscription with the counts of what each has brought; None of one that is not finished."""
    return [
        {
            "batch_id": time.batch_id,
            "due_at": time.due_at,
            "since": time.since,
            "finished_at": time.finished_at,
            "is_empty": time.difference.is_empty if time.difference else None,
            "counts": time.difference.counts if time.difference else None,
        }
        for time in times
    ]


def with_times(found: Subscription, times: Sequence[PastOccurrence]) -> dict[str, Any]:
    """A subscription with its last times, latest first."""
    return {name: getattr(found, name) for name in Subscription.__slots__} | {"times": as_items(times)}
