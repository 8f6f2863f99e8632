"""The OpenAPI document: what FastAPI knows of the routes, the problems that all of them share, and the events."""

import json
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter
from starlette.routing import BaseRoute

from chiron_api.answers.basics import Problem
from chiron_api.answers.events import AnyEvent
from chiron_api.answers.runs import RunResult
from chiron_api.http.descriptions import MEANINGS
from chiron_api.http.principals import COOKIE
from chiron_api.rights import of_route
from chiron_workers.runs.event_fields import FIELDS
from chiron_workers.states import EventKind

REF = "#/components/schemas/{model}"
HEADING = """Long research by Claude agents: no run is lost, nothing is paid for twice, every fact shows its source.

Errors are problem documents after RFC 9457. Lists come in pages: `next` of one is the `after` of the next. Bodies are JSON;
a field that no operation knows is refused."""
TAGS = {
    "Batches": "Topics that are submitted together.",
    "Runs": "The research of one topic by one agent. A path below `/v1/runs/{id}` may name the run by its number in its batch: "
    "`/v1/batches/{id}/runs/3` is the run of the third topic, and `/v1/batches/{id}/runs/3/cancel` cancels it.",
    "Steering": "Cancel, pause, resume, retry and delete what was submitted.",
    "Facts": "What is known, with its sources.",
    "Subjects": "What facts are about, and how it changes.",
    "Learning": "From a goal to a map, research that the map asks for, and what a learner knows.",
    "Lessons": "Nodes of coverage maps, taught from stored facts alone.",
    "Quizzes": "Questions from facts, answers and their marks. A quiz is its learner's alone.",
    "Reports": "What was found, to read and to hand on; and answers written from it.",
    "Subscriptions": "Research that recurs.",
    "Keys": "Who may use the API, for how much, and who changed what.",
    "Costs": "Costs by day, model, subject and key.",
    "Webhooks": "Hear of what ends, waits or is new.",
    "Tools": "What agents work with; each tool can be called from outside, too.",
    "Health": "Is the server alive, and is it ready?",
    "Metrics": "What Prometheus scrapes.",
    "Documentation": "This document.",
}
# A server that asks for no key refuses pages of others and foreign names, whatever they ask for.
OF_ALL = (
    HTTPStatus.FORBIDDEN,
    HTTPStatus.MISDIRECTED_REQUEST,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
OF_KEYS = (HTTPStatus.UNAUTHORIZED, HTTPStatus.TOO_MANY_REQUESTS)
OF_BODIES = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
)


_LOCK = threading.Lock()


@cache
def document() -> dict[str, Any]:
    """The document of all routes."""
    from chiron_api.http.app import all_routes

    return describe(all_routes())


def document_json() -> bytes:
    """The document of all routes as its readers get it; made once, also where many ask at the same time."""
    with _LOCK:
        return _document_json()


@cache
def _document_json() -> bytes:
    return json.dumps(document(), ensure_ascii=False, separators=(",", ":")).encode()


def describe(routes: Sequence[BaseRoute]) -> dict[str, Any]:
    """The document of some routes, as OpenAPI 3.1 has it."""
    api = get_openapi(
        title="Chiron",
        version=version("chiron"),
        openapi_version="3.1.0",
        description=HEADING,
        routes=routes,
        tags=[{"name": name, "description": words} for name, words in TAGS.items()],
        servers=[{"url": "/"}],
        license_info={"name": "Apache License 2.0", "identifier": "Apache-2.0"},
    )
    components = api.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    schemas |= dict(_shared_schemas())
    for name in ("HTTPValidationError", "ValidationError"):  # FastAPI's own form of a problem
        schemas.pop(name, None)
    components["schemas"] = dict(sorted(schemas.items()))
    components["securitySchemes"] = {
        "key": {
            "type": "http",
            "scheme": "bearer",
            "description": "A key, which an admin makes (POST /v1/keys).",
        },
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": COOKIE,
            "description": "A browser that signed in with a link that the owner of the server opens, or with a key.",
        },
    }
    for path, operations in api["paths"].items():
        for method, operation in operations.items():
            _add_access(method.upper(), path, operation)
            _add_problems(operation)
            _describe_answers(operation, schemas)
    # FastAPI keeps the schema of a type that a field describes otherwise.
    references = json.dumps(api)
    for name in [name for name in schemas if f'/schemas/{name}"' not in references]:
        del components["schemas"][name]
    return api


def _add_access(method: str, path: str, operation: dict[str, Any]) -> None:
    rights = of_route(method, path)
    if rights is None or rights.scope is None:
        operation["security"] = []
        return
    operation["security"] = [{"key": []}, {"session": []}]
    operation["x-required-scope"] = rights.scope
    operation["x-changes"] = rights.changes
    operation["x-costs-money"] = rights.costs_money
    operation["x-reads-private"] = rights.reads_private


def _add_problems(operation: dict[str, Any]) -> None:
    responses = operation["responses"]
    statuses = [*OF_ALL, *(OF_KEYS if operation["security"] else ())]
    if "requestBody" in operation:
        statuses += OF_BODIES
    if operation.get("parameters") or "requestBody" in operation:
        statuses.append(HTTPStatus.UNPROCESSABLE_ENTITY)
    for status in statuses:
        responses[str(status.value)] = responses.get(str(status.value), {}) | {
            "description": MEANINGS[status]
        }
    for status_text, response in responses.items():
        if int(status_text) >= HTTPStatus.BAD_REQUEST:
            schema = {"$ref": REF.format(model="Problem")}
            response["content"] = {"application/problem+json": {"schema": schema}}
    operation["responses"] = dict(sorted(responses.items()))


def _describe_answers(operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    """A good answer is described as its model is."""
    for response in operation["responses"].values():
        if response["description"] == "Successful Response":
            content = response.get("content", {}).get("application/json", {})
            model = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
            response["description"] = schemas.get(model, {}).get("description", "Done.")


def _shared_schemas() -> Iterator[tuple[str, dict[str, Any]]]:
    """Problems, lines of results, and events with the meaning of each field."""
    types: dict[str, Any] = {"Problem": Problem, "RunResult": RunResult, "AnyEvent": AnyEvent}
    for name, type_ in types.items():
        adapter: TypeAdapter[Any] = TypeAdapter(type_)
        schema = adapter.json_schema(mode="serialization", ref_template=REF)
        definitions = schema.pop("$defs", {})
        yield from definitions.items()
        yield name, schema
        if name == "AnyEvent":
            _name_fields(definitions)
    data = {
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": {"$ref": REF.format(model="AnyEvent")},
    }
    yield (
        "ServerSentEvent",
        {
            "type": "object",
            "title": "ServerSentEvent",
            "description": "An event of a stream. `id` is where to go on after it, by Last-Event-ID.",
            "properties": {
                "id": {"type": "string"},
                "event": {"type": "string", "enum": [kind.value for kind in EventKind]},
                "data": data,
            },
            "required": ["event", "data"],
        },
    )


def _name_fields(definitions: dict[str, Any]) -> None:
    for schema in list(definitions.values()):
        kind = schema.get("properties", {}).get("kind", {}).get("const")
        if kind is None:
            continue
        data = definitions[schema["properties"]["data"]["$ref"].rpartition("/")[2]]
        for name, description in FIELDS[EventKind(kind)].items():
            data["properties"][name]["description"] = description
