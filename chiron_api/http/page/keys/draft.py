"""The form of a key, read."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from http import HTTPStatus

from chiron_api.http.page.forms import amount, count
from chiron_api.http.problems import Problem
from chiron_workers.access.keys import NewKey
from chiron_workers.states import AccessScope, BudgetPeriod

FIELDS = ("name", "scope", "owner", "expires", "budget_usd", "budget_period", "requests_per_minute")


def new_key(fields: Mapping[str, str]) -> NewKey:
    """The key that a form asks for. Raises Problem 422."""
    texts = {name: fields.get(name, "").strip() for name in FIELDS}
    return NewKey(
        texts["name"],
        _scope(texts["scope"]),
        texts["owner"],
        _end(texts["expires"]),
        amount(texts, "budget_usd"),
        BudgetPeriod.DAY if texts["budget_period"] == BudgetPeriod.DAY else BudgetPeriod.TOTAL,
        count(texts, "requests_per_minute"),
    )


def _scope(text: str) -> AccessScope:
    if text not in set(AccessScope):
        raise _refusal(f"Choose what the key may: {', '.join(AccessScope)}.")
    return AccessScope(text)


def _end(text: str) -> datetime | None:
    """The beginning of a day on this machine; None where none is named."""
    if not text:
        return None
    try:
        end = datetime.combine(date.fromisoformat(text), time.min).astimezone(UTC)
    except (OverflowError, ValueError, OSError):  # OSError: the platform's clock lacks that year
        raise _refusal(f"A key ends on a date such as 2026-12-31, not {text[:40]!r}.") from None
    if end <= datetime.now(UTC):
        raise _refusal(f"{text} has begun already; choose a later day, or none for a key that does not end.")
    return end


def _refusal(sentence: str) -> Problem:
    return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, sentence)
