"""What was left out of a source, on the page of a fact, in the answers of the API and in a report."""

import html
import json

import httpx2
from support.research_rows import Shelf

from chiron_api.answers.facts import Assertion, Omission

URL = "https://example.org/quays"
QUOTE = "The quay is 240 m long."
GAPS = [{"kind": "formula", "count": 3, "place": "page 2"}, {"kind": "<b>row</b>", "count": 1, "place": ""}]
WORDS = "3 formulas (first: page 2), 1 <b>row</b>"


async def test_a_fact_and_a_report_show_what_was_left_out_of_a_source(
    client: httpx2.AsyncClient, shelf: Shelf
):
    shelf.subject("lakes")
    fact_id = shelf.fact("lakes", "It is long.", URL, quote=QUOTE, text=f"{QUOTE} It is [formula] wide.")
    page = (await client.get(f"/facts/{fact_id}")).text
    assert "Left out of this source" not in page
    [assertion] = (await client.get(f"/v1/facts/{fact_id}")).json()["assertions"]
    assert assertion["left_out"] is None
    shelf.connection.execute("update fetches set left_out = %s", (json.dumps(GAPS),))
    page = (await client.get(f"/facts/{fact_id}")).text
    assert f"Left out of this source: {WORDS}" in html.unescape(page)
    assert "<b>row" not in page
    [assertion] = (await client.get(f"/v1/facts/{fact_id}")).json()["assertions"]
    assert Assertion.model_validate(assertion).left_out == [Omission.model_validate(part) for part in GAPS]
    report = await client.get("/v1/subjects/lakes/report", params={"format": "md"})
    assert "left out of this source: 3 formulas" in report.text.replace("\\", "")
    document = (await client.get("/v1/subjects/lakes/report", params={"format": "json"})).json()
    assert document["sources"][0]["left_out"] == GAPS


async def test_a_document_that_is_sent_comes_back_with_what_was_left_out(client: httpx2.AsyncClient):
    page = f"<html><body><h1>Quays</h1><p>{QUOTE} It is <canvas></canvas> wide.</p></body></html>"
    answer = await client.post(
        "/v1/subjects/lakes/documents",
        content=page,
        params={"path": "quays.html"},
        headers={"Content-Type": "text/html"},
    )
    assert answer.json()["left_out"] == [{"kind": "drawing", "count": 1, "place": "<canvas>"}]
