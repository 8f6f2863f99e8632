"""Streams that their clients open and leave, hundreds at once: the server keeps its connections to Postgres, and answers."""

import asyncio
import contextlib
from random import Random

import httpx2
import pytest

from chiron_api.local_stack.access import api_key
from chiron_workers.settings import Settings

STREAMS = 300
AT_ONCE = 100
POOL = 3  # connections, so that each one that is lost is missed
PATIENCE_S = 60.0
TOPICS = {"topics": ["Closures", "Decorators"], "subject": "Python"}


async def abandon(client: httpx2.AsyncClient, path: str, key: str, *, after_s: float) -> None:
    """Open a stream over a socket of its own and reset it, whether or not it has begun."""
    _, writer = await asyncio.open_connection(client.base_url.host, client.base_url.port)
    writer.write(
        f"GET {path} HTTP/1.1\r\nHost: {client.base_url.host}\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
    )
    await asyncio.sleep(after_s)
    writer.transport.abort()
    with contextlib.suppress(OSError):
        await writer.wait_closed()


@pytest.mark.parametrize(
    "path",
    [
        "/v1/batches/{batch}/events",
        "/v1/runs/{run}/events?after=0",
        "/batches/{batch}/live",
        "/runs/{run}/live",
        "/live",
    ],
)
async def test_hundreds_of_streams_that_are_left_leave_the_server_its_connections(
    settings: Settings, serving, chance: Random, path: str
):
    settings = settings.model_copy(update={"pool_size": POOL})
    key = api_key(settings)
    async with serving(settings) as client, asyncio.timeout(PATIENCE_S):
        client.headers["Authorization"] = f"Bearer {key}"
        batch = (await client.post("/v1/batches", json=TOPICS)).json()
        path = path.format(batch=batch["batch_id"], run=batch["run_ids"][0])
        for _ in range(STREAMS // AT_ONCE):
            # Some wait for a connection then, some have one, and some are sent something.
            moment = chance.uniform(0, 0.5)
            await asyncio.gather(*(abandon(client, path, key, after_s=moment) for _ in range(AT_ONCE)))
        answers = await asyncio.gather(*(client.get("/v1/batches") for _ in range(3 * POOL)))
        assert [answer.status_code for answer in answers] == [200] * 3 * POOL
        assert (await client.get("/readyz")).status_code == 200
