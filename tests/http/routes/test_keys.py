"""Keys over HTTP: what cannot be one, and what the audit trail has of a new one."""

import httpx2
import pytest

from chiron_workers.access.audit import newest_entries
from chiron_workers.access.keys import all_keys
from chiron_workers.db.connect import Pool

BODY = {"name": "ci", "scope": "submit"}


async def test_the_trail_says_what_a_new_key_may_and_whose_it_is(client: httpx2.AsyncClient, pool: Pool):
    created = await client.post("/v1/keys", json=BODY | {"owner": "build"})
    assert (created.status_code, created.headers["location"]) == (201, "/v1/keys/ci")
    assert created.headers["cache-control"] == "no-store"
    [entry] = await newest_entries(pool, limit=2)
    assert (entry.action, entry.target) == ("keys.create", "ci")
    assert (entry.detail["scope"], entry.detail["key_owner"]) == ("submit", "build")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("expires_at", "2001-01-01T00:00:00Z", "expires_at: that time has passed already"),
        ("name", "c" * 65, "name: String should have at most 64 characters"),
        (
            "requests_per_minute",
            1_000_001,
            "requests_per_minute: Input should be less than or equal to 1000000",
        ),
        ("expires_at", "2999-12-31", "expires_at: Input should have timezone info"),
        ("budget_period", "day", "budget_period: goes with a budget_usd"),
    ],
)
async def test_what_cannot_be_a_key_is_a_problem_that_names_the_field(
    client: httpx2.AsyncClient, pool: Pool, field: str, value: object, words: str
):
    answer = await client.post("/v1/keys", json=BODY | {field: value})
    assert answer.status_code == 422
    assert words in answer.json()["detail"]
    assert await all_keys(pool) == []
