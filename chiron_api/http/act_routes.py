"""The FastAPI routes of acts, from their declarations in `chiron_api.acts`."""

import asyncio
import inspect
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from chiron_api.acts.act import Act, Created, Document
from chiron_api.answers.basics import Answer
from chiron_api.http.dependencies import IdempotencyKey, ServicesOf
from chiron_api.http.descriptions import LOCATION, Responses, answers
from chiron_api.http.responses import document_response, json_response
from chiron_api.http.routing import api_router
from chiron_api.services import Services

KEYWORD = inspect.Parameter.KEYWORD_ONLY


def router_of(acts: Iterable[Act[..., Any]]) -> APIRouter:
    """The routes of these acts, in their order."""
    router = APIRouter()
    for act in acts:
        method, _, path = act.route.partition(" ")
        arguments = act.arguments
        of_noun = api_router(act.heading)
        of_noun.add_api_route(
            path,
            _endpoint(act),
            methods=[method],
            name=act.name,
            status_code=act.status,
            summary=act.summary,
            response_model=arguments.answer,
            responses=_responses(act),
        )
        router.routes.extend(of_noun.routes)
    return router


def _endpoint(act: Act[..., Any]) -> Any:
    arguments = act.arguments
    input_name = arguments.input.name if arguments.input else ""

    async def endpoint(**values: Any) -> Response:
        services: Services = values.pop("services")
        model = values.pop(input_name, None)
        options = values if model is None else {**values, input_name: model}
        return await respond(act, await act(services, **options), values)

    parameters = [inspect.Parameter("services", KEYWORD, annotation=ServicesOf)]
    if arguments.path:
        parameters.append(arguments.path.replace(kind=KEYWORD))
    if arguments.input:
        hint = arguments.input.annotation
        is_query = act.route.startswith(("GET ", "DELETE "))
        parameters.append(
            arguments.input.replace(kind=KEYWORD, annotation=Annotated[hint, Query()] if is_query else hint)
        )
    if arguments.takes_key:
        parameters.append(
            inspect.Parameter("idempotency_key", KEYWORD, default=None, annotation=IdempotencyKey)
        )
    endpoint.__signature__ = inspect.Signature(parameters, return_annotation=Response)  # type: ignore[attr-defined]
    endpoint.__name__, endpoint.__doc__ = act.name, act.description
    return endpoint


async def respond(act: Act[..., Any], outcome: object, path: Mapping[str, object]) -> Response:
    """The response for the result of an act."""
    status, location = act.status, act.location
    if isinstance(outcome, Document):
        return document_response(outcome)
    if isinstance(outcome, Created):
        if not outcome.is_new:
            status, location = act.existing_status, "" if act.idle else location
        outcome = outcome.answer
    fields = {**path, **(dict(outcome) if isinstance(outcome, Answer) else {})}
    headers = {"Location": location.format_map(fields)} if location else {}
    if act.shows_secret:
        headers["Cache-Control"] = "no-store"
    if outcome is None or status is HTTPStatus.NO_CONTENT:
        return Response(status_code=status, headers=headers)
    # Beside the event loop: it may be the ids of 100,000 runs.
    return await asyncio.to_thread(json_response, outcome, status, headers=headers)


def _responses(act: Act[..., Any]) -> Responses:
    responses = answers(*act.problems, located=act.status if act.location else None)
    if act.media_types:
        content: dict[str, object] = {media_type: {} for media_type in act.media_types}
        responses |= {act.status.value: {"description": "In the format that was named.", "content": content}}
    if not act.arguments.may_exist or act.existing_status is act.status:
        return responses
    there = {"model": act.arguments.answer, "description": act.idle or "The one that is there already."}
    return responses | {HTTPStatus.OK.value: there if act.idle else LOCATION | there}
