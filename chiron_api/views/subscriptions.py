from collections.abc import Sequence
from typing import Any

from chiron_workers.subscriptions.occurrences import PastOccurrence
from chiron_workers.subscriptions.subscriptions import Subscription

TIMES_MAX = 100


def time_items(times: Sequence[PastOccurrence]) -> list[dict[str, Any]]:
    """Occurrences of a subscription with the counts of what each changed; those are None until its batch is finished."""
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


def subscription_page(subscription: Subscription, times: Sequence[PastOccurrence]) -> dict[str, Any]:
    """A subscription with its last occurrences, latest first."""
    return {name: getattr(subscription, name) for name in Subscription.__slots__} | {
        "times": time_items(times)
    }
