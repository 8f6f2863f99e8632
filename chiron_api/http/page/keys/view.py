"""Keys: who may use this server, for how much; made and revoked by whoever may manage it."""

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts import keys as acts
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import read_query
from chiron_api.http.page.forms import Form, as_input, read_form
from chiron_api.http.page.rendering import page, see_other
from chiron_api.http.page.views import view
from chiron_api.http.problems import Problem
from chiron_workers.errors import Conflict, UsageError

ALL_IN_USE = acts.KeysQuery()


async def show_keys(request: Request) -> Response:
    """The keys, oldest first, and a form that makes one."""
    return await _page(request, read_query(request, acts.KeysQuery))


async def create_key(request: Request) -> Response:
    """Make a key and show its secret, which no later page does."""
    fields = await read_form(request)
    try:
        new = await acts.create_key(services_of(request), as_input(fields, acts.KeyRequest))
    except (Problem, UsageError, Conflict) as error:
        return await _page(request, status=HTTPStatus.UNPROCESSABLE_ENTITY, problem=str(error), fields=fields)
    response = await _page(request, status=HTTPStatus.CREATED, secret=new.key, name=new.name)
    response.headers["Location"] = f"/keys/{new.name}"  # the audit trail names its end
    return response


async def revoke_key(request: Request) -> Response:
    """End a key for good; the list follows."""
    await read_form(request)
    await acts.revoke_key(services_of(request), request.path_params["name"])
    return see_other("/keys")


async def _page(
    request: Request,
    query: acts.KeysQuery = ALL_IN_USE,
    *,
    status: HTTPStatus = HTTPStatus.OK,
    secret: str = "",
    name: str = "",
    problem: str = "",
    fields: dict[str, str] | None = None,
) -> Response:
    return page(
        request,
        "keys/page.html",
        status=status,
        section="/system",
        items=(await acts.list_keys(services_of(request), query)).items,
        with_revoked=query.with_revoked,
        secret=secret,
        name=name,
        problem=problem,
        form=Form(acts.KeyRequest, fields or {}),
    )


routes = [
    view("/keys", show_keys),
    view("/keys", create_key, methods=["POST"]),
    view("/keys/{name}/revoke", revoke_key, methods=["POST"]),
]
