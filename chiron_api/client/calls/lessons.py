"""Lessons on the nodes of coverage maps."""

from typing import Literal

from chiron_api.answers.lessons import Lesson, LessonLine, LessonList
from chiron_api.answers.runs import WritingReceipt
from chiron_api.client.call import Call, fields, get
from chiron_api.client.calls.batches import Money
from chiron_api.client.targets import Id

LessonFormat = Literal["md", "html", "json"]


def lesson(lesson: Id) -> Call[Lesson]:
    """A lesson, with what became of its facts since it was written."""
    return get("/v1/lessons/{id}", Lesson, target=lesson, query={"format": "json"})


def lesson_document(lesson: Id, *, format: LessonFormat = "md") -> Call[bytes]:
    """The same as a document of a format."""
    return get("/v1/lessons/{id}", bytes, target=lesson, query={"format": format})


def lessons(subject: str, *, node: str | None = None, drafts: bool = False) -> Call[list[LessonLine]]:
    """The lessons of a subject, or of the node of that id or title, newest first; with `drafts` also unfinished ones."""
    query = {"node": node, "drafts": drafts}
    return get("/v1/subjects/{id}/lessons", LessonList, target=subject, query=query, part="items")


def write_lesson(
    subject: str,
    node: str,
    *,
    model: str | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    again: bool = False,
) -> Call[WritingReceipt]:
    """Have a lesson written on a node, by its id or title; `is_new` is false where its facts were taught from before.

    Args:
        again: Write also from the same facts as the last time.
    """
    body = fields(node=node, model=model, budget_usd=budget_usd, budget_tokens=budget_tokens, again=again)
    path = "/v1/subjects/{id}/lessons"
    return Call("POST", path, WritingReceipt, target=subject, body=body, is_repeatable=not again)
