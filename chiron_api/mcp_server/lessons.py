"""Tools of MCP clients for lessons: find them, and read them in parts."""

import asyncio
from datetime import datetime
from typing import Annotated, TypedDict
from uuid import UUID

from pydantic import Field

from chiron_api.acts.inputs import Name
from chiron_api.mcp_server.reports import TextPage, text_page
from chiron_api.mcp_server.research import tool_errors
from chiron_api.reports.lessons.formats import LessonFormat, render
from chiron_workers.db.validation import parse_id
from chiron_workers.knowledge.lessons.reading import (
    LessonLine,
    newest_lessons,
    read_lesson,
    stale_lessons,
)
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

LESSONS_SHOWN = 100


class ListedLesson(TypedDict):
    """The newest lesson on a node; `is_stale` where facts that it rests on are no longer what they were."""

    lesson_id: str
    node_id: str
    title: str
    depth: str
    handed_in_at: str | None
    is_stale: bool


class LessonPage(TextPage):
    """A part of a lesson in Markdown."""

    node_id: str
    is_stale: bool


@tool
async def list_lessons(store: Store, *, subject_id: Name) -> list[ListedLesson]:
    """List the lessons of a subject: the newest on each node of its map, 100 at most.

    Args:
        subject_id: The subject, by its id or its name.

    Returns:
        For each its lesson_id, node_id, title, depth, handed_in_at, and is_stale: whether facts that it rests on are no longer
        what they were; order_lesson has it written anew then.
    """
    with tool_errors():
        subject = (await store.subjects.require(subject_id))["subject_id"]
    lines = sorted((await newest_lessons(store.session, subject)).values(), key=_age, reverse=True)
    shown_lines = lines[:LESSONS_SHOWN]
    stale_ids = await stale_lessons(store.session, subject, [line.id for line in shown_lines])
    return [
        ListedLesson(
            lesson_id=str(line.id),
            node_id=str(line.node_id),
            title=line.title,
            depth=line.depth,
            handed_in_at=line.handed_in_at.isoformat() if line.handed_in_at else None,
            is_stale=line.id in stale_ids,
        )
        for line in shown_lines
    ]


@tool
async def get_lesson(store: Store, *, id: Name, offset: Annotated[int, Field(ge=0)] = 0) -> LessonPage:
    """Read a lesson: each sentence names the stored facts that it rests on, and says so where one no longer stands.

    Args:
        id: Id of a lesson, as list_lessons gave it.
        offset: How many characters to pass over: next_offset of the part before.

    Returns:
        text (Markdown, with numbered facts and their sources), chars of the whole, next_offset, None on the last part, node_id,
        which start_quiz asks about, and is_stale.
    """
    with tool_errors():
        lesson = await read_lesson(store.session.pool, parse_id(id, field="id"))
    text = await asyncio.to_thread(lambda: "".join(render(lesson, LessonFormat.MD)))
    return LessonPage(**text_page(text, offset), node_id=str(lesson.line.node_id), is_stale=lesson.is_stale)


def _age(line: LessonLine) -> tuple[datetime, UUID]:
    return line.handed_in_at or line.created_at, line.id
