"""How many streams a key may have open, and what a stream gives back however it ends."""

import asyncio
from contextlib import AsyncExitStack, ExitStack
from uuid import UUID

import pytest
from starlette.types import Message

from chiron_api.http.open_streams import RETRY_AFTER_S, OpenStreams, StreamResponse
from chiron_api.local_stack.access import api_key
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.db.connect import Pool
from chiron_workers.errors import RateExceeded
from chiron_workers.settings import Settings
from chiron_workers.states import AccessScope

KEY_MAX = 2
PATIENCE_S = 60.0


async def bearer(pool: Pool, name: str) -> dict[str, str]:
    secret, _ = await create_key(pool, NewKey(name, AccessScope.ADMIN))
    return {"Authorization": f"Bearer {secret}"}


async def test_a_key_has_as_many_streams_as_it_may_and_gets_429_for_one_more(
    pool: Pool, settings: Settings, serving
):
    alice, bob = [await bearer(pool, name) for name in ("alice", "bob")]
    local = {"Authorization": f"Bearer {api_key(settings)}"}
    async with (
        serving(settings.model_copy(update={"streams_per_key": KEY_MAX})) as client,
        asyncio.timeout(PATIENCE_S),
    ):
        topics = {"topics": ["Closures"], "subject": "Python"}
        batch_id = (await client.post("/v1/batches", json=topics, headers=alice)).json()["batch_id"]
        events, page = f"/v1/batches/{batch_id}/events", f"/batches/{batch_id}/live"

        async def status(path: str, headers: dict[str, str]) -> int:
            async with client.stream("GET", path, headers=headers) as stream:
                return stream.status_code

        async with AsyncExitStack() as streams:
            for path in (events, page):
                stream = await streams.enter_async_context(client.stream("GET", path, headers=alice))
                assert stream.status_code == 200
            refusal = await client.get(events, headers=alice)
            assert (refusal.status_code, refusal.headers["Retry-After"]) == (429, str(RETRY_AFTER_S))
            assert (
                "'alice' has as many streams open as it may at this server: 2 (" in refusal.json()["detail"]
            )
            assert (await client.get(page, headers=alice | {"Accept": "text/html"})).status_code == 429
            assert await status(events, bob) == 200
            assert [await status(events, local) for _ in range(KEY_MAX + 1)] == [200] * (KEY_MAX + 1)
        while await status(events, alice) != 200:  # once the server has noticed that they are left
            await asyncio.sleep(0.01)
        # One that does not begin takes no place.
        other = UUID(int=7)
        assert [await status(f"/v1/batches/{other}/events", alice) for _ in range(KEY_MAX + 1)] == [404] * 3


def test_a_stream_that_ends_makes_room_for_another_and_the_user_of_this_machine_needs_none():
    streams = OpenStreams(1)
    alice, bob = (Principal(name, key_name=name, key_id=UUID(int=n)) for n, name in enumerate(("a", "b")))
    with ExitStack() as others:
        for principal in (alice, bob, LOCAL, LOCAL):
            others.enter_context(streams.admit(principal))
        with pytest.raises(RateExceeded, match="'a' has as many streams open as it may"):
            streams.admit(alice)
    with streams.admit(alice):
        pass
    assert not streams._counts


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_stream_whose_client_is_gone_before_it_begins_gives_back_what_it_holds(method: str):
    async def body():
        yield b"never sent"

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(_: Message) -> None:
        raise OSError("the client is gone")

    at_end, ended = ExitStack(), []
    at_end.callback(ended.append, True)
    response = StreamResponse(body(), at_end=at_end)
    with pytest.raises(OSError, match="the client is gone"):
        await response({"type": "http", "method": method}, receive, send)
    assert ended == [True]
