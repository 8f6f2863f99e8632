"""The loop on LangGraph with its DeltaChannel (beta), which stores each step's messages instead of all of them again."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Annotated, TypedDict

import langgraph_loop
from bare import Play
from langgraph.channels.delta import DeltaChannel
from langgraph_loop import Said

install = langgraph_loop.install


def _extended(known: list[Said], writes: Sequence[list[Said]]) -> list[Said]:
    return known + [entry for written in writes for entry in written]


class Talk(TypedDict):
    history: Annotated[list[Said], DeltaChannel(_extended)]


def opened(*, runs: int) -> AbstractAsyncContextManager[Play]:
    return langgraph_loop.opened(runs=runs, state=Talk)
