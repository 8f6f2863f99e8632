"""Steering: the forms that cancel, pause, resume and retry batches and runs, and say something to a run."""

from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chiron_api.acts.act import Act
from chiron_api.acts.inputs import Input
from chiron_api.acts.steering import (
    cancel_batch,
    cancel_run,
    pause_batch,
    pause_run,
    resume_batch,
    resume_run,
    retry_batch,
    retry_run,
)
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import path_id
from chiron_api.http.page.forms import read_form, read_input
from chiron_api.http.page.rendering import see_other
from chiron_api.http.page.views import view
from chiron_api.http.problems import Problem
from chiron_workers.batches.summaries import run_summary
from chiron_workers.pubsub.signals import notify
from chiron_workers.runs.leases import MESSAGE_CHARS, say

COMMANDS: tuple[tuple[str, Act[..., Any]], ...] = tuple(
    (kind, act)
    for kind, commands in (
        ("batches", (cancel_batch, pause_batch, resume_batch, retry_batch)),
        ("runs", (cancel_run, pause_run, resume_run, retry_run)),
    )
    for act in commands
)


def _route(kind: str, act: Act[..., Any]) -> Route:
    async def answer(request: Request) -> Response:
        target = path_id(request)
        await act(services_of(request), target, await read_input(request, act.input_model or Input))
        return see_other(f"/{kind}/{target}")

    return view(act.route.removeprefix("POST /v1"), answer, methods=["POST"])


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
    *(_route(kind, act) for kind, act in COMMANDS),
    view("/runs/{id}/say", send_message, methods=["POST"]),
]
