from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chiron_api.http.requests import RequestModel, Tokens, Usd, path_id, read_optional_body, services_of
from chiron_api.http.responses import json_response
from chiron_api.steering import steer
from chiron_workers.batches.steering import cancel, pause, resume, retry
from chiron_workers.batches.summaries import run_summary, summary
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool


class NoOptions(RequestModel):
    """A command without options."""


class NewBudget(NoOptions):
    """The budget of the batch or the run from now on."""

    budget_usd: Usd | None = None
    budget_tokens: Tokens | None = None


class Retry(NewBudget):
    """`from_scratch` begins anew instead of where the run ended."""

    from_scratch: bool = False


COMMANDS: Mapping[str, tuple[Callable[..., Awaitable[Any]], type[NoOptions]]] = {
    "cancel": (cancel, NoOptions),
    "pause": (pause, NoOptions),
    "resume": (resume, NewBudget),
    "retry": (retry, Retry),
}
Find = Callable[[Pool, UUID], Awaitable[object]]


def _route(kind: str, find: Find, name: str) -> Route:
    command, model = COMMANDS[name]

    async def answer(request: Request) -> Response:
        services, target = services_of(request), path_id(request)
        arguments = (await read_optional_body(request, model)).model_dump()
        if issubclass(model, NewBudget):
            arguments["budget"] = Budget(arguments.pop("budget_usd"), arguments.pop("budget_tokens"))
        await find(services.pool, target)  # 404 for an id of the other kind
        effect = await steer(
            services.pool, services.settings.redis_url, target, partial(command, **arguments)
        )
        document = {
            "changed": effect.changed,
            "asked": effect.requested,
            "lifted": list(effect.lifted_models),
        }
        return json_response(document, HTTPStatus.ACCEPTED, headers={"Location": f"/v1/{kind}/{target}"})

    return Route(f"/v1/{kind}/{{id}}/{name}", answer, methods=["POST"])


routes = [
    _route(kind, find, name)
    for kind, find in (("batches", summary), ("runs", run_summary))
    for name in COMMANDS
]
