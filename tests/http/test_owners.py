"""Whoever submits owns; others are told that there is nothing."""

from uuid import uuid4

import httpx2
import pytest

from chiron_api.local_stack.access import api_key
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.settings import Settings
from chiron_workers.states import AccessScope

BATCH = {"subject": "Sea ice", "topics": ["What is a polynya?"], "model": "offline", "columns": ["name"]}
SUBSCRIPTION = {"subject": "Sea ice", "topics": ["Extent"], "cron": "0 9 * * MON", "model": "offline"}
Headers = dict[str, str]


@pytest.fixture
async def alice(pool: Pool) -> Headers:
    return await bearer(pool, "alice", AccessScope.SUBMIT)


@pytest.fixture
async def bob(pool: Pool) -> Headers:
    return await bearer(pool, "bob", AccessScope.SUBMIT)


@pytest.fixture
def local(settings: Settings, api: httpx2.AsyncClient) -> Headers:
    return {"Authorization": f"Bearer {api_key(settings)}"}


async def bearer(pool: Pool, name: str, scope: AccessScope, **options) -> Headers:
    return {"Authorization": f"Bearer {(await create_key(pool, NewKey(name, scope, **options)))[0]}"}


async def test_a_batch_and_its_runs_are_there_for_their_owner_and_for_admins_alone(
    api: httpx2.AsyncClient, alice: Headers, bob: Headers, local: Headers
):
    receipt = (await api.post("/v1/batches", json=BATCH, headers=alice)).json()
    batch_id, [run_id] = receipt["batch_id"], receipt["run_ids"]
    paths = [
        f"/v1/batches/{batch_id}",
        f"/v1/batches/{batch_id.upper()}",
        f"/v1/batches/{batch_id.replace('-', '')}",
        f"/v1/batches/{batch_id}/results",
        f"/v1/batches/{batch_id}/rows",
        f"/v1/batches/{batch_id}/report",
        f"/v1/runs/{run_id}",
        f"/v1/runs/{run_id}/rows",
        f"/batches/{batch_id}",
        f"/runs/{run_id}",
    ]
    for path in paths:
        assert (await api.get(path, headers=alice)).status_code == 200, path
        assert (await api.get(path, headers=local)).status_code == 200, path
        stranger = await api.get(path, headers=bob)
        assert stranger.status_code == 404, path
        unknown = await api.get(path.replace(batch_id, str(uuid4())), headers=bob)
        assert "alice" not in stranger.text
        assert unknown.status_code in (200, 404)
    for path in (f"/v1/batches/{batch_id}/events", f"/v1/runs/{run_id}/events"):
        assert (await api.get(path, headers=bob)).status_code == 404
    for path in (f"/v1/batches/{batch_id}/cancel", f"/v1/runs/{run_id}/pause"):
        assert (await api.post(path, headers=bob)).status_code == 404
    say = await api.post(f"/v1/runs/{run_id}/messages", json={"text": "hello"}, headers=bob)
    assert say.status_code == 404
    assert (await api.delete(f"/v1/batches/{batch_id}", headers=bob)).status_code == 404
    assert (await api.post(f"/v1/batches/{batch_id}/cancel", headers=alice)).status_code == 202


@pytest.mark.parametrize("blank", ["%09", "%0A", "%0D", "%20", "_", "+"])
async def test_an_id_with_a_blank_for_its_first_digit_is_nobodys(
    api: httpx2.AsyncClient, alice: Headers, bob: Headers, blank: str
):
    receipt = (await api.post("/v1/batches", json=BATCH, headers=alice)).json()
    for noun, own_id in (("batches", receipt["batch_id"]), ("runs", receipt["run_ids"][0])):
        assert own_id.startswith("0"), "a blank counts as this digit"
        for base in (f"/{noun}/{blank}{own_id[1:]}", f"/v1/{noun}/{blank}{own_id[1:]}"):
            assert (await api.get(base, headers=bob)).status_code == 404, base
            assert (await api.get(f"{base}/report", headers=bob)).status_code == 404, base
            for verb in ("pause", "cancel", "resume", "retry"):
                form = {"Content-Type": "application/x-www-form-urlencoded"}
                answer = await api.post(f"{base}/{verb}", headers=bob | form)
                assert answer.status_code == 404, (base, verb)
    run = (await api.get(f"/v1/runs/{receipt['run_ids'][0]}", headers=alice)).json()
    assert run["state"] == "queued"


async def test_lists_hold_what_is_ones_own(
    api: httpx2.AsyncClient, alice: Headers, bob: Headers, local: Headers
):
    for headers in (alice, alice, bob):
        await api.post("/v1/batches", json=BATCH, headers=headers)
        await api.post("/v1/subscriptions", json=SUBSCRIPTION, headers=headers)

    async def count(path: str, headers: Headers) -> int:
        return len((await api.get(path, headers=headers)).json()["items"])

    assert [await count("/v1/batches", who) for who in (alice, bob, local)] == [2, 1, 3]
    assert [await count("/v1/subscriptions", who) for who in (alice, bob, local)] == [1, 1, 2]
    pages = [(await api.get("/batches", headers=who)).text for who in (alice, bob)]
    assert [page.count("polynya") >= 1 for page in pages] == [True, True]
    assert pages[0].count("/batches/0") > pages[1].count("/batches/0")


async def test_a_subscription_is_its_owners(
    api: httpx2.AsyncClient, alice: Headers, bob: Headers, local: Headers
):
    made = await api.post("/v1/subscriptions", json=SUBSCRIPTION, headers=alice)
    path = made.headers["Location"]
    assert (await api.get(path, headers=bob)).status_code == 404
    assert (await api.post(f"{path}/pause", headers=bob)).status_code == 404
    assert (await api.delete(path, headers=bob)).status_code == 404
    assert (await api.get(path, headers=local)).json()["made_by"] == "alice"
    assert (await api.post(f"{path}/pause", headers=alice)).status_code == 200


async def test_two_owners_may_use_the_same_idempotency_key(
    api: httpx2.AsyncClient, alice: Headers, bob: Headers, local: Headers
):
    sent = [
        (await api.post("/v1/batches", json=BATCH, headers=who | {"Idempotency-Key": "k"})).json()["batch_id"]
        for who in (alice, bob, local, alice)
    ]
    assert len(set(sent)) == 3
    assert sent[0] == sent[3]


async def test_a_submit_over_the_budget_of_its_key_is_402_and_says_what_is_left(
    pool: Pool, api: httpx2.AsyncClient
):
    from decimal import Decimal

    headers = await bearer(pool, "carol", AccessScope.SUBMIT, budget_usd=Decimal(2))
    priced = BATCH | {"model": "claude-opus-4-5"}
    assert (
        await api.post("/v1/batches", json=priced | {"budget_usd": 1.5}, headers=headers)
    ).status_code == 202
    refusal = await api.post("/v1/batches", json=priced | {"budget_usd": 1}, headers=headers)
    assert refusal.status_code == 402
    assert refusal.json()["detail"] == (
        "The key 'carol' may spend 2 USD in all and has 0.5 USD left; this asks for 1 USD. "
        "An open batch holds its whole budget until it ends: name a budget for each, or wait."
    )


async def test_what_each_marks_as_active_is_ones_own(api: httpx2.AsyncClient, alice: Headers, bob: Headers):
    await api.post("/v1/batches", json=BATCH, headers=alice)
    for who in (alice, bob):
        assert (await api.get("/v1/subjects", headers=who)).json()["items"][0]["subject_id"] == "sea-ice"
    arguments = {"subject_id": "sea-ice"}
    assert (await api.post("/v1/tools/set_active_subject", json=arguments, headers=alice)).status_code == 200
    [mine, other] = [
        (await api.post("/v1/tools/get_active_subject", json={}, headers=who)).json()["result"]
        for who in (alice, bob)
    ]
    assert "sea-ice" in str(mine)
    assert "sea-ice" not in str(other)


async def test_a_report_on_a_subject_shares_facts_and_tells_of_ones_own_runs_alone(
    pool: Pool, api: httpx2.AsyncClient, alice: Headers, bob: Headers, local: Headers
):
    for who, topic in ((alice, "What is a polynya?"), (bob, "What is a lead?")):
        body = BATCH | {"topics": [topic]}
        run_id = (await api.post("/v1/batches", json=body, headers=who)).json()["run_ids"][0]
        async with pool.connection() as connection:
            await connection.execute(
                "update runs set answer = %s, state = 'completed' where id = %s", (f"Of {topic}", run_id)
            )
    reports = [(await api.get("/v1/subjects/sea-ice/report", headers=who)) for who in (alice, bob, local)]
    assert [("polynya" in report.text, "a lead" in report.text) for report in reports] == [
        (True, False),
        (False, True),
        (True, True),
    ]
    assert [report.json()["work"]["runs_by_state"]["completed"] for report in reports] == [1, 1, 2]
