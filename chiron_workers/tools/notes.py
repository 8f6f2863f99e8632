from typing import Annotated, TypedDict

from pydantic import Field

from chiron_workers.runs.notes import BYTES_MAX, Note, size
from chiron_workers.store import Store
from chiron_workers.toolkit import tool


class Kept(TypedDict):
    """What is in the notes now."""

    titles: list[str]
    room_left: int


@tool(needs_run=True)
async def notes(
    store: Store,
    *,
    title: Annotated[str, Field(min_length=1, max_length=100)],
    text: Annotated[str, Field(max_length=BYTES_MAX)],
) -> Kept:
    """Write something down that you must still know when your context window is full and begins anew.

    All notes are shown to you then, and nothing else of this conversation but a summary. What you stored as facts
    is kept anyway and needs no note.

    Args:
        title: What the note is about. A note with the same title is replaced.
        text: What to remember, short. An empty text removes the note.

    Returns:
        titles of all notes, and room_left: how many characters still fit (bytes: letters outside ASCII count more).
    """
    if text.strip():
        await store.notes.write(Note(title, text))
    else:
        await store.notes.remove(title)
    all_notes = await store.notes.all()
    return Kept(titles=[note.title for note in all_notes], room_left=BYTES_MAX - size(all_notes))
