"""Lessons as learners read them, with what became of their facts since."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool
from chiron_workers.db.queries import load
from chiron_workers.errors import NotFound
from chiron_workers.knowledge.coverage.nodes import NODES_MAX
from chiron_workers.knowledge.drafts.citable_facts import CitableFact, CitableFacts, Scope
from chiron_workers.knowledge.drafts.expiry import is_expired, states_time
from chiron_workers.knowledge.drafts.reading import TITLE_KEY, mark_of, title_mark_of, verdict_of
from chiron_workers.runs.session import Session
from chiron_workers.states import FactStatus, LessonState, Verdict

SQL = load(__file__)
LESSONS_MAX = 500


@dataclass(frozen=True, slots=True)
class LessonSentence:
    """A sentence with its facts; `changes` say what became of them since it was handed in.

    `mark` is what a reader must know before relying on it: that no model was asked whether its facts bear it out.
    """

    text: str
    fact_ids: tuple[str, ...]
    verdict_by: str
    changes: tuple[str, ...]
    verdict: Verdict
    mark: str


@dataclass(frozen=True, slots=True)
class LessonSection:
    """A section: place 0 is the summary, the last one the worked example. `title_mark` says that no model judged its title."""

    place: int
    title: str
    sentences: tuple[LessonSentence, ...]
    title_mark: str


@dataclass(frozen=True, slots=True)
class StaleSentence:
    """A sentence whose facts are no longer what they were: the title of its section, its number there, and why."""

    section: str
    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class LessonLine:
    """A lesson in a list."""

    id: UUID
    subject_id: str
    subject: str
    node_id: UUID
    run_id: UUID | None
    title: str
    depth: str
    model: str
    state: LessonState
    not_known: list[str]
    created_at: datetime
    handed_in_at: datetime | None


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson: `version` counts those on its node from 1, `latest_id` is that of the newest.

    `facts` are all that it rests on as they are now, by id.
    """

    line: LessonLine
    version: int
    versions: tuple[UUID, ...]
    sections: tuple[LessonSection, ...]
    facts: Mapping[str, CitableFact]

    @property
    def latest_id(self) -> UUID:
        """The newest lesson on the node."""
        return self.versions[-1] if self.versions else self.line.id

    @property
    def stale_sentences(self) -> list[StaleSentence]:
        """The sentences that no longer stand as they did, with the reason."""
        return [
            StaleSentence(section.title, n, change)
            for section in self.sections
            for n, sentence in enumerate(section.sentences, start=1)
            for change in sentence.changes
        ]

    @property
    def is_stale(self) -> bool:
        """Whether a sentence no longer stands as it did."""
        return any(sentence.changes for section in self.sections for sentence in section.sentences)


async def read_lesson(pool: Pool, lesson_id: UUID) -> Lesson:
    """A lesson with what became of its facts since. Raises NotFound."""
    session = Session(pool)
    row = await session.row(SQL["by_id"], {"lesson_id": lesson_id})
    if row is None:
        raise NotFound(f"There is no lesson {lesson_id}.")
    line = _line(row)
    versions = [
        entry["id"]
        for entry in await session.rows(
            SQL["versions"], {"subject_id": line.subject_id, "node_id": line.node_id}
        )
    ]
    rows = await session.rows(SQL["sentences"], {"lesson_ids": [lesson_id]})
    facts, successors = await _load_facts(session, line.subject_id, rows)
    return Lesson(
        line,
        version=versions.index(line.id) + 1 if line.id in versions else len(versions) + 1,
        versions=tuple(versions),
        sections=_sections(rows, _Present.of(rows, facts, successors)),
        facts=facts,
    )


async def newest_lessons(session: Session, subject_id: str) -> dict[str, LessonLine]:
    """The newest lesson on each node of a subject that has one, by the id of the node."""
    rows = await session.rows(SQL["newest_of_nodes"], {"subject_id": subject_id, "limit": NODES_MAX})
    return {str(row["node_id"]): _line(row) for row in rows}


async def stale_lessons(session: Session, subject_id: str, lesson_ids: Iterable[UUID]) -> set[UUID]:
    """Those of these lessons of a subject with a sentence that no longer stands as it did; in a few statements."""
    rows = await session.rows(SQL["sentences"], {"lesson_ids": list(lesson_ids)})
    facts, successors = await _load_facts(session, subject_id, rows)
    stale_ids = set()
    for lesson_id, group in groupby(rows, key=itemgetter("lesson_id")):
        lesson_rows = list(group)
        present = _Present.of(lesson_rows, facts, successors)
        if any(_sentence(row, present).changes for row in lesson_rows):
            stale_ids.add(lesson_id)
    return stale_ids


async def _load_facts(
    session: Session, subject_id: str, rows: Sequence[DictRow]
) -> tuple[Mapping[str, CitableFact], Mapping[str, str]]:
    """The facts of sentences as they are now, and what took the place of those that are superseded."""
    fact_ids = list(dict.fromkeys(fact_id for row in rows for fact_id in row["fact_ids"]))
    facts = await CitableFacts(session, Scope(subject_id=subject_id)).by_id(fact_ids)
    successors = await session.rows(SQL["successors"], {"fact_ids": fact_ids})
    return facts, {row["fact_id"]: row["successor"] for row in successors}


async def lessons_of(
    pool: Pool, subject_id: str, *, node_id: UUID | None = None, with_drafts: bool = False
) -> list[LessonLine]:
    """The lessons of a subject or of one of its nodes, newest first; 500 at most.

    Args:
        with_drafts: Also those that are being written.
    """
    args = {
        "subject_id": subject_id,
        "node_id": node_id,
        "states": list(LessonState) if with_drafts else [LessonState.HANDED_IN],
        "limit": LESSONS_MAX,
    }
    return [_line(row) for row in await Session(pool).rows(SQL["of_a_subject"], args)]


async def latest_lesson(pool: Pool, subject_id: str, node_id: UUID) -> Lesson | None:
    """The newest lesson on a node; None where there is none."""
    lines = await lessons_of(pool, subject_id, node_id=node_id)
    return await read_lesson(pool, lines[0].id) if lines else None


def _line(row: DictRow) -> LessonLine:
    return LessonLine(**row | {"state": LessonState(row["state"])})


@dataclass(frozen=True, slots=True)
class _Present:
    """The facts of a lesson as they are now, what took their place, and which of them its sentences name together."""

    facts: Mapping[str, CitableFact]
    successors: Mapping[str, str]
    together: Sequence[frozenset[str]]

    @classmethod
    def of(
        cls, rows: Sequence[DictRow], facts: Mapping[str, CitableFact], successors: Mapping[str, str]
    ) -> "_Present":
        """What the sentences of one lesson are held to."""
        return cls(facts, successors, [frozenset(row["fact_ids"]) for row in rows])

    def change(self, text: str, fact_id: str, status: FactStatus) -> str:
        """What became of a fact that had this status when its sentence was handed in; nothing where it stands as it did."""
        fact = self.facts.get(fact_id)
        if fact is None:
            return f"Fact {fact_id} was deleted since."
        if fact.status is FactStatus.SUPERSEDED:
            successor = self.successors.get(fact_id)
            return f"Fact {fact_id} is superseded since{f' by fact {successor}' if successor else ''}."
        if fact.status is FactStatus.WITHDRAWN:
            return f"Fact {fact_id} was withdrawn since."
        if fact.status is FactStatus.CANDIDATE:
            return f"Fact {fact_id} is no longer sure enough to be told."
        for opponent in fact.opponents:
            if not any({fact_id, opponent} <= ids for ids in self.together):
                return f"Fact {fact_id} is contradicted since by fact {opponent}."
        is_over = is_expired(fact.valid_until, datetime.now(UTC).date())
        if is_over and not states_time(text, fact.valid_from, fact.valid_until):
            return f"Fact {fact_id} was so until {fact.valid_until} and no longer is."
        return "" if fact.status is status else f"Fact {fact_id} was {status} and is {fact.status} now."


def _sections(rows: Sequence[DictRow], present: _Present) -> tuple[LessonSection, ...]:
    return tuple(
        LessonSection(
            place, title, tuple(_sentence(row, present) for row in section_rows), title_mark_of(place, judge)
        )
        for (place, title, judge), section_rows in groupby(rows, key=TITLE_KEY)
    )


def _sentence(row: DictRow, present: _Present) -> LessonSentence:
    statuses = zip(row["fact_ids"], row["fact_statuses"], strict=True)
    changes = (present.change(row["text"], fact_id, FactStatus(status)) for fact_id, status in statuses)
    return LessonSentence(
        row["text"],
        tuple(row["fact_ids"]),
        row["verdict_by"],
        tuple(change for change in changes if change),
        verdict_of(row["verdict_by"]),
        mark_of(row["text"], row["verdict_by"]),
    )
