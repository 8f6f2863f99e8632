"""`POST .../report` has a report written, once for the same facts."""


async def test_a_report_is_submitted_once_for_the_same_facts(client, batch):
    first = await client.post(f"/v1/batches/{batch.id}/report", json={"model": "claude-opus-5-5"})
    assert first.status_code == 202
    body = first.json()
    assert first.headers["location"] == f"/v1/batches/{body['batch_id']}"
    assert body["is_new"]
    second = await client.post(f"/v1/batches/{batch.id}/report", json={"model": "claude-opus-5-5"})
    assert second.json() == body | {"is_new": False}
    assert (await client.post("/v1/subjects/sea-ice/report")).json()["batch_id"] != body["batch_id"]
    assert (await client.post(f"/v1/runs/{batch.run}/report")).status_code == 202


async def test_what_has_no_facts_is_refused(client, shelf):
    empty = shelf.batch(shelf.subject("moon", "Moon"), "Nothing yet")
    refused = await client.post(f"/v1/batches/{empty}/report")
    assert refused.status_code == 422
    assert "There is no fact to write from" in refused.text
