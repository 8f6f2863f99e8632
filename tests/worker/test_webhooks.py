"""A worker process sends deliveries, and one that is killed amid a delivery loses none."""

import asyncio
import signal
from typing import Any

from aiohttp import web
from standardwebhooks import Webhook as Verifier
from support.http_server import served
from support.worker_processes import rows, running, wait_until

from chiron_workers.db.connect import open_pool
from chiron_workers.runs.session import Caller, Session
from chiron_workers.settings import Settings
from chiron_workers.webhooks.deliveries import send_test
from chiron_workers.webhooks.webhooks import NewWebhook, Webhooks

ENVIRONMENT = {"CHIRON_RESCUE_S": "0.2", "CHIRON_WEBHOOK_PRIVATE": "true", "CHIRON_MODEL": "offline"}


async def test_a_delivery_whose_worker_was_killed_is_sent_again_under_the_same_id(
    settings: Settings, setting: Any
) -> None:
    setting("WEBHOOK_PRIVATE", "true")
    requests: list[tuple[dict[str, str], str]] = []
    release = asyncio.Event()

    async def answer(request: web.Request) -> web.Response:
        requests.append((dict(request.headers), await request.text()))
        await release.wait()
        return web.Response()

    app = web.Application()
    app.router.add_post("/hook", answer)
    async with served(app) as url, open_pool(settings.database_url, size=1) as pool:
        async with Session(pool, Caller()) as session:
            secret, webhook = await Webhooks(session).create(NewWebhook(f"{url}/hook"))
            delivery = await send_test(session, webhook.id)
        with running(settings, **ENVIRONMENT) as worker:
            await asyncio.to_thread(wait_until, lambda: len(requests) == 1)
            worker.send(signal.SIGKILL)
            await asyncio.to_thread(worker.process.wait)
        [row] = rows(settings, "select state, tries from deliveries")
        assert row == {"state": "waiting", "tries": 1}
        rows(settings, "update webhooks set claimed_until = now() returning 1")
        release.set()
        with running(settings, name="w2", **ENVIRONMENT) as worker:
            query = "select tries, status from deliveries where state = 'delivered'"
            [row] = await asyncio.to_thread(wait_until, lambda: rows(settings, query))
            log = worker.log.read_text()
    assert row == {"tries": 2, "status": 200}
    assert len(requests) == 2
    for headers, body in requests:
        assert headers["webhook-id"] == str(delivery.id)
        assert Verifier(secret).verify(body, headers)["type"] == "webhook.test"
    assert secret not in log
