"""Webhooks over HTTP: made, listed, tried, sent again and removed, by their owner alone."""

from collections.abc import Callable

import httpx2
import pytest
from support.api_server import api_client

from chiron_workers.access.audit import newest_entries
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.ids import new_id
from chiron_workers.settings import Settings
from chiron_workers.states import AccessScope

PATH = "/v1/webhooks"
BODY = {"url": "https://example.org/hook"}


async def bearer(pool: Pool, name: str, scope: AccessScope = AccessScope.SUBMIT) -> dict[str, str]:
    secret, _ = await create_key(pool, NewKey(name, scope))
    return {"Authorization": f"Bearer {secret}"}


async def test_a_webhook_is_made_shown_tried_and_removed(client: httpx2.AsyncClient):
    created = await client.post(PATH, json=BODY)
    webhook = created.json()
    where = f"{PATH}/{webhook['id']}"
    assert (created.status_code, created.headers["location"]) == (201, where)
    assert created.headers["cache-control"] == "no-store"
    secret = webhook.pop("secret")
    assert secret.startswith("whsec_")
    assert webhook["kinds"] == [
        "run.failed",
        "run.paused",
        "batch.completed",
        "budget.reached",
        "subscription.news",
    ]
    assert (await client.get(where)).json() == webhook
    assert (await client.get(PATH)).json() == {"items": [webhook], "next": None}
    trial = await client.post(f"{where}/test")
    assert (trial.status_code, trial.headers["location"]) == (202, f"{where}/deliveries")
    assert (await client.get(f"{where}/deliveries")).json() == {"items": [trial.json()], "next": None}
    again = await client.post(f"/v1/deliveries/{trial.json()['id']}/resend")
    assert (again.status_code, again.json()["state"]) == (202, "waiting")
    assert (await client.delete(where)).status_code == 204
    for answer in (
        await client.get(where),
        await client.delete(where),
        await client.post(f"{where}/test"),
        await client.get(f"{where}/deliveries"),
        await client.post(f"/v1/deliveries/{trial.json()['id']}/resend"),
    ):
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


async def test_the_secret_is_in_no_other_answer_and_not_in_the_audit_trail(
    client: httpx2.AsyncClient, pool: Pool
):
    created = (await client.post(PATH, json=BODY)).json()
    where = f"{PATH}/{created['id']}"
    answers = [
        await client.get(PATH),
        await client.get(where),
        await client.post(f"{where}/test"),
        await client.get(f"{where}/deliveries"),
        await client.post(PATH, json=BODY | {"url": "http://10.0.0.1/"}),
    ]
    trail = await newest_entries(pool, limit=10)
    assert [entry.action for entry in trail] == ["webhooks.test", "webhooks.create"]
    texts = [answer.text for answer in answers] + [repr(trail)]
    assert not any(created["secret"].removeprefix("whsec_") in text for text in texts)


async def test_another_owner_sees_nothing_of_it(settings: Settings, pool: Pool):
    alice, bob = await bearer(pool, "alice"), await bearer(pool, "bob")
    reader = await bearer(pool, "reader", AccessScope.READ)
    async with api_client(settings) as client:
        webhook = (await client.post(PATH, json=BODY, headers=alice)).json()
        where = f"{PATH}/{webhook['id']}"
        trial = (await client.post(f"{where}/test", headers=alice)).json()
        assert webhook["owner"] == "alice"
        assert (await client.get(PATH, headers=bob)).json()["items"] == []
        for method, path in (
            ("GET", where),
            ("DELETE", where),
            ("POST", f"{where}/test"),
            ("GET", f"{where}/deliveries"),
            ("POST", f"/v1/deliveries/{trial['id']}/resend"),
        ):
            assert (await client.request(method, path, headers=bob)).status_code == 404
        assert (await client.post(PATH, json=BODY, headers=reader)).status_code == 403
        assert [item["id"] for item in (await client.get(PATH, headers=alice)).json()["items"]] == [
            webhook["id"]
        ]


async def test_they_are_listed_in_pages(client: httpx2.AsyncClient):
    ids = [(await client.post(PATH, json=BODY)).json()["id"] for _ in range(3)]
    first = (await client.get(PATH, params={"limit": 2})).json()
    last = (await client.get(PATH, params={"limit": 2, "after": first["next"]})).json()
    assert [item["id"] for item in first["items"] + last["items"]] == ids[::-1]
    where = f"{PATH}/{ids[0]}"
    trials = [(await client.post(f"{where}/test")).json()["id"] for _ in range(3)]
    first = (await client.get(f"{where}/deliveries", params={"limit": 2})).json()
    last = (await client.get(f"{where}/deliveries", params={"limit": 2, "after": first["next"]})).json()
    assert [item["id"] for item in first["items"] + last["items"]] == trials[::-1]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"url": "http://127.0.0.1/"}, "CHIRON_WEBHOOK_PRIVATE"),
        ({"url": "ftp://example.org/"}, "Nothing can be sent there"),
        ({"url": "mailto:ada@example.org"}, "CHIRON_SMTP_HOST"),
        ({"kinds": []}, "kinds"),
        ({"kinds": ["webhook.test"]}, "one kind or more"),
        ({"kinds": ["run.exploded"]}, "kinds"),
        ({"format": "telegram"}, "format"),
        ({"secret": "whsec_mine"}, "secret"),
    ],
)
async def test_what_cannot_be_a_webhook_is_a_problem_that_says_why(
    client: httpx2.AsyncClient, wrong: dict, words: str
):
    answer = await client.post(PATH, json=BODY | wrong)
    assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert words in answer.json()["detail"]
    assert (await client.get(PATH)).json()["items"] == []


async def test_the_delivery_of_an_endpoint_that_is_off_is_not_sent_again(
    client: httpx2.AsyncClient, pool: Pool, setting: Callable[[str, str], None]
):
    webhook = (await client.post(PATH, json=BODY)).json()
    trial = (await client.post(f"{PATH}/{webhook['id']}/test")).json()
    async with pool.connection() as connection:
        await connection.execute("update webhooks set state = 'off', reason = 'It is gone.'")
    refusal = await client.post(f"/v1/deliveries/{trial['id']}/resend")
    assert (refusal.status_code, "is off" in refusal.json()["detail"]) == (409, True)
    assert (await client.post(f"/v1/deliveries/{new_id()}/resend")).status_code == 404
    await client.post(f"{PATH}/{webhook['id']}/test")
    assert (await client.get(f"{PATH}/{webhook['id']}")).json()["state"] == "active"
