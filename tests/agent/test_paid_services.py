"""What hosted embedding models and search providers charge is paid for by the run whose tool asks them."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from aiohttp import web
from psycopg._queries import PostgresQuery
from support.queued_topics import assert_rows_agree
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, says, turn
from support.scripted_services import HostedServices, hosted_embedder, hosted_services

from chiron_api.text import services_phrase
from chiron_workers.batches.summaries import find
from chiron_workers.billing.budgets import Budget
from chiron_workers.runs.rescue import rescue
from chiron_workers.settings import settings as settings_of_process
from chiron_workers.states import Outcome
from chiron_workers.tools import registry

SEARCH = call("web_search", query="tides", subject_id="physics")
KNOWN = call("vector_search", query="tides", subject_id="physics")
PRICE = Decimal("0.005")
Prices = Callable[..., None]


@pytest.fixture
async def services() -> AsyncIterator[HostedServices]:
    async with hosted_services() as opened:
        yield opened


@pytest.fixture
async def prices(
    stage: Stage, services: HostedServices, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Prices]:
    """`prices(brave=0.005)`: a run's tools ask both services, whose prices these are."""
    stage.registry = registry()

    def configure(**by_name: Any) -> None:
        stage.settings = services.configure(stage.settings, **by_name)
        for name, value in services.variables.items():
            monkeypatch.setenv(f"CHIRON_{name}", value)
        described = {
            name: price.model_dump(mode="json") for name, price in stage.settings.service_prices.items()
        }
        monkeypatch.setenv("CHIRON_SERVICE_PRICES", json.dumps(described))
        settings_of_process.cache_clear()

    async with hosted_embedder(services.configure(stage.settings)) as embedder:
        stage.embedder = embedder
        await embedded_space(stage)
        yield configure
    monkeypatch.undo()
    settings_of_process.cache_clear()


async def embedded_space(stage: Stage) -> None:
    """A search by meaning embeds its query only where there are vectors to compare it with."""
    from chiron_workers.knowledge.search.vectors import Vectors
    from chiron_workers.runs.session import Session

    async with Session(stage.pool) as session:
        await Vectors(session, stage.embedder.space).ensure()


@pytest.fixture(autouse=True)
def agreeing_rows(stage: Stage) -> Iterator[None]:
    """All rows agree with each other at the end of each test."""
    yield
    assert_rows_agree(stage.settings)


async def play(stage: Stage, *tool_calls: Any, submitted: dict[str, Any] | None = None) -> UUID:
    def script(request: dict[str, Any]) -> Says:
        return [calls(*tool_calls), says("The end.")][turn(request)]

    await stage.model(script)
    (run_id,) = await stage.submit("tides", **(submitted or {}))
    assert await stage.play(run_id) is Outcome.PLAYED
    return run_id


async def results(stage: Stage) -> list[Any]:
    return await stage.rows(
        "select name, is_error, body, cost_usd, services_usd from tool_results order by name"
    )


async def test_a_search_is_charged_to_run_batch_and_day_and_shown_apart(
    stage: Stage, services, prices
) -> None:
    prices(brave=float(PRICE), embeddings=0)
    run_id = await play(stage, SEARCH)
    [result] = await results(stage)
    assert (result["is_error"], result["cost_usd"], result["services_usd"]) == (False, PRICE, PRICE)
    row = await stage.row(run_id)
    replies = (await stage.rows("select sum(cost_usd) as usd from entries"))[0]["usd"]
    assert (row["spent_usd"], row["services_usd"]) == (replies + PRICE, PRICE)
    assert (row["reserved_usd"], row["reserved_calls"], row["unconfirmed_usd"]) == (0, 0, 0)
    [sums] = await stage.rows(
        "select (select spent_usd from batch_costs) as batch, (select sum(usd) from spending) as day"
    )
    assert sums["batch"] == sums["day"] == row["spent_usd"]
    summary = await find(stage.pool, str(run_id))
    assert (summary.services_usd, services_phrase(summary)) == (PRICE, "$0.0050 of it")
    [event] = await stage.rows("select data from events where kind = 'tool.returned'")
    assert (event["data"]["service_calls"], event["data"]["services_usd"]) == (1, 0.005)


@pytest.mark.parametrize(
    ("tokens", "usd"),
    [
        (10, "0.0006"),
        # 5 bytes and 32 tokens for what the provider adds: all that was reserved.
        (None, "0.00222"),
        ("many", "0.00222"),
        (-1, "0.00222"),
        (10_000_000, "0.00222"),
    ],
)
async def test_an_embedding_is_charged_by_its_tokens_and_never_more_than_was_reserved(
    stage: Stage, services, prices, tokens, usd
) -> None:
    services.tokens = tokens
    prices(embeddings=60, brave=0)
    await play(stage, KNOWN)
    [result] = await results(stage)
    assert (result["is_error"], result["services_usd"]) == (False, Decimal(usd))
    assert services.embedded == [["tides"]]


async def test_what_costs_nothing_adds_no_step(stage: Stage, services, prices) -> None:
    prices(brave=0, embeddings=0)
    run_id = await play(stage, SEARCH, KNOWN)
    assert (len(services.searched), len(services.embedded)) == (1, 1)
    row = await stage.row(run_id)
    assert row["services_usd"] == 0
    [parts] = await stage.rows(
        "select (select count(*) from entries) + (select count(*) from tool_results) as steps"
    )
    assert row["steps"] == parts["steps"]
    events = await stage.rows("select data from events where kind = 'tool.returned'")
    assert all("service_calls" not in event["data"] for event in events)


async def test_a_priced_search_is_three_statements_and_a_free_one_none(
    stage: Stage, services, prices, monkeypatch
) -> None:
    executed: list[str] = []
    convert = PostgresQuery.convert  # of each statement, sent alone or with others

    def listen(self: PostgresQuery, query: Any, args: Any) -> None:
        executed.append(query if isinstance(query, str) else query.as_string())
        convert(self, query, args)

    monkeypatch.setattr(PostgresQuery, "convert", listen)

    async def count(**by_name: Any) -> int:
        prices(embeddings=0, **by_name)
        executed.clear()
        await play(stage, SEARCH)
        return len(executed)

    await count(brave=0)  # what is looked up once in a process
    free = await count(brave=0)
    assert not any("insert into side_replies" in statement for statement in executed)
    assert await count(brave=0.005) == free + 3, "what was answered before, the reservation and the answer"


@pytest.mark.parametrize("bound", ["run", "batch", "day"])
async def test_a_budget_without_room_for_a_call_refuses_it_as_data(
    stage: Stage, services, prices, bound
) -> None:
    prices(brave=1000, embeddings=0)
    submitted: dict[str, Any] = {"run_budget": Budget(Decimal(20 if bound == "run" else 9_999))}
    if bound == "batch":
        submitted["budget"] = Budget(Decimal(30))
    if bound == "day":
        stage.settings = stage.settings.model_copy(update={"daily_budget_usd": Decimal(40)})
    run_id = await play(stage, SEARCH, submitted=submitted)
    [result] = await results(stage)
    assert result["is_error"]
    assert "brave was not asked, since no budget has room for that" in result["body"]
    assert services.searched == []
    assert (await stage.row(run_id))["services_usd"] == 0


async def test_where_a_budget_binds_a_service_without_a_price_is_not_asked(
    stage: Stage, services, prices
) -> None:
    prices()
    run_id = await play(stage, SEARCH, KNOWN)
    for result in await results(stage):
        assert result["is_error"]
        assert "Set it in CHIRON_SERVICE_PRICES" in result["body"]
    assert (services.searched, services.embedded) == ([], [])
    assert (await stage.row(run_id))["unpriced_services"] == 0


async def test_where_no_budget_binds_a_service_without_a_price_is_asked_and_unknown(
    stage: Stage, services, prices, monkeypatch
) -> None:
    prices(embeddings=0)
    monkeypatch.setenv("CHIRON_PRICES", json.dumps({"nobody-knows": "none"}))
    settings_of_process.cache_clear()
    stage.model_name = "nobody-knows"
    run_id = await play(stage, SEARCH)
    assert services.searched == ["tides"]
    summary = await find(stage.pool, str(run_id))
    assert (summary.services_usd, summary.spent_usd, services_phrase(summary)) == (None, None, "unknown")
    [event] = await stage.rows("select data from events where kind = 'tool.returned'")
    assert (event["data"]["service_calls"], event["data"]["services_usd"]) == (1, None)


async def cut(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "100"})
    await response.prepare(request)
    await response.write(b'{"web"')
    assert request.transport is not None
    request.transport.abort()
    return response


def status(code: int) -> Callable[[web.Request], Any]:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(status=code)

    return answer


@pytest.mark.parametrize(
    ("answer", "unconfirmed"),
    [
        (cut, 1),
        (status(502), 1),
        (status(504), 1),
        (status(500), 0),
        (status(429), 0),
        (status(401), 0),
        (status(302), 0),
    ],
)
async def test_a_call_without_an_answer_is_free_and_one_whose_answer_is_lost_is_unconfirmed(
    stage: Stage, services, prices, answer, unconfirmed
) -> None:
    prices(brave=float(PRICE), embeddings=0)
    services.on_search = answer
    run_id = await play(stage, SEARCH)
    row = await stage.row(run_id)
    assert (row["services_usd"], row["unconfirmed_usd"]) == (0, unconfirmed * PRICE)
    assert (row["unconfirmed_calls"], row["reserved_usd"]) == (unconfirmed, 0)
    assert (await results(stage))[0]["is_error"]


async def test_a_service_that_cannot_be_reached_costs_nothing(
    stage: Stage, services, prices, monkeypatch, unused_tcp_port
) -> None:
    prices(brave=float(PRICE), embeddings=0)
    monkeypatch.setenv("CHIRON_SEARCH_URLS", json.dumps({"brave": f"http://127.0.0.1:{unused_tcp_port}"}))
    settings_of_process.cache_clear()
    run_id = await play(stage, SEARCH)
    row = await stage.row(run_id)
    assert (row["services_usd"], row["unconfirmed_usd"], row["reserved_usd"]) == (0, 0, 0)
    assert "cannot be reached" in (await results(stage))[0]["body"]


async def test_a_search_that_takes_too_long_is_unconfirmed(
    stage: Stage, services, prices, monkeypatch
) -> None:
    prices(brave=float(PRICE), embeddings=0)
    monkeypatch.setenv("CHIRON_SEARCH_TIMEOUT_S", "0.3")
    settings_of_process.cache_clear()

    async def hang(request: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    services.on_search = hang
    run_id = await play(stage, SEARCH)
    row = await stage.row(run_id)
    assert (row["services_usd"], row["unconfirmed_usd"], row["unconfirmed_calls"]) == (0, PRICE, 1)
    assert "did not answer within 0.3 s" in (await results(stage))[0]["body"]


async def test_each_try_of_an_embedding_is_paid_for_by_itself(
    stage: Stage, services, prices, monkeypatch
) -> None:
    monkeypatch.setattr("chiron_workers.embeddings.hosted.WAIT_S_MAX", 0.01)
    prices(embeddings=60, brave=0)
    plans = [status(504), status(503), status(429)]

    async def answer(request: web.Request) -> web.StreamResponse:
        services.on_embed = answer if plans[1:] else None
        return await plans.pop(0)(request)

    services.on_embed = answer
    run_id = await play(stage, KNOWN)
    row = await stage.row(run_id)
    assert (row["services_usd"], row["unconfirmed_usd"]) == (Decimal("0.0006"), Decimal("0.00222"))
    assert row["unconfirmed_calls"] == 1


async def test_a_run_that_is_lost_while_a_service_works_leaves_the_call_unconfirmed_until_its_late_answer(
    stage: Stage, services, prices
) -> None:
    prices(brave=float(PRICE), embeddings=0)
    is_asked, may_answer = asyncio.Event(), asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        is_asked.set()
        await may_answer.wait()
        return web.json_response({"web": {"results": []}})

    services.on_search = answer
    await stage.model(lambda request: [calls(SEARCH), says("The end.")][turn(request)])
    (run_id,) = await stage.submit("tides")
    execution = stage.execution(await stage.claim(run_id))
    playing = asyncio.create_task(execution.execute())
    await asyncio.wait_for(is_asked.wait(), 60)
    assert (await stage.row(run_id))["reserved_usd"] >= PRICE
    await stage.rows("update runs set leased_until = now() - interval '1 hour' returning 1")
    assert await rescue(execution._journal, may_rescue=lambda _: True) == 1
    row = await stage.row(run_id)  # as where the worker was killed
    assert (row["reserved_usd"], row["unconfirmed_usd"], row["unconfirmed_calls"]) == (0, PRICE, 1)
    may_answer.set()
    assert await asyncio.wait_for(playing, 60) is Outcome.LEFT
    row = await stage.row(run_id)
    assert (row["services_usd"], row["unconfirmed_usd"], row["unconfirmed_calls"]) == (PRICE, 0, 0)
    services.on_search = None
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (await stage.row(run_id))["services_usd"] == 2 * PRICE  # the late answer was not kept
    assert len(services.searched) == 2


async def test_an_answer_that_was_committed_is_not_paid_for_again(stage: Stage, services, prices) -> None:
    prices(brave=float(PRICE), embeddings=60)
    is_stuck, may_end = asyncio.Event(), asyncio.Event()
    from chiron_workers.store import Store
    from chiron_workers.toolkit import tool
    from chiron_workers.toolkit.registry import Registry
    from chiron_workers.tools.fact_search import vector_search
    from chiron_workers.tools.web import web_search

    @tool
    async def look(store: Store) -> str:
        """Search twice, then wait before the result is committed."""
        for _ in range(2):
            await web_search(store, query="tides", subject_id="physics")
        await vector_search(store, query="tides", subject_id="physics")
        is_stuck.set()
        await may_end.wait()
        return "done"

    stage.registry = Registry()
    stage.registry.register(look)
    await stage.model(lambda request: [calls(call("look")), says("The end.")][turn(request)])
    (run_id,) = await stage.submit("tides")
    first = asyncio.create_task(stage.play(run_id))
    await asyncio.wait_for(is_stuck.wait(), 60)
    total = 2 * PRICE + Decimal("0.0006")
    row = await stage.row(run_id)
    assert row["services_usd"] == total, "paid for before the tool uses them"
    first.cancel()  # as a killed worker: nothing more is written
    await asyncio.gather(first, return_exceptions=True)
    await stage.rows("update runs set state = 'queued' where id = %s returning 1", run_id)
    may_end.set()
    assert await stage.play(run_id) is Outcome.PLAYED
    assert (services.searched, services.embedded) == (["tides", "tides"], [["tides"]])
    [result] = await results(stage)
    assert (result["services_usd"], (await stage.row(run_id))["services_usd"]) == (total, total)
