"""Lessons on the nodes of coverage maps, with what became of their facts since they were written."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from chiron_api.answers.basics import Answer
from chiron_api.answers.facts import FactStatus, Verdict


class LessonLine(Answer):
    """A lesson in a list; `run_id` is null once its run was deleted, `state` is `draft` until its run hands it in."""

    id: UUID
    subject_id: str
    subject: str
    node_id: UUID
    run_id: UUID | None
    title: str
    depth: str
    model: str
    state: Literal["draft", "handed_in"]
    not_known: list[str]
    created_at: datetime
    handed_in_at: datetime | None


class LessonList(Answer):
    """The lessons of a subject or of a node, newest first."""

    items: list[LessonLine]


class LessonSentence(Answer):
    """A sentence with its facts; `changes` say what became of them since it was handed in.

    `verdict` is `supported` if the model `verdict_by` found that they support it, else `unchecked`; `mark` says so.
    """

    text: str
    fact_ids: list[UUID]
    verdict_by: str
    verdict: Verdict
    mark: str
    changes: list[str]


class LessonSection(Answer):
    """A section; place 0 is the summary, place 39 the worked example. `title_mark` says that no model has judged its title."""

    place: int
    title: str
    sentences: list[LessonSentence]
    title_mark: str


class StaleSentence(Answer):
    """A sentence whose facts are no longer what they were: the title of its section, its number there, and why."""

    section: str
    number: int
    reason: str


class LessonFact(Answer):
    """A fact as it is now, numbered as the sentences cite it; content and status are null where it was deleted since."""

    number: int
    fact_id: UUID
    content: str | None
    status: FactStatus | None
    sources: list[str]


class Lesson(LessonLine):
    """A lesson: `version` counts those on its node from 1, `latest_id` is that of the newest."""

    version: int
    versions: list[UUID]
    latest_id: UUID
    is_stale: bool
    stale_sentences: list[StaleSentence]
    sections: list[LessonSection]
    facts: list[LessonFact]
