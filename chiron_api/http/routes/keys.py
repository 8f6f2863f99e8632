from http import HTTPStatus
from typing import Annotated

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from chiron_api.acts.inputs import Input, Name, Page, Positive, Time, Usd
from chiron_api.answers import keys as answered
from chiron_api.http.dependencies import ServicesOf
from chiron_api.http.descriptions import answers
from chiron_api.http.responses import json_response
from chiron_api.http.routing import api_router
from chiron_api.views.keys import key_item, key_items
from chiron_workers.access import keys
from chiron_workers.access.audit import newest_entries
from chiron_workers.access.keys import NewKey
from chiron_workers.states import AccessScope, BudgetPeriod

router = api_router("Keys")


class KeyRequest(Input):
    """A key to make; its owner is called as the key is, unless another one is named."""

    name: Name
    scope: AccessScope
    owner: Annotated[str, Field(max_length=64)] = ""
    expires_at: Time | None = None
    budget_usd: Usd | None = None
    budget_period: BudgetPeriod = BudgetPeriod.TOTAL
    requests_per_minute: Positive | None = None


class KeysQuery(Input):
    """Which keys to list: with `revoked` also those that are no longer valid."""

    revoked: bool = False


class AuditPage(Page):
    """A page of the audit trail, of one owner if it is named."""

    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    owner: Name | None = None


@router.post(
    "/v1/keys",
    status_code=HTTPStatus.CREATED,
    summary="Make a key",
    response_model=answered.NewKey,
    responses=answers(HTTPStatus.CONFLICT, located=HTTPStatus.CREATED),
)
async def create_key(body: KeyRequest, services: ServicesOf) -> Response:
    """Make a key: 201 with its secret as `key`, which no later answer shows. 409 where its name is in use."""
    secret, key = await keys.create_key(services.pool, NewKey(**body.model_dump()))
    document = {"key": secret} | key_item(key, left_usd=key.budget_usd)
    headers = {"Location": f"/v1/keys/{key.name}", "Cache-Control": "no-store"}
    return json_response(document, HTTPStatus.CREATED, headers=headers)


@router.get("/v1/keys", summary="List the keys", response_model=answered.KeyList)
async def list_keys(query: Annotated[KeysQuery, Query()], services: ServicesOf) -> Response:
    """The keys, oldest first, without their secrets; `left_usd` is what each has left of its budget."""
    return json_response({"items": await key_items(services.pool, with_revoked=query.revoked)})


@router.delete(
    "/v1/keys/{name}",
    status_code=HTTPStatus.NO_CONTENT,
    summary="Revoke a key",
    responses=answers(HTTPStatus.NOT_FOUND),
)
async def revoke_key(name: str, services: ServicesOf) -> Response:
    """End a key for good; 204. Servers refuse it within five seconds, and what it submitted goes on."""
    await keys.revoke_key(services.pool, name)
    return Response(status_code=HTTPStatus.NO_CONTENT)


@router.get("/v1/audit", summary="List who changed what", response_model=answered.AuditTrail)
async def list_audit(page: Annotated[AuditPage, Query()], services: ServicesOf) -> Response:
    """Acts that changed something, newest first, in pages; `next` is null on the last one."""
    entries = await newest_entries(services.pool, limit=page.limit + 1, before=page.after, owner=page.owner)
    items = entries[: page.limit]
    return json_response({"items": items, "next": items[-1].id if len(entries) > len(items) else None})
