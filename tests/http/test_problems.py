import httpx2
import pytest

from chiron_api.http import bodies
from chiron_api.services import Services


async def test_every_refusal_is_a_problem_document(client: httpx2.AsyncClient):
    refusals = [
        (404, await client.get("/v1/nothing-is-here")),
        (404, await client.get("/v1/subjects/")),
        (404, await client.post("/v1/tools/no_such_tool", json={})),
        (405, await client.delete("/v1/subjects")),
        (
            400,
            await client.post(
                "/v1/knowledge/search", content="{", headers={"Content-Type": "application/json"}
            ),
        ),
        (
            415,
            await client.post("/v1/knowledge/search", content="{}", headers={"Content-Type": "text/plain"}),
        ),
        (422, await client.post("/v1/knowledge/search", json={"query": "x", "top_k": 0})),
        (422, await client.post("/v1/tools/list_subjects", json=["no object"])),
    ]
    for status, answer in refusals:
        document = answer.json()
        assert (answer.status_code, document["status"]) == (status, status)
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert document["type"] == "about:blank"
        assert document["title"] and document["detail"]


async def test_a_method_that_is_refused_comes_with_those_that_are_not(client: httpx2.AsyncClient):
    assert (await client.delete("/v1/tools")).headers["Allow"] == "GET, HEAD"
    assert (await client.delete("/v1/batches")).headers["Allow"] == "GET, HEAD, POST"


async def test_a_request_for_the_headers_alone_is_answered_as_one_for_the_whole(client: httpx2.AsyncClient):
    answer = await client.head("/v1/subjects")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["Content-Length"] == (await client.get("/v1/subjects")).headers["Content-Length"]
    assert (await client.head("/v1/knowledge/search")).status_code == 405


async def test_a_path_that_cannot_be_is_named_before_the_body_is_read(client: httpx2.AsyncClient):
    for path in ("/v1/facts/no-id/withdraw", "/v1/tools/no_such_tool", "/v1/runs/no-id/cancel"):
        assert (
            await client.post(path, content="{", headers={"Content-Type": "text/plain"})
        ).status_code == 404


async def test_a_wrong_field_is_named(client: httpx2.AsyncClient):
    answer = await client.post("/v1/knowledge/search", json={"query": "x", "top_k": 0, "quick": True})
    document = answer.json()
    assert {error["field"] for error in document["errors"]} == {"top_k", "quick"}


async def test_a_body_beyond_the_limit_is_refused_before_it_is_kept(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(bodies, "BODY_BYTES_MAX", 1_000)
    answer = await client.post("/v1/knowledge/search", json={"query": "x" * 2_000})
    assert answer.status_code == 413


async def test_a_fault_of_ours_tells_a_stranger_nothing(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Services, "store", lambda self: self.does_not_exist)
    answer = await client.get("/v1/subjects")
    document = answer.json()
    assert answer.status_code == 500
    assert "does_not_exist" not in str(document)


@pytest.mark.parametrize("value", [True, "3"])
@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/v1/batches", "priority"),
        ("/v1/batches", "max_turns"),
        ("/v1/batches", "budget_tokens"),
        ("/v1/batches", "concurrency"),
        ("/v1/runs", "max_turns"),
        ("/v1/knowledge/search", "top_k"),
        ("/v1/knowledge/search", "min_confidence"),
        ("/v1/keys", "requests_per_minute"),
        ("/v1/quizzes", "count"),
    ],
)
async def test_a_number_of_a_body_is_neither_a_truth_nor_text(
    client: httpx2.AsyncClient, path: str, field: str, value: object
):
    bodies_by_path = {
        "/v1/batches": {"subject": "moon", "topics": ["Tides"]},
        "/v1/runs": {"subject": "moon", "topic": "Tides"},
        "/v1/knowledge/search": {"query": "tides"},
        "/v1/keys": {"name": "a-key", "scope": "read"},
        "/v1/quizzes": {"subject": "moon"},
    }
    answer = await client.post(path, json=bodies_by_path[path] | {field: value})
    assert answer.status_code == 422
    assert field in answer.json()["detail"]
    assert "such as" in answer.json()["detail"]
    assert "without quotes" in answer.json()["detail"]


async def test_an_amount_of_a_body_is_no_truth(client: httpx2.AsyncClient):
    body = {"subject": "moon", "topics": ["Tides"], "budget_usd": True}
    answer = await client.post("/v1/batches", json=body)
    assert (answer.status_code, "an amount of USD" in answer.json()["detail"]) == (422, True)


@pytest.mark.parametrize("name", ["last", "my batch", "0198c0de"])
async def test_what_only_commands_take_for_an_id_is_refused_with_what_an_address_holds(
    client: httpx2.AsyncClient, name: str
):
    for path in (f"/v1/batches/{name}", f"/v1/runs/{name}/events", f"/batches/{name}"):
        answer = await client.get(path)
        assert answer.status_code == 404
        assert "only commands take names, beginnings and" in answer.text
