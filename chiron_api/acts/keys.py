"""Keys of the API, and who changed what."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from chiron_api.acts.act import Noun, Target
from chiron_api.acts.inputs import INTEGER, Input, Name, Page, Time, Usd
from chiron_api.answers.keys import AuditTrail, Key, KeyList, NewKey
from chiron_api.services import Services
from chiron_workers.access import keys
from chiron_workers.access.allotments import committed_usd
from chiron_workers.access.audit import newest_entries
from chiron_workers.states import AccessScope, BudgetPeriod

KEYS = Noun("Keys", Target("name"))
ADMIN = AccessScope.ADMIN


class KeyRequest(Input):
    """A key to make; its owner is called as the key is, unless another one is named."""

    name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=keys.NAME_CHARS_MAX,
            description="Name of the key: letters, digits and ._@-",
        ),
    ]
    scope: AccessScope = Field(
        description="What it may: read; also submit and steer; also see all owners and manage keys."
    )
    owner: Annotated[
        str,
        Field(
            max_length=keys.NAME_CHARS_MAX,
            description="Whose batches are submitted with it. Default: its name; `local` is you.",
        ),
    ] = ""
    expires_at: Time | None = Field(None, description="When it ends. Default: never.")
    budget_usd: Usd | None = Field(
        None, description="What all batches of the key may cost together. Default: no limit."
    )
    budget_period: BudgetPeriod = Field(
        BudgetPeriod.TOTAL, description="Whether the budget is for each day, or in total."
    )
    requests_per_minute: Annotated[int, Field(ge=1, le=keys.RATE_MAX), INTEGER] | None = Field(
        None, description="Requests a minute. Default: no limit."
    )

    @field_validator("budget_period")
    @classmethod
    def _require_budget(cls, period: BudgetPeriod, info: ValidationInfo) -> BudgetPeriod:
        if period is not BudgetPeriod.TOTAL and info.data.get("budget_usd", 0) is None:
            raise PydanticCustomError("budget", "goes with a budget_usd")
        return period

    @field_validator("expires_at")
    @classmethod
    def _require_future(cls, end: datetime | None) -> datetime | None:
        if end is not None and end <= datetime.now(UTC):
            raise PydanticCustomError("past", "that time has passed already")
        return end


class KeysQuery(Input):
    """Which keys to list: with `revoked` also those that are no longer valid."""

    with_revoked: bool = Field(False, alias="revoked", description="Also those that were revoked.")


class AuditPage(Page):
    """A page of the audit trail, of one owner if it is named."""

    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    owner: Name | None = Field(None, description="Only what this owner did.")


@KEYS.act(
    "keys.create",
    "POST /v1/keys",
    "Make a key",
    client="create_key",
    scope=ADMIN,
    faces=("POST /keys",),
    status=HTTPStatus.CREATED,
    location="/v1/keys/{name}",
    problems=(HTTPStatus.CONFLICT,),
    shows_secret=True,
)
async def create_key(services: Services, body: KeyRequest) -> NewKey:
    """Make a key; `key` of the answer is its secret, which no later answer shows. A name that is in use is refused."""
    secret, key = await keys.create_key(services.pool, keys.NewKey(**dict(body)))
    return NewKey(key=secret, **dict(_answer(key, left_usd=key.budget_usd)))


@KEYS.act("keys.list", "GET /v1/keys", "List the keys", client="keys", scope=ADMIN, faces=("GET /keys",))
async def list_keys(services: Services, query: KeysQuery) -> KeyList:
    """The keys, oldest first, without their secrets.

    `left_usd` is the budget of each less what it has given to open batches and what was spent of the others.
    """
    rows = await keys.all_keys(services.pool, with_revoked=query.with_revoked)
    bound_ids = [key.id for key in rows if key.budget_usd is not None]
    sums = await committed_usd(services.pool, bound_ids) if bound_ids else {}
    return KeyList(items=[_answer(key, left_usd=_left_usd(key, sums)) for key in rows])


@KEYS.act(
    "keys.revoke",
    "DELETE /v1/keys/{name}",
    "Revoke a key",
    client="revoke_key",
    scope=ADMIN,
    faces=("POST /keys/{name}/revoke",),
    status=HTTPStatus.NO_CONTENT,
    problems=(HTTPStatus.NOT_FOUND,),
)
async def revoke_key(services: Services, name: str) -> None:
    """Revoke a key for good. Servers refuse it within five seconds; the runs that it submitted continue."""
    await keys.revoke_key(services.pool, name)


@KEYS.act("audit.list", "GET /v1/audit", "List who changed what", client="audit_trail", scope=ADMIN)
async def list_audit(services: Services, page: AuditPage) -> AuditTrail:
    """Acts that changed something, newest first, in pages; `next` is null on the last one."""
    entries = await newest_entries(services.pool, limit=page.limit + 1, before=page.after, owner=page.owner)
    return AuditTrail.model_validate(page.of(entries))


def _answer(key: keys.Key, *, left_usd: Decimal | None) -> Key:
    members = {name: getattr(key, name) for name in keys.Key.__slots__}
    return Key.model_validate({**members, "left_usd": left_usd})


def _left_usd(key: keys.Key, sums: Mapping[UUID, Decimal]) -> Decimal | None:
    if key.budget_usd is None:
        return None
    return max(Decimal(0), key.budget_usd - sums.get(key.id, Decimal(0)))
