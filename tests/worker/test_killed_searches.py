"""A worker that is killed while a hosted service answers leaves the call unconfirmed, and the search is made anew."""

import asyncio
import json
from decimal import Decimal
from typing import Any

import pytest
from aiohttp import web
from support.queued_topics import assert_rows_agree
from support.scripted_model import Says, call, calls, says, scripted_model, turn
from support.scripted_services import HITS, hosted_services
from support.worker_processes import end_leases, rows, running
from worker.test_worker_processes import MODEL, SOON, enqueue, finished

from chiron_workers.settings import Settings

PRICE = Decimal("0.005")


@pytest.mark.acceptance
async def test_a_worker_that_is_killed_in_a_search_leaves_it_unconfirmed(settings: Settings) -> None:
    def script(request: dict[str, Any]) -> Says:
        return [calls(call("web_search", query="tides", subject_id="physics")), says("The end.")][
            turn(request)
        ]

    await enqueue(settings, "tides")
    is_asked, is_killed = asyncio.Event(), asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        is_asked.set()
        await is_killed.wait()
        return web.json_response(HITS)

    async with scripted_model(script) as model, hosted_services() as services:
        services.on_search = answer
        # The model that comes with Chiron embeds.
        searching = {
            f"CHIRON_{name}": services.variables[name] for name in ("SEARCH", "SEARCH_KEYS", "SEARCH_URLS")
        }
        prices = json.dumps({"brave": float(PRICE)})
        env = {**MODEL, **searching, "CHIRON_SERVICE_PRICES": prices, "ANTHROPIC_BASE_URL": model.url}
        with running(settings, name="w1", **env) as first:
            await asyncio.wait_for(is_asked.wait(), 240)
            first.kill()
        is_killed.set()
        end_leases(settings)
        with running(settings, name="w2", **env | SOON):
            await finished(settings, 1)
        assert services.searched == ["tides", "tides"]
    [run] = rows(settings, "select services_usd, unconfirmed_usd, unconfirmed_calls, reserved_usd from runs")
    assert (run["services_usd"], run["unconfirmed_usd"]) == (PRICE, PRICE)
    assert (run["unconfirmed_calls"], run["reserved_usd"]) == (1, 0)
    assert_rows_agree(settings)
