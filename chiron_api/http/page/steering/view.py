"""Steering: the forms that cancel, pause, resume and retry batches and runs, and say something to a run."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import path_id
from chiron_api.http.page.forms import amount, read_form
from chiron_api.http.page.rendering import see_other
from chiron_api.http.page.views import view
from chiron_api.http.problems import Problem
from chiron_api.steering import steer
from chiron_workers.batches.steering import cancel, pause, resume, retry
from chiron_workers.batches.summaries import run_summary, summary
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool
from chiron_workers.pubsub.signals import notify
from chiron_workers.runs.leases import MESSAGE_CHARS, say

COMMANDS: Mapping[str, Callable[..., Awaitable[Any]]] = {
    "cancel": cancel,
    "pause": pause,
    "resume": resume,
    "retry": retry,
}
PAID = ("resume", "retry")
Find = Callable[[Pool, UUID], Awaitable[object]]


def _route(kind: str, find: Find, name: str) -> Route:
    async def answer(request: Request) -> Response:
        services, target = services_of(request), path_id(request)
        fields = await read_form(request)
        command = COMMANDS[name]
        if name in PAID:
            budget = Budget(amount(fields, "budget_usd") or None, None)
            command = partial(command, budget=budget, principal=services.principal)
        await find(services.pool, target)  # 404 for an id of the other kind
        await steer(services.pool, services.settings.redis_url, target, command)
        return see_other(f"/{kind}/{target}")

    return view(f"/{kind}/{{id}}/{name}", answer, methods=["POST"])


async def send_message(request: Request) -> Response:
    """Continue the conversation with a run."""
    services, run_id = services_of(request), path_id(request)
    text = (await read_form(request)).get("text", "").strip()
    if not 0 < len(text) <= MESSAGE_CHARS:
        detail = f"A message has 1 to {MESSAGE_CHARS:,} characters."
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail)
    await run_summary(services.pool, run_id)
    if await say(services.pool, run_id, text, principal=services.principal):
        await notify(services.settings.redis_url, run_id)
    return see_other(f"/runs/{run_id}")


routes = [
    *(
        _route(kind, find, name)
        for kind, find in (("batches", summary), ("runs", run_summary))
        for name in COMMANDS
    ),
    view("/runs/{id}/say", send_message, methods=["POST"]),
]
