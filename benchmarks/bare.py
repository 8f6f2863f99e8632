"""The bare loop: the SDK's client on its aiohttp transport, and nothing kept but what the kind of turn has it keep.

In the cheapest turn it keeps nothing. In a real one it writes a row for each fact, in a transaction of its own; `work.py` says
what its tools do. As a program it plays many conversations at once, on uvloop as a worker does, and prints the time of each turn.
"""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import uvloop
from anthropic import AsyncAnthropic, AsyncStream, DefaultAioHttpClient
from work import Work, kind, open_work

from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.roles import role_of
from chiron_workers.settings import settings

MODEL = "claude-opus-5-5"
MAX_TOKENS = 16_000
CONNECTIONS = 20  # to Postgres, for the rows of real turns
STREAM = "BENCHMARK_STREAM"  # "types": through the SDK's own helper, as most people write it
SYSTEM = role_of("research").prompt

Message = dict[str, Any]  # of the Messages API, as JSON
Play = Callable[[str], Awaitable[None]]  # carries the conversation on a topic to its end


@asynccontextmanager
async def open_client(*, connections: int) -> AsyncIterator[AsyncAnthropic]:
    limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
    timeout = httpx2.Timeout(600, connect=10)
    transport = DefaultAioHttpClient(limits=limits, timeout=timeout)
    async with AsyncAnthropic(max_retries=0, timeout=timeout, http_client=transport) as client:
        yield client


@asynccontextmanager
async def opened(*, runs: int) -> AsyncIterator[Play]:
    """The bare loop as one of the loops that are compared; see `loops.py`."""
    async with open_client(connections=runs + 20) as client, open_work() as work, _open_rows() as pool:
        yield lambda topic: converse(client, topic, work=work, pool=pool)


@asynccontextmanager
async def _open_rows() -> AsyncIterator[Pool | None]:
    """Where the rows of real turns go."""
    if not kind().is_real:
        yield None
        return
    async with open_pool(settings().database_url, size=CONNECTIONS) as pool:
        yield pool


async def converse(
    client: AsyncAnthropic,
    topic: str,
    *,
    work: Work,
    pool: Pool | None,
    on_reply: Callable[[], None] = lambda: None,
) -> None:
    """Play one conversation until the model asks for no more tools; the calls of a reply run side by side."""
    messages = [question(topic)]
    while True:  # ends: the server plays a set number of turns
        reply = await ask(client, messages, tools=work.tools)
        on_reply()
        messages.append(reply)
        if not (uses := calls(reply)):
            return
        results = await asyncio.gather(*(_result(work, pool, topic, use) for use in uses))
        messages.append(answer(uses, results))


async def _result(work: Work, pool: Pool | None, topic: str, use: dict[str, Any]) -> dict[str, Any]:
    done = await work.do(topic, use)
    if pool is not None and done.row is not None:
        async with pool.connection() as connection:
            await connection.execute(*done.row)
    return done.result


def question(topic: str) -> Message:
    return {"role": "user", "content": [{"type": "text", "text": f"Research topic: {topic}"}]}


async def ask(client: AsyncAnthropic, messages: Sequence[Message], *, tools: Sequence[Message]) -> Message:
    """The model's next message, streamed, as it goes into the history."""
    arguments: dict[str, Any] = {
        "model": MODEL,
        "system": SYSTEM,
        "messages": messages,
        "max_tokens": MAX_TOKENS,
        "tools": tools,
        "cache_control": {"type": "ephemeral"},
    }
    return await (_through_types if os.environ.get(STREAM) == "types" else _raw)(client, arguments)


async def _raw(client: AsyncAnthropic, arguments: dict[str, Any]) -> Message:
    read = _Message()
    async with client.messages.with_streaming_response.create(**arguments, stream=True) as response:
        async for event in AsyncStream.raw_events(response.http_response):
            if event.data:
                read.add(event.json())
    return {"role": "assistant", "content": read.blocks}


class _Message:
    """The blocks of a reply, from the events of its stream."""

    def __init__(self) -> None:
        self.blocks: list[dict[str, Any]] = []
        self._parts: list[str] = []

    def add(self, event: dict[str, Any]) -> None:
        match event["type"]:
            case "content_block_start":
                self.blocks.append(event["content_block"])
                self._parts = []
            case "content_block_delta":
                delta = event["delta"]
                self._parts.append(delta["text"] if delta["type"] == "text_delta" else delta["partial_json"])
            case "content_block_stop":
                block, text = self.blocks[-1], "".join(self._parts)
                block |= {"text": text} if block["type"] == "text" else {"input": json.loads(text or "{}")}


async def _through_types(client: AsyncAnthropic, arguments: dict[str, Any]) -> Message:
    async with client.messages.stream(**arguments) as stream:
        async for _ in stream:
            pass
        message = await stream.get_final_message()
    return {"role": "assistant", "content": [block.to_dict() for block in message.content]}


def calls(reply: Message) -> list[dict[str, Any]]:
    """The tool calls of a message; an answer has none."""
    return [block for block in reply["content"] if block["type"] == "tool_use"]


def answer(uses: Sequence[dict[str, Any]], found: Sequence[dict[str, Any]]) -> Message:
    """The message with the results of tool calls."""
    results = [
        {
            "type": "tool_result",
            "tool_use_id": use["id"],
            "content": json.dumps(one, ensure_ascii=False),
            "is_error": False,
        }
        for use, one in zip(uses, found, strict=True)
    ]
    return {"role": "user", "content": results}


async def _play(*, runs: int, latency_s: float, tag: str) -> list[tuple[str, float]]:
    turns: list[tuple[str, float]] = []

    async def one(client: AsyncAnthropic, work: Work, pool: Pool | None, n: int) -> None:
        topic = f"tides {tag} {n:04}"
        await asyncio.sleep(latency_s * n / runs)  # not all in step, as signals come one after the other
        await converse(
            client, topic, work=work, pool=pool, on_reply=lambda: turns.append((topic, time.time()))
        )

    async with open_client(connections=runs + 20) as client, open_work() as work, _open_rows() as pool:
        await asyncio.gather(*(one(client, work, pool, n) for n in range(runs)))
    return turns


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--latency-s", type=float, required=True)
    parser.add_argument("--tag", default="0", help="Part of every topic.")
    arguments = parser.parse_args()
    turns = uvloop.run(_play(runs=arguments.runs, latency_s=arguments.latency_s, tag=arguments.tag))
    json.dump(turns, sys.stdout)


if __name__ == "__main__":
    main()
