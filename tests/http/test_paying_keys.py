"""Who acts pays: with several keys of one owner, over HTTP and on the page."""

from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any
from uuid import UUID

import httpx2
import pytest

from chiron_api.local_stack.access import api_key
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.runs.batch_completion import complete_batch
from chiron_workers.settings import Settings
from chiron_workers.states import AccessScope

BATCH = {"subject": "Sea ice", "topics": ["What is a polynya?"], "model": "claude-opus-4-5"}
Headers = dict[str, str]
Left = Callable[[], Awaitable[dict[str, float | None]]]


async def bearer(pool: Pool, name: str, budget_usd: str | None) -> Headers:
    amount = None if budget_usd is None else Decimal(budget_usd)
    new = NewKey(name, AccessScope.SUBMIT, owner="team", budget_usd=amount)
    return {"Authorization": f"Bearer {(await create_key(pool, new))[0]}"}


@pytest.fixture
async def alice(pool: Pool) -> Headers:
    return await bearer(pool, "alice", "10")


@pytest.fixture
async def bob(pool: Pool) -> Headers:
    return await bearer(pool, "bob", "4")


@pytest.fixture
async def poor(pool: Pool) -> Headers:
    return await bearer(pool, "poor", "0.01")


@pytest.fixture
async def unbound(pool: Pool) -> Headers:
    return await bearer(pool, "unbound", None)


@pytest.fixture
def left(settings: Settings, api: httpx2.AsyncClient) -> Left:
    """What each key has left, as an admin sees it."""

    async def read() -> dict[str, float | None]:
        keys = await api.get("/v1/keys", headers={"Authorization": f"Bearer {api_key(settings)}"})
        return {key["name"]: key["left_usd"] for key in keys.json()["items"]}

    return read


async def submit(api: httpx2.AsyncClient, headers: Headers, usd: float | None = None) -> tuple[str, str]:
    answer = await api.post("/v1/batches", json=BATCH | {"budget_usd": usd}, headers=headers)
    assert answer.status_code == 202, answer.text
    receipt = answer.json()
    return f"/v1/batches/{receipt['batch_id']}", f"/v1/runs/{receipt['run_ids'][0]}"


async def write(pool: Pool, statement: str, path: str, *values: Any) -> None:
    async with pool.connection() as connection:
        await connection.execute(statement, (*values, UUID(path.rsplit("/", 1)[1])))


async def reserve(pool: Pool, run: str, usd: float) -> None:
    """Have a call be in flight, as a worker does."""
    await write(
        pool, "update runs set state = 'running', lease = 1, reserved_usd = %s where id = %s", run, usd
    )


async def settle(pool: Pool, batch: str, run: str, usd: float) -> None:
    """Have the reply arrive, and the run end with it, as a worker does."""
    change = "state = 'completed', finished_at = now(), reserved_usd = 0, spent_usd = spent_usd + %s"
    await write(pool, f"update runs set {change} where id = %s", run, usd)  # noqa: S608
    await write(pool, "update batches set spent_usd = spent_usd + %s where id = %s", batch, usd)
    await complete_batch(pool, UUID(batch.rsplit("/", 1)[1]))


async def test_a_budget_below_what_calls_in_flight_have_reserved_is_refused_and_releases_nothing(
    pool: Pool, api: httpx2.AsyncClient, alice: Headers, left: Left
):
    batch, run = await submit(api, alice)
    await reserve(pool, run, 4.68)
    for path in (batch, run):
        for usd in ("0.000001", "4.679999"):
            refusal = await api.post(f"{path}/resume", json={"budget_usd": usd}, headers=alice)
            assert refusal.status_code == 409, path
            assert "its budget is at least 4.680000 USD until they are answered" in refusal.json()["detail"]
    assert (await api.post("/v1/batches", json=BATCH, headers=alice)).status_code == 402
    assert await left() == {"alice": 0}
    assert (await api.post(f"{batch}/resume", json={"budget_usd": "4.68"}, headers=alice)).status_code == 202
    assert await left() == {"alice": 5.32}
    await settle(pool, batch, run, 4.68)
    assert await left() == {"alice": 5.32}


@pytest.mark.parametrize("noun", ["batch", "run"])
async def test_a_key_pays_for_what_it_raises_and_raises_no_more_than_it_has(
    pool: Pool,
    api: httpx2.AsyncClient,
    alice: Headers,
    bob: Headers,
    poor: Headers,
    unbound: Headers,
    left: Left,
    noun: str,
):
    batch, run = await submit(api, alice, 1) if noun == "batch" else await submit(api, unbound)
    target = batch if noun == "batch" else run
    before = (await api.get(target, headers=alice)).json()["budget_usd"]
    higher = {"budget_usd": before + 3}
    refusal = await api.post(f"{target}/resume", json=higher, headers=poor)
    assert (refusal.status_code, (await api.get(target, headers=poor)).json()["budget_usd"]) == (402, before)
    assert "has 0.01 USD left; this asks for 3 USD" in refusal.json()["detail"]
    of_alice = 9 if noun == "batch" else 10
    assert (await api.post(f"{target}/resume", json=higher, headers=bob)).status_code == 202
    assert await left() == {"alice": of_alice, "bob": 1, "poor": 0.01, "unbound": None}
    await reserve(pool, run, before + 2)
    await settle(pool, batch, run, before + 2)
    assert await left() == {"alice": of_alice, "bob": 2, "poor": 0.01, "unbound": None}
    await api.delete(batch, headers=alice)
    assert await left() == {"alice": of_alice, "bob": 2, "poor": 0.01, "unbound": None}


async def test_the_first_budget_of_a_batch_costs_what_it_is_higher_than_those_of_its_runs(
    api: httpx2.AsyncClient, poor: Headers, bob: Headers, unbound: Headers, left: Left
):
    """Or a key without money would give it one, and have its runs share that."""
    batch, run = await submit(api, unbound)
    of_run = (await api.get(run, headers=poor)).json()["budget_usd"]
    refusal = await api.post(f"{batch}/resume", json={"budget_usd": of_run + 100}, headers=poor)
    assert (refusal.status_code, (await api.get(batch, headers=poor)).json()["budget_usd"]) == (402, None)
    answer = await api.post(f"{batch}/resume", json={"budget_usd": of_run + 1}, headers=bob)
    assert answer.status_code == 202, answer.text
    assert await left() == {"poor": 0.01, "bob": 3, "unbound": None}


async def test_a_limit_below_the_budgets_of_the_runs_costs_nothing(
    api: httpx2.AsyncClient, poor: Headers, unbound: Headers, left: Left
):
    batch, run = await submit(api, unbound)
    of_run = (await api.get(run, headers=poor)).json()["budget_usd"]
    assert (await api.post(f"{batch}/resume", json={"budget_usd": of_run}, headers=poor)).status_code == 202
    assert (await api.post(f"{run}/resume", json={"budget_usd": of_run + 9}, headers=poor)).status_code == 202
    refusal = await api.post(f"{batch}/resume", json={"budget_usd": of_run + 9}, headers=poor)
    assert refusal.status_code == 402
    assert await left() == {"poor": 0.01, "unbound": None}


async def test_within_a_batch_with_a_budget_its_money_pays_for_a_higher_budget_of_a_run(
    api: httpx2.AsyncClient, alice: Headers, poor: Headers, left: Left
):
    _, run = await submit(api, alice, 3)
    assert (await api.post(f"{run}/resume", json={"budget_usd": 2.5}, headers=poor)).status_code == 202
    assert await left() == {"alice": 7, "poor": 0.01}


@pytest.mark.parametrize("noun", ["batch", "run"])
async def test_what_is_taken_back_goes_to_who_gave_it_last(
    api: httpx2.AsyncClient, alice: Headers, bob: Headers, unbound: Headers, left: Left, noun: str
):
    batch, run = await submit(api, alice, 1) if noun == "batch" else await submit(api, unbound)
    target = batch if noun == "batch" else run
    first = (await api.get(target, headers=alice)).json()["budget_usd"]
    given_by_alice = 1 if noun == "batch" else 0

    async def change(more: float, headers: Headers) -> tuple[float | None, float | None]:
        answer = await api.post(f"{target}/resume", json={"budget_usd": first + more}, headers=headers)
        assert answer.status_code == 202
        sums = await left()
        return sums["alice"], sums["bob"]

    assert await change(2, bob) == (10 - given_by_alice, 2)
    assert await change(5, alice) == (7 - given_by_alice, 2)
    assert await change(1, bob) == (10 - given_by_alice, 3)
    assert await change(2, alice) == (9 - given_by_alice, 3)
    assert await change(-0.25, bob) == (10 - given_by_alice * 0.75, 4)


@pytest.mark.parametrize("act", ["retry", "say", "page"])
async def test_who_opens_a_batch_again_pays_for_the_rest_of_its_budget(
    pool: Pool, api: httpx2.AsyncClient, alice: Headers, bob: Headers, poor: Headers, left: Left, act: str
):
    batch, run = await submit(api, alice, 3)
    await settle(pool, batch, run, 1)
    assert await left() == {"alice": 9, "bob": 4, "poor": 0.01}

    async def reopen(headers: Headers) -> int:
        if act == "retry":
            answer = await api.post(f"{batch}/retry", json={"from_scratch": True}, headers=headers)
        elif act == "say":
            answer = await api.post(f"{run}/messages", json={"text": "And leads?"}, headers=headers)
        else:
            path = f"/runs/{run.rsplit('/', 1)[1]}/say"
            answer = await api.post(path, data={"text": "And leads?"}, headers=headers)
        return answer.status_code

    assert await reopen(poor) == 402
    assert await reopen(bob) in (202, 303)
    assert await left() == {"alice": 9, "bob": 2, "poor": 0.01}
    await settle(pool, batch, run, 0.5)
    assert await left() == {"alice": 9, "bob": 3.5, "poor": 0.01}


async def test_a_key_with_a_budget_binds_the_batch_without_one_that_it_opens_again(
    pool: Pool, api: httpx2.AsyncClient, bob: Headers, unbound: Headers, left: Left
):
    batch, run = await submit(api, unbound)
    await settle(pool, batch, run, 1)
    say = await api.post(f"{run}/messages", json={"text": "And leads?"}, headers=bob)
    assert say.status_code == 202
    assert (await api.get(batch, headers=bob)).json()["budget_usd"] == 5
    assert (await left())["bob"] == 0
    await settle(pool, batch, run, 3)
    assert (await left())["bob"] == 1


async def test_a_message_to_a_running_run_draws_on_what_it_has(
    pool: Pool, api: httpx2.AsyncClient, alice: Headers, poor: Headers, left: Left
):
    _, run = await submit(api, alice, 3)
    await reserve(pool, run, 1)
    answer = await api.post(f"{run}/messages", json={"text": "And leads?"}, headers=poor)
    assert answer.status_code == 202
    assert await left() == {"alice": 7, "poor": 0.01}


async def test_the_budget_of_a_batch_that_has_ended_is_raised_by_who_opens_it_again(
    pool: Pool, api: httpx2.AsyncClient, alice: Headers, poor: Headers, left: Left
):
    batch, run = await submit(api, alice, 3)
    await settle(pool, batch, run, 1)
    for path in (batch, run):
        assert (await api.post(f"{path}/resume", json={"budget_usd": 9}, headers=poor)).status_code == 409
    body = {"from_scratch": True, "budget_usd": 5}
    assert (await api.post(f"{batch}/retry", json=body, headers=poor)).status_code == 402
    assert (await api.post(f"{batch}/retry", json=body, headers=alice)).status_code == 202
    assert await left() == {"alice": 5, "poor": 0.01}
