"""Keys of the API, and who changed what; only a key of scope `admin` may."""

from datetime import datetime
from typing import Literal

from chiron_api.answers.keys import AuditEntry, AuditTrail, Key, KeyList, NewKey
from chiron_api.client.call import Call, Listing, fields, get, pages
from chiron_api.client.calls.batches import Money

Scope = Literal["read", "submit", "admin"]
BudgetPeriod = Literal["day", "total"]


def create_key(
    name: str,
    scope: Scope,
    *,
    owner: str | None = None,
    expires_at: datetime | None = None,
    budget_usd: Money | None = None,
    budget_period: BudgetPeriod | None = None,
    requests_per_minute: int | None = None,
) -> Call[NewKey]:
    """Make a key; `key` of what it gives is the secret, which no later answer shows."""
    body = fields(
        name=name,
        scope=scope,
        owner=owner,
        expires_at=expires_at,
        budget_usd=budget_usd,
        budget_period=budget_period,
        requests_per_minute=requests_per_minute,
    )
    return Call("POST", "/v1/keys", NewKey, body=body)


def keys(*, with_revoked: bool = False) -> Call[list[Key]]:
    """The keys, oldest first, without their secrets."""
    return get("/v1/keys", KeyList, part="items", query={"revoked": with_revoked})


def revoke_key(name: str) -> Call[None]:
    """End a key for good. What it submitted goes on."""
    return Call("DELETE", "/v1/keys/{name}", None, target=name)


def audit_trail(owner: str | None = None) -> Listing[AuditEntry]:
    """What was changed, by whom, newest first."""
    return pages("/v1/audit", AuditTrail, owner=owner)
