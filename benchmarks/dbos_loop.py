"""The loop on DBOS: an async workflow, a step for each model call, a datasource transaction for each tool call.

As its documentation has it: "annotate your main agentic loop as a durable workflow and each LLM and tool call it makes
as a step" (AI quickstart), with datasources as "the recommended approach" to rows that are written exactly once. The
isolation is the server's default rather than its own SERIALIZABLE, which only costs it more. Without its paid Conductor
a restarted process takes over the workflows of its executor id, and no other does.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from bare import Message, Play, answer, ask, calls, open_client, question
from dbos import DBOS, AsyncSQLAlchemyDatasource, DBOSConfig, SetWorkflowID
from work import open_work

from chiron_workers.settings import settings

CONNECTIONS = 20  # its default for its own tables; the datasource gets as many


async def install(database_url: str) -> None:
    await asyncio.to_thread(DBOS.migrate, system_database_url=database_url)
    await AsyncSQLAlchemyDatasource.migrate(database_url)


@asynccontextmanager
async def opened(*, runs: int) -> AsyncIterator[Play]:
    database_url = settings().database_url
    datasource = await AsyncSQLAlchemyDatasource.create(
        database_url, engine_kwargs={"pool_size": CONNECTIONS, "max_overflow": 0}
    )

    @DBOS.step(name="ask")
    async def next_message(messages: list[Message]) -> Message:
        return await ask(client, messages, tools=work.tools)

    @datasource.transaction(name="use_tool", isolation_level="READ COMMITTED")
    async def use_tool(topic: str, use: dict[str, Any]) -> dict[str, Any]:
        done = await work.do(topic, use)
        if done.row is not None:
            connection = await datasource.sql_session().connection()
            await connection.exec_driver_sql(done.row[0].as_string(), done.row[1])
        return done.result

    @DBOS.workflow(name="converse")
    async def converse(topic: str) -> None:
        messages = [question(topic)]
        while True:  # ends: the server plays a set number of turns
            reply = await next_message(messages)
            messages.append(reply)
            if not (uses := calls(reply)):
                return
            messages.append(answer(uses, [await use_tool(topic, use) for use in uses]))

    async def play(topic: str) -> None:
        with SetWorkflowID(topic):
            handle = await DBOS.start_workflow_async(converse, topic)
        await handle.get_result()

    async with open_client(connections=runs + 20) as client, open_work() as work:
        DBOS(config=_config(database_url))
        DBOS.launch()
        try:
            yield play
        finally:
            DBOS.destroy()
            await datasource.engine.dispose()


def _config(database_url: str) -> DBOSConfig:
    return {
        "name": "rivals",
        "system_database_url": database_url,
        "sys_db_pool_size": CONNECTIONS,
        "application_version": "1",
        "executor_id": "one",
        "log_level": "ERROR",
    }
