from typing import Annotated

from pydantic import Field

from chiron_workers.errors import ToolError
from chiron_workers.quotation import quoted
from chiron_workers.runs.tool_results import CUT_CHARS, how_to_read_on
from chiron_workers.store import Store
from chiron_workers.toolkit import tool


@tool(needs_run=True)
async def read_result(store: Store, *, call_id: str, offset: Annotated[int, Field(ge=0)] = 0) -> str:
    """Read on in a result of an earlier call that was cut, or read a result again that is no longer in sight.

    Args:
        call_id: Which call, as the note at the cut names it.
        offset: How many characters to skip, as the note says.

    Returns:
        The text from there on, with a note on how to read on if that is not all.
    """
    limit = store.caller.shown
    if limit is None:
        raise ToolError("Results are kept for the calls of a run, and this is no run.")
    room = limit.less(CUT_CHARS)
    text, total = await store.results.read(call_id, offset=offset, chars=room.chars)
    text = room.cut(text)
    end = offset + len(text)
    passage = quoted("result", text)
    if end >= total:
        return f"{passage}\n[This is the end of the result of {call_id}.]"
    return passage + how_to_read_on(call_id, at=end, of=total)
