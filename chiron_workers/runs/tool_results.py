from chiron_workers.db.queries import load
from chiron_workers.errors import ToolError
from chiron_workers.runs.session import Session

SQL = load(__file__)
CUT_CHARS = 300  # for the words that say how to read on


def how_to_read_on(call_id: str, *, at: int, of: int) -> str:
    """The words at the cut of a result that goes on."""
    how = f'read_result with call_id "{call_id}" and offset {at} reads on.'
    return f"\n[Cut here, at {at:,} of {of:,} characters: {how}]"


class ToolResults:
    """What the calls of the run gave back on whose behalf a store is used, in full."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def read(self, call_id: str, *, offset: int, chars: int) -> tuple[str, int]:
        """A part of a call's result, and how many characters the whole has.

        Raises:
            ToolError: There is no such result, nothing at this offset, or no run.
        """
        run_id = self._session.caller.run_id
        if run_id is None:
            raise ToolError("Results are kept for the calls of a run, and this is no run.")
        args = {"run_id": run_id, "call_id": call_id, "offset": offset, "chars": chars}
        row = await self._session.row(SQL["read"], args)
        if row is None:
            raise ToolError(f"There is no result of a call {call_id!r} in this run.")
        if offset and offset >= row["chars"]:
            raise ToolError(f"The result has {row['chars']:,} characters; there is nothing at {offset:,}.")
        return row["text"], row["chars"]
