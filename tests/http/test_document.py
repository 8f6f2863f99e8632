import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from fastapi.routing import APIRoute
from support.described_answers import check_answer

from chiron_api.http.app import all_routes
from chiron_api.http.document import TAGS, document
from chiron_workers.states import EventKind


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Path, method and description of each operation of the document."""
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


async def test_every_route_is_described(client: httpx2.AsyncClient):
    api = (await client.get("/openapi.json")).json()
    assert api == document()
    assert api["openapi"].startswith("3.1")
    for route in all_routes():
        assert isinstance(route, APIRoute)
        assert {method.lower() for method in route.methods or ()} <= set(api["paths"][route.path_format])


def test_each_operation_says_what_it_does_and_answers():
    ids = []
    for path, method, operation in operations():
        ids.append(operation["operationId"])
        assert operation["summary"] and operation["description"], (path, method)
        assert set(operation["tags"]) <= set(TAGS), (path, method)
        for status, response in operation["responses"].items():
            assert response["description"] not in ("", "Successful Response"), (path, method, status)
            if status != "204":
                assert response["content"], (path, method, status)
            if status == "200" and "application/json" in response["content"]:
                assert response["content"]["application/json"]["schema"], (path, method)
            if status in ("201", "202"):
                assert "Location" in response["headers"], (path, method)
    assert len(ids) == len(set(ids))


def test_each_refusal_is_a_problem_document():
    for path, method, operation in operations():
        for status, response in operation["responses"].items():
            if status >= "400":
                assert list(response["content"]) == ["application/problem+json"], (path, method, status)


def test_each_event_is_described_with_the_meaning_of_its_fields():
    schemas = document()["components"]["schemas"]
    references = schemas["AnyEvent"]["discriminator"]["mapping"]
    assert set(references) == {kind.value for kind in EventKind}
    for reference in references.values():
        event = schemas[reference.rpartition("/")[2]]
        data = schemas[event["properties"]["data"]["$ref"].rpartition("/")[2]]
        assert all(field["description"] for field in data["properties"].values())


def test_no_reference_of_the_document_leads_nowhere():
    names = set(re.findall(r"'#/components/schemas/([^']+)'", str(document())))
    assert names <= set(document()["components"]["schemas"])
    assert "HTTPValidationError" not in document()["components"]["schemas"]


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, {"items": [], "next": None, "total": 3}, "total"),
        (200, {"items": []}, "next"),
        (418, {}, "is not described"),
    ],
)
def test_an_answer_that_is_not_described_fails(status: int, body: dict[str, Any], words: str):
    request = httpx2.Request("GET", "http://localhost/v1/batches")
    with pytest.raises(AssertionError, match=words):
        check_answer(httpx2.Response(status, json=body, request=request))
