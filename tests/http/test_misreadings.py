"""Misread statements that come over HTTP: called supported nowhere, and held back by a check whose judge reads pages."""

from typing import Any

import httpx2
import pytest
from support.misreadings import careful_judge, fact_of, handed_misreadings, serve_pages
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, says, turn
from support.scripted_sites import Site

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.states import Outcome
from chiron_workers.tools import registry

SHORT = 5  # quotes such as "2020 | 1,180", which the quote gate refuses
FEW = 3


def verifier(request: dict[str, Any]) -> Says:
    steps = [calls(call("check_facts")), calls(call("hand_in_check")), says("All are checked.")]
    return steps[turn(request)]


@pytest.mark.parametrize("pages", [FEW, pytest.param(None, marks=pytest.mark.acceptance)])
async def test_misreadings_over_http_are_unchecked_everywhere_and_a_check_holds_them_back(
    client: httpx2.AsyncClient, stage: Stage, local_site: Site, pages: int | None
) -> None:
    readings = handed_misreadings()[:pages]
    urls = serve_pages(local_site, readings)
    fact_ids: list[str] = []
    for reading in readings:
        url = urls[reading.statement]
        fetched = await client.post("/v1/tools/web_fetch", json={"url": url})
        assert fetched.status_code == 200, fetched.text
        stored = await client.post("/v1/tools/store_knowledge", json=fact_of(reading, url))
        assert "supported" not in stored.text
        if stored.status_code == 200:
            fact_ids.append(stored.json()["result"]["fact_id"])
    assert len(fact_ids) == len(readings) - (0 if pages else SHORT)

    for fact_id in fact_ids:
        for path in (f"/v1/facts/{fact_id}", f"/facts/{fact_id}"):
            answer = await client.get(path)
            assert answer.status_code == 200
            assert "supported" not in answer.text

    stage.registry = registry()
    await stage.model(verifier, judge=careful_judge(readings))
    run = NewRun("quotes", "verifier", "physics", stage.model_name, 10, scope="physics")
    [run_id] = (await submit(stage.pool, NewBatch([run], "physics"))).run_ids
    assert await stage.play(run_id) is Outcome.PLAYED
    rows = await stage.rows("select content, status, verdict, verdict_by from facts")
    assert {(row["status"], row["verdict"]) for row in rows} == {("candidate", "partly")}, rows
    assert {row["verdict_by"] for row in rows} == {stage.model_name}
