"""A model that turns everybody away is left alone: by all calls of a worker, and over a real Valkey by all workers."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError
from support.event_loop_delay import beating
from support.scripted_model import Fails, Says, Script, says, scripted_model

from chiron_workers.errors import ModelHeld
from chiron_workers.ids import new_id
from chiron_workers.model import Model, Request
from chiron_workers.model.admission import Admission
from chiron_workers.model.failures import Failure
from chiron_workers.model.local_cooldowns import LocalCooldowns
from chiron_workers.pubsub.cooldowns import Cooldown, active_cooldowns, start_cooldown
from chiron_workers.pubsub.signals import CHANNEL, notify, signals
from chiron_workers.runs.messages import Message
from chiron_workers.settings import Settings

CLAUDE = "claude-opus-5-5"
QUESTION = Message.of("user", [{"type": "text", "text": "Hello?"}])
FULL = Fails(status=429, type="rate_limit_error", headers={"retry-after": "1"})


def request(model: str = CLAUDE) -> Request:
    return Request(model, "Be brief.", (), 100, [QUESTION])


@asynccontextmanager
async def worker(settings: Settings, url: str) -> AsyncIterator[tuple[Model, Admission]]:
    """The calls of one worker, which listens to the others."""
    admission = Admission(settings)
    model = Model(settings, admission, base_url=url, api_key="test")
    listening = asyncio.create_task(_listen(settings.redis_url, admission))
    try:
        yield model, admission
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        await model.close()
        await admission.close()


async def _listen(redis_url: str, admission: Admission) -> None:
    async with aclosing(signals(redis_url)) as coming:
        async for signal in coming:
            assert isinstance(signal, Cooldown)
            admission.apply(signal)


class Server:
    """Refuses until it is told to answer, and notes when each request came."""

    def __init__(self, refusal: Fails = FULL) -> None:
        self.refusal: Fails | None = refusal
        self.at: list[float] = []

    def __call__(self, _: dict[str, Any]) -> Says | Fails:
        self.at.append(time.monotonic())
        return self.refusal or says("x")


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


async def ask(model: Model, name: str = CLAUDE) -> str:
    return (await model.reply(request(name), on_text=lambda _: None)).text


async def test_after_a_429_nobody_calls_until_the_time_is_over_and_then_one_by_one(
    settings: Settings,
) -> None:
    server = Server()
    async with scripted_model(server) as found, worker(settings, found.url) as (model, admission):
        first = asyncio.create_task(ask(model))
        await until(lambda: admission.is_cooling(CLAUDE))
        server.refusal = None
        async with beating() as pulse:
            assert await asyncio.gather(first, *(ask(model) for _ in range(40))) == ["x"] * 41
    came = [at - server.at[0] for at in server.at[1:]]
    assert min(came) >= 0.9, "somebody called during the cool-down"
    # Where the loop stood still, those whose moments had passed came together.
    assert max(came) - min(came) > 0.3 - pulse.still_s, "everybody came back at once"


async def test_another_worker_leaves_the_model_alone_too_and_calls_other_models(settings: Settings) -> None:
    server = Server(Fails(status=429, headers={"retry-after": "900"}))
    async with (
        scripted_model(server) as found,
        worker(settings, found.url) as (first, _),
        worker(settings, found.url) as (other, admission),
    ):
        with pytest.raises(ModelHeld):
            await ask(first)
        await until(lambda: admission.is_cooling(CLAUDE))
        server.refusal = None
        assert await ask(other, "claude-other") == "x"
        with pytest.raises(ModelHeld, match="is left alone"):
            await ask(other)
    assert len(server.at) == 2, "the refusal, and the call of another model"


async def test_a_worker_that_starts_or_hears_again_learns_what_is_cooling(settings: Settings) -> None:
    async with Redis.from_url(settings.redis_url) as redis:
        await start_cooldown(redis, CHANNEL, Cooldown(CLAUDE, 30, "full"))
        await start_cooldown(redis, CHANNEL, Cooldown(CLAUDE, 3, "a shorter one changes nothing"))
        async with aclosing(signals(settings.redis_url)) as coming:
            first = await anext(coming)
            assert await redis.client_kill_filter(_type="pubsub") >= 1
            second = await anext(coming)
        for hint in (first, second):
            assert isinstance(hint, Cooldown)
            assert hint.model == CLAUDE
            assert 25 < hint.seconds <= 30


async def test_a_lifted_cool_down_is_over_for_all_workers(settings: Settings) -> None:
    async with scripted_model(Server()) as found, worker(settings, found.url) as (model, admission):
        with pytest.raises(ModelHeld):
            await ask_of(Fails(status=429, headers={"retry-after": "900"}), settings)
        await until(lambda: admission.is_cooling(CLAUDE))
        with pytest.raises(ModelHeld, match="is left alone") as told:
            await ask(model)
        assert (told.value.is_news, 800 < told.value.retry_after_s <= 900) == (False, True)
        await notify(settings.redis_url, new_id(), [], lifted=[CLAUDE])
        await until(lambda: not admission.is_cooling(CLAUDE))
    async with Redis.from_url(settings.redis_url) as redis:
        assert await active_cooldowns(redis) == []


async def ask_of(fault: Fails, settings: Settings) -> str:
    script: Script = lambda _: fault  # noqa: E731
    async with scripted_model(script) as found, worker(settings, found.url) as (model, _):
        return await ask(model)


@pytest.mark.parametrize(
    "fault",
    [
        Fails(status=529, type="overloaded_error"),
        Fails(stream="error", type="overloaded_error"),
        Fails(status=429, type="rate_limit_error"),
    ],
    ids=["529", "in mid-stream", "429 without retry-after"],
)
async def test_an_overloaded_model_cools_down_also_where_it_does_not_say_how_long(
    settings: Settings, fault: Fails
) -> None:
    answers = iter([fault, says("x")])
    async with (
        scripted_model(lambda _: next(answers)) as found,
        worker(settings, found.url) as (model, admission),
        Redis.from_url(settings.redis_url) as redis,
        aclosing(signals(settings.redis_url)) as coming,
    ):
        heard = asyncio.create_task(anext(coming))
        async with asyncio.timeout(60):
            while (await redis.pubsub_numsub(CHANNEL))[0][1] < 2:
                await asyncio.sleep(0.01)
        assert await ask(model) == "x"
        await until(lambda: not admission.is_cooling(CLAUDE))  # it may hear late of its own cool-down
        async with asyncio.timeout(60):
            hint = await heard
        assert isinstance(hint, Cooldown)
        assert 0 < hint.seconds <= 1


def test_a_wave_of_refusals_is_one_cool_down_and_the_next_wave_a_longer_one() -> None:
    told: list[Cooldown] = []
    cooldowns = LocalCooldowns(told.append)
    for _ in range(200):
        cooldowns.record_refusal("m", None, "full")
    assert [cooling.seconds for cooling in told] == [0.5]
    cooldowns.apply(Cooldown("m", 0, "over"))
    cooldowns.record_refusal("m", None, "full")
    assert [cooling.seconds for cooling in told] == [0.5, 1.0]
    cooldowns.apply(Cooldown("m", 0, "over"))
    cooldowns.record_reply("m")
    cooldowns.record_refusal("m", None, "full")
    assert told[-1].seconds == 0.5


@pytest.mark.parametrize("redis_url", ["", "redis://127.0.0.1:1"])
async def test_without_redis_a_worker_cools_down_alone(settings: Settings, redis_url: str) -> None:
    server = Server(Fails(status=429, headers={"retry-after-ms": "300"}))
    alone = settings.model_copy(update={"redis_url": redis_url})
    async with scripted_model(server) as found:
        admission = Admission(alone)
        model = Model(alone, admission, base_url=found.url, api_key="test")
        first = asyncio.create_task(ask(model))
        await until(lambda: admission.is_cooling(CLAUDE))
        server.refusal = None
        await asyncio.gather(first, *(ask(model) for _ in range(10)))
        assert min(at - server.at[0] for at in server.at[1:]) >= 0.29
        await model.close()
        await admission.close()


async def test_nobody_calls_who_waited_for_something_else_while_a_cool_down_began(settings: Settings) -> None:
    server = Server()
    server.refusal = None
    done: list[str] = []
    async with scripted_model(server) as found, worker(settings, found.url) as (model, admission):

        async def wait_for_money() -> None:
            if not done:
                admission.apply(Cooldown(CLAUDE, 0.3, "full"))
            done.append("reserved")

        async def give_back(_: Failure) -> None:
            done.append("given back")

        began = time.monotonic()
        await model.reply(request(), on_text=lambda _: None, before_try=wait_for_money, on_failure=give_back)
    assert done == ["reserved", "given back", "reserved"]
    assert server.at[0] - began >= 0.3


async def test_a_key_of_somebody_else_keeps_no_worker_from_hearing_what_is_told(settings: Settings) -> None:
    steered = new_id()
    async with Redis.from_url(settings.redis_url) as redis, aclosing(signals(settings.redis_url)) as coming:
        await redis.set("chiron:cooling", "something else")
        hearing = asyncio.ensure_future(anext(coming))
        async with asyncio.timeout(60):
            while not hearing.done():
                await notify(settings.redis_url, steered, [])
                await asyncio.wait([hearing], timeout=0.2)
        connected = (await redis.info("stats"))["total_connections_received"]
        await notify(settings.redis_url, steered, [])
        assert (await hearing, await asyncio.wait_for(anext(coming), 60)) == (steered, steered)
        assert (await redis.info("stats"))["total_connections_received"] - connected <= 3
        with pytest.raises(ResponseError):
            await start_cooldown(redis, CHANNEL, Cooldown(CLAUDE, 30, "full"))
        async with asyncio.timeout(60):
            while (hint := await anext(coming)) == steered:  # it was told once more than was needed
                pass
        assert hint == Cooldown(CLAUDE, 30, "full")
