"""Runs that completed and found nothing can be asked for, over HTTP, on the page and at the terminal."""

from uuid import UUID

import httpx2
import pytest
from support.research_rows import Shelf


@pytest.fixture
def runs(shelf: Shelf) -> dict[str, UUID]:
    """Runs of a batch by what came of them, and one that wrote a report, which was to find nothing."""
    batch = shelf.batch(shelf.subject("lakes"))
    none = {"facts": 0, "confirmed": 0, "cited": 0}
    return {"batch": batch} | {
        name: shelf.run("lakes", batch, f"It {name}", **none | more)
        for name, more in {
            "found nothing": {},
            "stored": {"facts": 2},
            "confirmed": {"confirmed": 1},
            "cited": {"cited": 1},
            "failed": {"state": "failed"},
            "is open": {"state": "paused"},
            "wrote": {"role": "writer"},
        }.items()
    }


async def test_http_lists_those_that_found_nothing_or_the_others(
    client: httpx2.AsyncClient, runs: dict[str, UUID]
) -> None:
    query = {"batch": str(runs["batch"])}
    answer = (await client.get("/v1/runs", params=query | {"nothing_found": "true"})).json()
    [run] = answer["items"]
    assert (run["id"], run["nothing_found"]) == (str(runs["found nothing"]), True)
    others = (await client.get("/v1/runs", params=query | {"nothing_found": "false"})).json()["items"]
    assert {item["id"] for item in others} == {
        str(run_id) for name, run_id in runs.items() if name not in ("batch", "found nothing")
    }
    assert not any(item["nothing_found"] for item in others)
    assert (await client.get(f"/v1/batches/{runs['batch']}")).json()["nothing_found"] == 1
    refusal = await client.get("/v1/runs", params=query | {"nothing_found": "perhaps"})
    assert refusal.status_code == 422


async def test_the_page_lists_those_alone_and_counts_them(
    client: httpx2.AsyncClient, runs: dict[str, UUID]
) -> None:
    client.headers["Accept"] = "text/html"
    path = f"/batches/{runs['batch']}"
    alone = (await client.get(path, params={"nothing_found": "true"})).text
    rows = alone[alone.index("<table") :]
    assert f"/runs/{runs['found nothing']}" in rows
    assert f"/runs/{runs['stored']}" not in rows
    assert "nothing_found=true" in (await client.get(path)).text, "a link leads there"
