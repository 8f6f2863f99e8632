from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.errors import ToolError
from chiron_workers.runs.session import Session

SQL = load(__file__)
BYTES_MAX = 8_000  # all notes of a run, titles included: they must leave a small context window usable


@dataclass(frozen=True, slots=True)
class Note:
    """Something an agent wrote down for itself."""

    title: str
    text: str


async def notes_of(pool: Pool, run_id: UUID) -> list[Note]:
    """The notes of a run, by title."""
    rows = await fetch_all(pool, SQL["read"], {"run_id": run_id})
    return [Note(**row) for row in rows]


class Notes:
    """The working memory of the run on whose behalf a store is used."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def all(self) -> list[Note]:
        """Every note, by title. Raises ToolError outside of a run."""
        return [Note(**row) for row in await self._session.rows(SQL["read"], {"run_id": self._run_id()})]

    async def write(self, note: Note) -> None:
        """Keep a note in place of the one with its title.

        Raises:
            ToolError: There is no room for it, or there is no run.
        """
        args = {"run_id": self._run_id(), "title": note.title, "text": note.text}
        await self._session.lock(SQL["lock"], args, keys=[f"notes {args['run_id']}"])
        [row] = await self._session.rows(SQL["size"], args)
        bytes_needed, bytes_left = size([note]), BYTES_MAX - row["bytes"]
        if bytes_needed > bytes_left:
            raise ToolError(
                f"This note takes {bytes_needed:,} bytes and there is room for {bytes_left:,}. "
                "Shorten it, or remove another one by writing an empty text under its title."
            )
        await self._session.write(SQL["write"], args)

    async def remove(self, title: str) -> None:
        """Forget the note with a title. Raises ToolError if there is none, or no run."""
        if not await self._session.write(SQL["remove"], {"run_id": self._run_id(), "title": title}):
            raise ToolError(f"There is no note with the title {title!r}.")

    def _run_id(self) -> UUID:
        run_id = self._session.caller.run_id
        if run_id is None:
            raise ToolError("Notes are the working memory of a run, and this is no run.")
        return run_id


def size(notes: Sequence[Note]) -> int:
    """The bytes that notes take."""
    return sum(len(note.title.encode()) + len(note.text.encode()) for note in notes)
