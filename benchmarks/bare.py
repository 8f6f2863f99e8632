"""The bare loop: the same SDK client on the same transport, read in the same way, and nothing kept.

As a program it plays many conversations at once and prints the time of each turn.
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
from anthropic import AsyncAnthropic, AsyncStream, DefaultAioHttpClient
from look_up import look_up, passage

from chiron_workers.model.stream import Accumulation
from chiron_workers.roles import role_of
from chiron_workers.toolkit.function_tool import tool_of
from chiron_workers.tools import registry

MODEL = "claude-opus-5-5"
MAX_TOKENS = 16_000
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
    tools = definitions(all_tools=False)
    async with open_client(connections=runs + 20) as client:
        yield lambda topic: converse(client, topic, tools=tools)


async def converse(
    client: AsyncAnthropic,
    topic: str,
    *,
    tools: Sequence[Message],
    on_reply: Callable[[], None] = lambda: None,
) -> None:
    """Play one conversation until the model asks for no more tools."""
    messages = [question(topic)]
    while True:  # ends: the server plays a set number of turns
        reply = await ask(client, messages, tools=tools)
        on_reply()
        messages.append(reply)
        if not (uses := calls(reply)):
            return
        messages.append(answer(uses, [passage(use["input"]["query"]) for use in uses]))


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
    read = Accumulation()
    async with client.messages.with_streaming_response.create(**arguments, stream=True) as response:
        async for event in AsyncStream.raw_events(response.http_response):
            if event.data:
                read.add(event.json())
    return {"role": "assistant", "content": read.message()["content"]}


async def _through_types(client: AsyncAnthropic, arguments: dict[str, Any]) -> Message:
    async with client.messages.stream(**arguments) as stream:
        async for _ in stream:
            pass
        message = await stream.get_final_message()
    return {"role": "assistant", "content": [block.to_dict() for block in message.content]}


def calls(reply: Message) -> list[dict[str, Any]]:
    """The tool calls of a message; an answer has none."""
    return [block for block in reply["content"] if block["type"] == "tool_use"]


def answer(uses: Sequence[dict[str, Any]], found: Sequence[dict[str, str]]) -> Message:
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


def definitions(*, all_tools: bool) -> list[dict[str, Any]]:
    return registry().definitions() if all_tools else [tool_of(look_up).definition()]


async def _play(*, runs: int, latency_s: float, all_tools: bool) -> list[tuple[str, float]]:
    turns: list[tuple[str, float]] = []
    tools = definitions(all_tools=all_tools)

    async def one(client: AsyncAnthropic, n: int) -> None:
        topic = f"tides {n:04}"
        await asyncio.sleep(latency_s * n / runs)  # not all in step, as doorbells come one after the other
        await converse(client, topic, tools=tools, on_reply=lambda: turns.append((topic, time.time())))

    async with open_client(connections=runs + 20) as client:
        await asyncio.gather(*(one(client, n) for n in range(runs)))
    return turns


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--latency-s", type=float, required=True)
    parser.add_argument("--all-tools", action="store_true")
    arguments = parser.parse_args()
    turns = asyncio.run(
        _play(runs=arguments.runs, latency_s=arguments.latency_s, all_tools=arguments.all_tools)
    )
    json.dump(turns, sys.stdout)


if __name__ == "__main__":
    main()
