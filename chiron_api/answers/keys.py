"""Keys of the API, and the trail of what was changed."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from chiron_api.answers.basics import Answer, Usd


class Key(Answer):
    """A key without its secret. `left_usd` is what is left of its budget, today or in all; null without a budget."""

    id: UUID
    name: str
    owner: str
    scope: Literal["read", "submit", "admin"]
    budget_usd: Usd | None
    budget_period: Literal["day", "total"] | None
    requests_per_minute: int | None
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    revoked_at: datetime | None
    left_usd: Usd | None


class NewKey(Key):
    """A key that was just made, with its secret as `key`: no later answer shows it."""

    key: str


class KeyList(Answer):
    """The keys, oldest first."""

    items: list[Key]


class AuditEntry(Answer):
    """An act that changed something; `key_name` is null where it needed no key."""

    id: UUID
    at: datetime
    owner: str
    key_name: str | None
    action: str
    target: str
    detail: dict[str, Any]


class AuditTrail(Answer):
    """A page of acts, newest first; `next` is the `after` of the next page, null on the last."""

    items: list[AuditEntry]
    next: UUID | None
