"""A client that holds each answer against the OpenAPI document: its status, its type, and each field of its body."""

import copy
import json
import re
from functools import cache
from http import HTTPStatus
from typing import Any

import httpx2
from jsonschema import Draft202012Validator, FormatChecker

from chiron_api.http.document import OF_ALL, OF_KEYS, document

BY_NUMBER = re.compile(r"^/v1/(?:batches/[^/]+/runs/[1-9][0-9]*|runs/[^/]+(?:#|%23)[1-9][0-9]*)")
UNROUTED = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, *OF_ALL, *OF_KEYS)


class DescribedClient(httpx2.AsyncClient):
    """An AsyncClient that fails where an answer is none of those that the document describes."""

    async def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        answer = await super().send(request, stream=stream, **options)
        check_answer(answer, with_body=not stream)
        return answer


def check_answer(answer: httpx2.Response, *, with_body: bool = True) -> None:
    """Raises AssertionError for an answer that the document does not describe."""
    request = answer.request
    where = f"{request.method} {request.url.path}: {answer.status_code}"
    operation = operation_of(request.method, request.url.path)
    if operation is None:
        if not request.url.path.startswith("/v1/"):  # a page, which is for people
            return
        assert answer.status_code in UNROUTED, f"{where}: the document has no such operation"
        described = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    else:
        assert str(answer.status_code) in operation["responses"], f"{where} is not described"
        described = operation["responses"][str(answer.status_code)].get("content", {})
    media_type = answer.headers.get("content-type", "").partition(";")[0]
    if not described:
        assert not media_type, f"{where} has a body of type {media_type}, and none is described"
        return
    assert media_type in described, f"{where} is of type {media_type}; described are {list(described)}"
    if with_body and request.method != "HEAD":
        _check_body(answer, media_type, described[media_type].get("schema", {}), where)


def _check_body(answer: httpx2.Response, media_type: str, schema: dict[str, Any], where: str) -> None:
    match media_type:
        case "application/json" | "application/problem+json":
            _validate(answer.json(), json.dumps(schema), where)
        case "application/jsonl":
            for line in answer.text.splitlines():
                _validate(json.loads(line), json.dumps(schema["contentSchema"]["items"]), where)
        case "text/event-stream":
            for line in answer.text.splitlines():
                if line.startswith("data: "):
                    _check_event(json.loads(line.removeprefix("data: ")), where)


def _check_event(event: dict[str, Any], where: str) -> None:
    kinds = document()["components"]["schemas"]["AnyEvent"]["discriminator"]["mapping"]
    assert event["kind"] in kinds, f"{where}: the document describes no event {event['kind']}"
    _validate(event, json.dumps({"$ref": kinds[event["kind"]]}), where)


def operation_of(method: str, path: str) -> dict[str, Any] | None:
    """The operation of the document that answers a request; None for a path or a method that it does not name.

    A run may be named by its number in its batch, as the document says of all paths of a run.
    """
    path = BY_NUMBER.sub("/v1/runs/x", path)
    for pattern, operations in _operations():
        operation = operations.get("get" if method == "HEAD" else method.lower())
        if operation and pattern.fullmatch(path):
            return operation  # type: ignore[no-any-return]
    return None


@cache
def _operations() -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    """The operations of each path of the document by a pattern of the path; the longest first."""
    paths = sorted(document()["paths"].items(), key=lambda item: -len(item[0]))
    return [
        (re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path))), operations) for path, operations in paths
    ]


def _validate(value: object, schema: str, where: str) -> None:
    error = next(_validator(schema).iter_errors(value), None)
    assert error is None, f"{where}: {'.'.join(map(str, error.absolute_path))}: {error.message[:300]}"


@cache
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(
        json.loads(schema) | {"components": _closed_components()}, format_checker=FormatChecker()
    )


@cache
def _closed_components() -> dict[str, Any]:
    """The schemas of the document without room for a field that they do not name."""
    components: dict[str, Any] = copy.deepcopy(document()["components"])
    for schema in components["schemas"].values():
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return components
