import asyncio
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")
INLINE_CHARS_MAX = 2_000  # a millisecond or two; to hand it to a thread costs half of one


async def offload_if_long(work: Callable[[], Value], *texts: str, chars_max: int = INLINE_CHARS_MAX) -> Value:
    """What rules say of some texts: dozens of milliseconds for long ones, which other runs on the loop need not wait for."""
    if sum(map(len, texts)) <= chars_max:
        return work()
    return await asyncio.to_thread(work)
