"""Keys: who may use this server, for how much; made and revoked by whoever may manage it."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts.inputs import Input
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import read_query
from chiron_api.http.page.forms import read_form
from chiron_api.http.page.keys.draft import FIELDS, new_key
from chiron_api.http.page.rendering import page, see_other
from chiron_api.http.page.views import view
from chiron_api.http.problems import Problem
from chiron_api.views.keys import key_items
from chiron_workers.access import keys
from chiron_workers.errors import Conflict, UsageError
from chiron_workers.states import AccessScope


class Options(Input):
    """The query string: with `revoked` also keys that are no longer valid."""

    revoked: bool = False


async def show_keys(request: Request) -> Response:
    """The keys, oldest first, and a form that makes one."""
    return await _page(request, with_revoked=read_query(request, Options).revoked)


async def create_key(request: Request) -> Response:
    """Make a key and show its secret, which no later page does."""
    fields = await read_form(request)
    try:
        secret, key = await keys.create_key(services_of(request).pool, new_key(fields))
    except (Problem, UsageError, Conflict) as error:
        return await _page(request, status=HTTPStatus.UNPROCESSABLE_ENTITY, problem=str(error), fields=fields)
    response = await _page(request, status=HTTPStatus.CREATED, secret=secret, name=key.name)
    response.headers["Location"] = f"/keys/{key.name}"  # the audit trail names its end
    return response


async def revoke_key(request: Request) -> Response:
    """End a key for good; the list follows."""
    await read_form(request)
    await keys.revoke_key(services_of(request).pool, request.path_params["name"])
    return see_other("/keys")


async def _page(
    request: Request,
    *,
    status: HTTPStatus = HTTPStatus.OK,
    with_revoked: bool = False,
    secret: str = "",
    name: str = "",
    problem: str = "",
    fields: dict[str, str] | None = None,
) -> Response:
    items = await key_items(services_of(request).pool, with_revoked=with_revoked)
    return page(
        request,
        "keys/page.html",
        status=status,
        section="/system",
        items=items,
        with_revoked=with_revoked,
        secret=secret,
        name=name,
        problem=problem,
        fields=dict.fromkeys(FIELDS, "") | (fields or {}),
        scopes=tuple(AccessScope),
    )


routes = [
    view("/keys", show_keys),
    view("/keys", create_key, methods=["POST"]),
    view("/keys/{name}/revoke", revoke_key, methods=["POST"]),
]
