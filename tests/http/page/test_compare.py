"""Two batches of a subject compared: over HTTP, and on the page."""

from datetime import timedelta
from uuid import UUID

import httpx2
import pytest
from support.research_rows import NOON, Shelf

from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.states import AccessScope


@pytest.fixture
def weeks(shelf: Shelf) -> tuple[UUID, UUID]:
    """Two batches that ended a week apart, with a fact that came between."""
    moss = shelf.subject("moss")
    batches = []
    for week in (1, 2):
        batch = shelf.batch(moss, f"Moss, week {week}")
        shelf.run(moss, batch, "Where does moss grow?", number=1, facts=week)
        shelf.connection.execute(
            "update batches set finished_at = %s where id = %s", (NOON + timedelta(days=7 * week), batch)
        )
        batches.append(batch)
    shelf.fact(moss, "Moss grows on stone.", "https://a.org", created_at=NOON + timedelta(days=9))
    return batches[0], batches[1]


async def test_batches_are_compared_from_the_end_of_the_earlier_one(
    client: httpx2.AsyncClient, weeks: tuple[UUID, UUID]
):
    first, second = weeks
    answers = [
        (await client.get(f"/v1/batches/{batch}/diff", params={"against": str(other)})).json()
        for batch, other in ((first, second), (second, first))
    ]
    assert answers[0] == answers[1]
    assert [fact["content"] for fact in answers[0]["new"]] == ["Moss grows on stone."]
    assert answers[0]["since"] == (NOON + timedelta(days=7)).isoformat()


async def test_a_batch_offers_the_others_of_its_subject_and_shows_what_changed(
    client: httpx2.AsyncClient, shelf: Shelf, weeks: tuple[UUID, UUID]
):
    first, second = weeks
    elsewhere = shelf.batch(shelf.subject("ferns"), "Ferns")
    report = shelf.batch("moss", "Report: moss")
    shelf.connection.execute(
        "update batches set kind = 'report', finished_at = now() where id = %s", (report,)
    )
    shelf.connection.execute("update batches set finished_at = now() where id = %s", (elsewhere,))
    page = (await client.get(f"/batches/{second}")).text
    assert f'action="/batches/{second}/diff"' in page
    assert page.count('<option value="') == 1
    assert f'<option value="{first}">Moss, week 1, ended' in page
    compared = (await client.get(f"/batches/{second}/diff", params={"against": str(first)})).text
    assert compared.index("Moss, week 1") < compared.index("Moss, week 2")
    assert "Moss grows on stone." in compared


async def test_batches_that_cannot_be_compared_are_refused(
    client: httpx2.AsyncClient, api: httpx2.AsyncClient, shelf: Shelf, pool: Pool, weeks: tuple[UUID, UUID]
):
    first, _ = weeks
    open_batch = shelf.batch("moss", "Still open")
    key, _ = await create_key(pool, NewKey("alice", AccessScope.SUBMIT))
    alice = {"Authorization": f"Bearer {key}"}
    hers = (await api.post("/v1/batches", json={"topics": ["Bark"], "subject": "Moss"}, headers=alice)).json()
    for batch, other, headers, status in (
        (first, first, None, 422),
        (first, open_batch, None, 409),
        (first, UUID(int=1), None, 404),
        (hers["batch_id"], first, alice, 404),
        (first, hers["batch_id"], alice, 404),
    ):
        for root in ("/v1", ""):
            path = f"{root}/batches/{batch}/diff"
            answer = await (api if headers else client).get(
                path, params={"against": str(other)}, headers=headers
            )
            assert answer.status_code == status, (path, other)
    page = await client.get(f"/batches/{open_batch}")
    assert "Compare with" not in page.text
    assert (await client.get(f"/batches/{first}/diff")).status_code == 422
