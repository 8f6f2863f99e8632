"""Submit: what it will cost, and whether that is what one wants."""

import asyncio
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts.batches import BatchRequest, new_batch, submit_batch
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.forms import Form, read_form
from chiron_api.http.page.rendering import escaped, page, see_other
from chiron_api.http.page.submit.draft import Draft, draft_of
from chiron_api.http.page.views import view
from chiron_api.http.problems import Problem
from chiron_api.views.services import service_warnings
from chiron_api.views.sources import source_warnings
from chiron_workers.errors import Conflict, KeyBudgetSpent, UsageError
from chiron_workers.estimates.new_batches import estimate
from chiron_workers.ids import new_id


async def show_form(request: Request) -> Response:
    """The form; what the address says of topics and subject stands in it."""
    return await _form(request, draft_of(request.query_params))


async def submit_form(request: Request) -> Response:
    """Submit what the form says; the page of the batch follows. The same form sent twice gives one batch."""
    services, fields = services_of(request), await read_form(request)
    draft = await asyncio.to_thread(draft_of, fields)
    try:
        body = await asyncio.to_thread(draft.request)
        receipt = (await submit_batch(services, body, fields.get("key") or None)).answer
    except (Problem, UsageError, Conflict, KeyBudgetSpent) as error:
        return await _form(request, draft, problem=str(error))
    return see_other(f"/batches/{receipt.batch_id}")


async def preview(request: Request) -> Response:
    """What the form as it stands would come to: a part of the page."""
    draft = await asyncio.to_thread(draft_of, await read_form(request))
    return page(request, "submit/estimate.html", **await _preview(request, draft))


async def _form(request: Request, draft: Draft, *, problem: str = "") -> Response:
    services = services_of(request)
    async with services.store() as store:
        subjects = await store.subjects.all(limit=1_000)
    topics = await asyncio.to_thread(escaped, draft.text)
    return page(
        request,
        "submit/page.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK,
        section="/submit",
        form=Form(BatchRequest, draft.fields, services.settings),
        topics=topics,
        subjects=subjects,
        default_model=services.settings.model,
        key=str(new_id()),
        problem=problem,
        **await _preview(request, draft),
    )


async def _preview(request: Request, draft: Draft) -> dict[str, Any]:
    services = services_of(request)
    if not draft.topics:
        return {"estimate": None, "hint": "", "warnings": []}
    try:
        batch = await asyncio.to_thread(lambda: new_batch(draft.request(), services.settings))
        forecast = await estimate(services.pool, batch, owner=services.principal.visible_owner)
    except (Problem, UsageError) as error:
        return {"estimate": None, "hint": str(error), "warnings": []}
    warnings = await source_warnings(services.pool, services.settings, batch.runs)
    return {
        "estimate": forecast,
        "hint": "",
        "warnings": [*forecast.warnings, *warnings, *service_warnings(services.settings, batch.runs)],
    }


routes = [
    view("/submit", show_form),
    view("/submit", submit_form, methods=["POST"]),
    view("/submit/estimate", preview, methods=["POST"]),
]
