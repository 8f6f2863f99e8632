"""The loop on absurd: a task whose messages are steps, as in its "durable turns" pattern, played by an async worker.

Its SQL comes with `absurdctl`. The tool's row is written on a connection of ours, within the step that returns the
result: a step has no transaction to share. One worker plays all conversations on its one connection, as its SDK does.
It starts once all of them are spawned, since it claims no more until all that it claimed have ended. Its claims last as
long as this pipeline's leases.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import psycopg
from absurd_sdk import AsyncAbsurd, AsyncTaskContext
from absurdctl import BUNDLED_SCHEMA_SQL
from bare import Message, Play, answer, ask, calls, open_client, question
from work import Work, open_work

from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.settings import settings

CONNECTIONS = 20
QUEUE = "rivals"
LOOK_EVERY_S = 5.0  # whether another process has ended a conversation


async def install(database_url: str) -> None:
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
        await connection.execute(BUNDLED_SCHEMA_SQL.encode())
    client = AsyncAbsurd(database_url, queue_name=QUEUE)
    await client.create_queue()
    await client.close()


@asynccontextmanager
async def opened(*, runs: int) -> AsyncIterator[Play]:
    database_url = settings().database_url
    ended: dict[str, asyncio.Event] = {}
    spawns = asyncio.Semaphore(0)
    worker = AsyncAbsurd(database_url, queue_name=QUEUE)
    client = AsyncAbsurd(database_url, queue_name=QUEUE)

    @worker.register_task("converse")
    async def converse(params: Any, context: AsyncTaskContext) -> None:
        topic = params["topic"]
        messages = [question(topic)]
        while True:  # ends: the server plays a set number of turns
            reply = await context.step("message", lambda: ask(anthropic, messages, tools=work.tools))
            messages.append(reply)
            if not (uses := calls(reply)):
                break
            messages.append(
                await context.step("message", lambda uses=uses: _results(pool, work, topic, uses))
            )
        ended.setdefault(topic, asyncio.Event()).set()

    async def play(topic: str) -> None:
        spawned = await client.spawn("converse", {"topic": topic}, queue=QUEUE, idempotency_key=topic)
        spawns.release()
        event = ended.setdefault(topic, asyncio.Event())
        while not event.is_set() and not await _is_over(client, spawned["task_id"]):
            with suppress(TimeoutError):
                await asyncio.wait_for(event.wait(), LOOK_EVERY_S)

    async with (
        open_pool(database_url, size=CONNECTIONS) as pool,
        open_client(connections=runs + 20) as anthropic,
        open_work() as work,
    ):
        working = asyncio.create_task(_work(worker, spawns, runs))
        yield play
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        await worker.close()
        await client.close()


async def _work(worker: AsyncAbsurd, spawns: asyncio.Semaphore, runs: int) -> None:
    for _ in range(runs):
        await spawns.acquire()
    await worker.start_worker(claim_timeout=round(settings().lease_s), concurrency=runs)


async def _is_over(client: AsyncAbsurd, task_id: str) -> bool:
    found = await client.fetch_task_result(task_id, QUEUE)
    return found is not None and found.state in ("completed", "failed", "cancelled")


async def _results(pool: Pool, work: Work, topic: str, uses: list[dict[str, Any]]) -> Message:
    found = []
    for use in uses:
        done = await work.do(topic, use)
        if done.row is not None:
            async with pool.connection() as connection:
                await connection.execute(*done.row)
        found.append(done.result)
    return answer(uses, found)
