"""Loops over a Redis connection survive every way in which it can end: on uvloop, as in a worker."""

import asyncio
import traceback
from collections.abc import Coroutine
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from redis.exceptions import RedisError
from structlog.testing import capture_logs
from support.garbling_redis import GOOD, Fault, OddReply, garbling_redis
from uvloop import new_event_loop

from chiron_workers.cancellation import cancel_until_done
from chiron_workers.ids import new_id
from chiron_workers.pubsub.hub import Hub
from chiron_workers.pubsub.publisher import Publisher
from chiron_workers.pubsub.reconnection import Reconnection
from chiron_workers.pubsub.redis import redis_client, write_refusal
from chiron_workers.pubsub.signals import signals
from chiron_workers.runs.events import Event
from chiron_workers.states import EventKind
from chiron_workers.worker.duties import listen_for_signals, log_deafness

LIMIT_S = 60
EVENT = Event(new_id(), new_id(), 1, EventKind.TOOL_CALLED, datetime(2026, 1, 2, tzinfo=UTC), {})
HANDSHAKE_BYTES = 70
LISTENING_BYTES = 200  # of all replies until the first message has come
WAYS = {
    "end": dict[str, Any](),
    "reset": {"is_reset": True},
    "unknown type": {"garble": b"\xff"},
    "wrong length": {"garble": b"7"},
    "wrong type": {"garble": b"*"},
}
ODD_REPLIES = {
    "an array in itself": OddReply("SUBSCRIBE", b"*1\r\n" * 5_000),
    "a negative length": OddReply("SUBSCRIBE", b"$-7\r\n"),
    "a length that is none": OddReply("SUBSCRIBE", b"$x\r\n"),
    "a line without an end": OddReply("SUBSCRIBE", b"+" + b"x" * 200_000),
    "a key that is an array": OddReply("SUBSCRIBE", b"%1\r\n*0\r\n:1\r\n"),
    "a number for a message": OddReply("SUBSCRIBE", b":7\r\n"),
    "a map for a message": OddReply("SUBSCRIBE", b"%1\r\n$1\r\nx\r\n:1\r\n"),
    "a message without parts": OddReply("SUBSCRIBE", b"*1\r\n$7\r\nmessage\r\n"),
    "a push that is no text": OddReply("SUBSCRIBE", b">2\r\n$1\r\n\xff\r\n:1\r\n"),
    "an empty push": OddReply("SUBSCRIBE", b">0\r\n"),
    "a message that is a number": OddReply("SUBSCRIBE", b">3\r\n$7\r\nmessage\r\n$1\r\nx\r\n:7\r\n"),
    "text for numbers": OddReply("TIME", b"*2\r\n$1\r\nx\r\n$1\r\ny\r\n"),
    "one number for two": OddReply("TIME", b"*1\r\n$1\r\n1\r\n"),
    "no set": OddReply("ZRANGE", b":7\r\n"),
    "no answers to a greeting": OddReply("HELLO", b"-ERR no\r\n"),
}


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chiron_workers.pubsub.reconnection.PAUSE_S", 0.001)
    monkeypatch.setattr("chiron_workers.pubsub.reconnection.PAUSE_MAX_S", 0.002)
    monkeypatch.setattr("chiron_workers.pubsub.publisher.GATHERING_S", 0)


def run_on_uvloop(work: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(asyncio.wait_for(work, LIMIT_S))


async def listen_until_good(redis_url: str) -> None:
    async with aclosing(signals(redis_url)) as listened:
        async for signal in listened:
            if signal == GOOD:
                return


@pytest.mark.parametrize("way", WAYS)
def test_a_listener_outlives_a_fault_at_each_byte(way: str) -> None:
    faults = [Fault(after, **WAYS[way]) for after in range(LISTENING_BYTES)]
    with capture_logs() as lines, garbling_redis(faults) as server:
        run_on_uvloop(listen_until_good(server.url))
        assert not server.faults
        assert server.connections > LISTENING_BYTES
    assert bool(lines) is ("garble" in WAYS[way])  # A broken connection is no fault to log.


@pytest.mark.parametrize("oddity", ODD_REPLIES)
def test_a_listener_outlives_an_odd_reply(oddity: str) -> None:
    with garbling_redis([ODD_REPLIES[oddity]] * 2) as server:
        run_on_uvloop(listen_until_good(server.url))
        assert not server.faults


def test_a_write_to_a_reset_connection_is_a_redis_error() -> None:
    async def subscribe(redis_url: str) -> None:
        while server.faults:
            async with redis_client(redis_url) as redis, redis.pubsub() as pubsub:
                with pytest.raises(RedisError):
                    await pubsub.subscribe("channel")
                    while True:
                        await pubsub.get_message(timeout=5)

    with garbling_redis([Fault(after, is_reset=True) for after in range(LISTENING_BYTES)]) as server:
        run_on_uvloop(subscribe(server.url))


class Channel:
    def receive(self, event: Event) -> None:
        pass

    def look_again(self) -> None:
        pass


def test_streams_are_live_again_after_resets() -> None:
    async def listen(redis_url: str) -> None:
        hub = Hub(redis_url)
        hub.subscribe("channel", Channel())
        while server.faults or not hub.is_live("channel"):
            await asyncio.sleep(0.01)
        hub.unsubscribe("channel")

    with garbling_redis([Fault(after, is_reset=True) for after in range(LISTENING_BYTES)]) as server:
        run_on_uvloop(listen(server.url))


@pytest.mark.parametrize("way", WAYS)
def test_a_publisher_publishes_after_faults_at_each_byte(way: str) -> None:
    async def publish(redis_url: str) -> None:
        reached = asyncio.Event()
        publisher = Publisher(redis_url, on_receivers=lambda _channel, _count: reached.set())
        while server.faults:
            publisher.publish(EVENT)
            await asyncio.sleep(0.001)
        reached.clear()
        publisher.publish(EVENT)
        await reached.wait()
        await publisher.close()

    faults = [Fault(after, **WAYS[way]) for after in range(HANDSHAKE_BYTES + 15)]
    with garbling_redis(faults) as server:
        run_on_uvloop(publish(server.url))


@pytest.mark.parametrize("way", WAYS)
def test_a_look_for_refusals_outlives_a_fault_at_each_byte(way: str) -> None:
    async def look(redis_url: str) -> None:
        async with redis_client(redis_url) as redis:
            while server.faults:
                await write_refusal(redis)
            while await write_refusal(redis):
                pass

    with garbling_redis([Fault(after, **WAYS[way]) for after in range(HANDSHAKE_BYTES)]) as server:
        run_on_uvloop(look(server.url))


def test_an_odd_reply_is_logged_once_with_its_class_first() -> None:
    with capture_logs() as lines, garbling_redis([OddReply("SUBSCRIBE", b"$x\r\n")] * 5) as server:
        run_on_uvloop(listen_until_good(server.url))
    [line] = [line for line in lines if line["event"] == "hints.failed"]
    assert line["log_level"] == "error"
    assert next(iter(line)) == "error"
    assert line["error"].startswith("ValueError: invalid literal for int()")


def test_a_password_is_not_logged_where_a_greeting_is_no_map() -> None:
    with capture_logs() as lines, garbling_redis([OddReply("HELLO", b"+OK\r\n")]) as server:
        run_on_uvloop(listen_until_good(server.url.replace("//", "//:secret@")))
    assert [line["error"][:14] for line in lines] == ["AttributeError"]
    assert "secret" not in "".join(traceback.format_exception(lines[0]["exc_info"]))


def test_an_outage_is_no_fault_to_log() -> None:
    with capture_logs() as lines, garbling_redis([Fault(0), Fault(40, is_reset=True)]) as server:
        run_on_uvloop(listen_until_good(server.url))
    assert not lines


async def test_a_cancelled_future_of_a_connection_does_not_end_a_loop() -> None:
    with capture_logs() as lines, Reconnection("hints.failed").faults_suppressed():
        raise asyncio.CancelledError
    assert [line["error"][:14] for line in lines] == ["CancelledError"]


async def test_a_cancellation_ends_a_loop() -> None:
    async def loop() -> None:
        while True:
            with Reconnection("hints.failed").faults_suppressed():
                await asyncio.sleep(LIMIT_S)

    task = asyncio.create_task(loop())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, LIMIT_S)


@pytest.mark.parametrize(
    "error", [ValueError("odd"), MemoryError("full"), OSError(24, "Too many open files")]
)
def test_a_signal_that_cannot_be_handled_does_not_end_the_listening(error: Exception) -> None:
    async def listen(redis_url: str) -> None:
        targets = asyncio.Queue[UUID]()

        def fail(target: UUID) -> None:
            targets.put_nowait(target)
            raise error

        listener = listen_for_signals(redis_url, on_cooldown=lambda _cooldown: None, on_target=fail)
        task = asyncio.create_task(listener)
        while await targets.get() != GOOD:
            pass
        await asyncio.sleep(0)
        assert not task.done()
        await cancel_until_done([task])

    with capture_logs() as lines, garbling_redis([Fault(LISTENING_BYTES * 2)]) as server:
        run_on_uvloop(listen(server.url))
    assert {line["event"] for line in lines} == {"signal.failed"}


def test_the_end_of_a_listener_is_logged_with_its_class_first() -> None:
    with capture_logs() as lines:
        log_deafness(RuntimeError("the handler is closed"))
    [line] = lines
    assert next(iter(line.items())) == ("error", "RuntimeError: the handler is closed")
