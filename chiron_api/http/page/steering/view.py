"""Steering: the forms that cancel, pause, resume and retry batches and runs, and say something to a run."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chiron_api.acts.act import Act
from chiron_api.acts.inputs import Input
from chiron_api.acts.runs import Message, send_message
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
from chiron_api.http.page.forms import read_input
from chiron_api.http.page.rendering import see_other
from chiron_api.http.page.views import view

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


async def say(request: Request) -> Response:
    """Continue the conversation with a run."""
    run_id = path_id(request)
    await send_message(services_of(request), run_id, await read_input(request, Message))
    return see_other(f"/runs/{run_id}")


routes = [
    *(_route(kind, act) for kind, act in COMMANDS),
    view("/runs/{id}/say", say, methods=["POST"]),
]
