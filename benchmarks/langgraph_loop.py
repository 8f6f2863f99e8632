"""The loop on LangGraph: a node for the model, a node for the tools, AsyncPostgresSaver on a pool, durability "sync".

"sync" persists a step before the next one starts; its default, "async", persists it meanwhile and loses it in a crash.
Each conversation gets a saver of its own on the shared pool, since a saver holds one lock around all that it does
(langchain-ai/langgraph#7259). Nobody takes over the threads of a dead process: its restart asks for them again.
"""

import operator
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypedDict

from bare import Message, Play, answer, ask, calls, open_client, question
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import END, START, StateGraph
from work import Work, open_work

from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.settings import settings

CONNECTIONS = 20
STEPS_MAX = 10_000  # more than any conversation here has


class Said(TypedDict):
    """One entry of the history; a DeltaChannel would turn a bare message into an object of LangChain's own."""

    said: Message


class Talk(TypedDict):
    history: Annotated[list[Said], operator.add]


Model = Callable[[list[Message]], Awaitable[Message]]


async def install(database_url: str) -> None:
    async with AsyncPostgresSaver.from_conn_string(database_url) as saver:
        await saver.setup()


@asynccontextmanager
async def opened(*, runs: int, state: type[Any] = Talk) -> AsyncIterator[Play]:
    async with (
        open_pool(settings().database_url, size=CONNECTIONS) as pool,
        open_client(connections=runs + 20) as client,
        open_work() as work,
    ):
        graph = _graph(state, pool, work, lambda messages: ask(client, messages, tools=work.tools))

        async def play(topic: str) -> None:
            compiled = graph.compile(checkpointer=AsyncPostgresSaver(pool))
            thread: RunnableConfig = {"configurable": {"thread_id": topic}, "recursion_limit": STEPS_MAX}
            kept = await compiled.aget_state(thread)
            first = None if kept.values else _said(question(topic))
            await compiled.ainvoke(first, thread, durability="sync")

        yield play


def _graph(state: type[Any], pool: Pool, work: Work, model: Model) -> StateGraph[Any, Any, Any, Any]:
    async def say(talk: Any) -> Talk:
        return _said(await model([entry["said"] for entry in talk["history"]]))

    async def use_tools(talk: Any, config: RunnableConfig) -> Talk:
        uses, found = calls(talk["history"][-1]["said"]), []
        for use in uses:
            done = await work.do(config["configurable"]["thread_id"], use)
            if done.row is not None:
                async with pool.connection() as connection:
                    await connection.execute(*done.row)
            found.append(done.result)
        return _said(answer(uses, found))

    graph = StateGraph(state)
    graph.add_node("model", say)
    graph.add_node("tools", use_tools)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", _next, ["tools", END])
    graph.add_edge("tools", "model")
    return graph


def _said(message: Message) -> Talk:
    return {"history": [{"said": message}]}


def _next(talk: Any) -> str:
    return "tools" if calls(talk["history"][-1]["said"]) else END
