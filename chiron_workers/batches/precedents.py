"""Precedents of a batch: new subjects, topics that repeat, and topics that were answered before.

It is looked up before the batch is stored, since each of its runs is paid for.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers.batches.duplicates import (
    WARNINGS_MAX,
    RepeatedTopic,
    duplicate_warnings,
    repeated_topics,
    title_of,
)
from chiron_workers.batches.submit import NewBatch, NewRun
from chiron_workers.batches.topics import comparable
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.errors import ToolValidationError, UsageError
from chiron_workers.knowledge.coverage.subjects import SUBJECTS_MAX, slug

SQL = load(__file__)
LISTED_MAX = 100  # of each list
TOPICS_MAX = 10_000  # that are looked up, which takes a second
SIMILAR_SUBJECTS_MAX = 3
NEARNESS_MIN = 60  # of the ids of two subjects, as rapidfuzz measures it; 100 is equal
# Topics that are compared by their words, those of the batch and those answered last.
COMPARED_TOPICS_MAX = 200
COMPARED_ANSWERS_MAX = 500
COMPARED_CHARS_MAX = 500  # of a topic; a longer one is compared with nothing
DEFAULT_LANGUAGE = "english"  # of a topic that does not tell
COMMON_WORDS_MIN = 0.6  # share of the words of two topics that both have


@dataclass(frozen=True, slots=True)
class SimilarSubject:
    """A subject whose name is near to that of a new one."""

    subject_id: str
    documents: int


@dataclass(frozen=True, slots=True)
class NewSubject:
    """A subject that a batch would make; it has no documents yet, and may be a misspelling of one of `similar`."""

    subject_id: str
    similar: tuple[SimilarSubject, ...]


@dataclass(frozen=True, slots=True)
class EarlierAnswer:
    """A topic of a batch, by its number there, and a run that has answered it, or a similar one, in its subject.

    `earlier_topic` is how the topic of that run reads, `run_number` its place in its batch.
    """

    number: int
    topic: str
    earlier_topic: str
    run_id: UUID
    run_number: int
    batch_id: UUID
    batch: str
    finished_at: datetime


@dataclass(frozen=True, slots=True)
class Precedents:
    """New subjects, repetitions and earlier answers of a batch, each list with its first 100.

    Attributes:
        has_other_subjects: There is a subject that a new one might be mistaken for.
        left_out: How many of its topics were not looked up, since they are too many.
        answered_count: How many of its topics were answered before; `earlier_answers` names the first of them.
    """

    new_subjects: tuple[NewSubject, ...] = ()
    repetitions: tuple[RepeatedTopic, ...] = ()
    earlier_answers: tuple[EarlierAnswer, ...] = ()
    similar_answers: tuple[EarlierAnswer, ...] = ()
    has_other_subjects: bool = False
    answered_count: int = 0
    left_out: int = 0

    @property
    def is_doubtful(self) -> bool:
        """Whether to ask a person first: research may be paid for twice, or a subject may be misspelt."""
        return bool(
            self.repetitions or self.earlier_answers or (self.new_subjects and self.has_other_subjects)
        )

    def notes(self) -> list[str]:
        """That subjects are new, a sentence each."""
        return [_new_subject(subject) for subject in self.new_subjects]

    def warnings(self) -> list[str]:
        """A sentence for each topic that would be paid for again, and for similar ones."""
        return [
            *duplicate_warnings(self.repetitions),
            *_answered(self),
            *map(_similar, self.similar_answers[:WARNINGS_MAX]),
        ]


NO_PRECEDENTS = Precedents()


async def precedents_of(pool: Pool, batch: NewBatch, *, owner: str | None = None) -> Precedents:
    """Look up the precedents of a batch that is not stored yet.

    Args:
        owner: Whose earlier answers count; None: those of all.

    Raises:
        UsageError: The name of a subject cannot be used.
    """
    try:
        slugs = {name: slug(name) for name in {batch.subject, *(run.subject for run in batch.runs)}}
    except ToolValidationError as error:
        raise UsageError(f"The subject cannot be used: {error}") from None
    subject_ids = sorted(set(slugs.values()))
    rows = await fetch_all(pool, SQL["present"], {"subject_ids": subject_ids})
    present_ids = {row["subject_id"] for row in rows}
    new_ids = [subject_id for subject_id in subject_ids if subject_id not in present_ids]
    names = (
        [row["subject_id"] for row in await fetch_all(pool, SQL["names"], {"limit": SUBJECTS_MAX})]
        if new_ids
        else []
    )
    topics = [
        (number, run)
        for number, run in enumerate(batch.runs, start=1)
        if slugs[run.subject] in present_ids and run.scope is None
    ]
    answers = await _earlier_answers(pool, topics[:TOPICS_MAX], slugs, owner)
    open_topics = [(number, run) for number, run in topics if number not in answers]
    repetitions = await asyncio.to_thread(repeated_topics, batch.runs)
    return Precedents(
        new_subjects=tuple([await _new(pool, subject_id, names) for subject_id in new_ids[:WARNINGS_MAX]]),
        repetitions=tuple(repetitions[:LISTED_MAX]),
        earlier_answers=tuple(islice(answers.values(), LISTED_MAX)),
        similar_answers=tuple(await _similar_answers(pool, open_topics, slugs, owner)),
        has_other_subjects=bool(names),
        answered_count=len(answers),
        left_out=max(0, len(topics) - TOPICS_MAX),
    )


async def _new(pool: Pool, subject_id: str, names: Sequence[str]) -> NewSubject:
    nearest = await asyncio.to_thread(_nearest, subject_id, names)
    rows = await fetch_all(pool, SQL["documents"], {"subject_ids": nearest}) if nearest else []
    counts = {row["subject_id"]: row["documents"] for row in rows}
    return NewSubject(subject_id, tuple(SimilarSubject(name, counts.get(name, 0)) for name in nearest))


def _nearest(subject_id: str, names: Sequence[str]) -> list[str]:
    from rapidfuzz import fuzz  # difflib takes seconds for the ten thousand names that there may be

    ratings = ((fuzz.ratio(subject_id, name), name) for name in names)
    rated_names = [
        (-rating, name)
        for rating, name in ratings
        if rating >= NEARNESS_MIN or name.startswith(f"{subject_id}-") or subject_id.startswith(f"{name}-")
    ]
    return [name for _, name in sorted(rated_names)[:SIMILAR_SUBJECTS_MAX]]


async def _earlier_answers(
    pool: Pool, topics: Sequence[tuple[int, NewRun]], slugs: dict[str, str], owner: str | None
) -> dict[int, EarlierAnswer]:
    """By number of a topic the latest answer to it."""
    answers: dict[int, EarlierAnswer] = {}
    args = {
        "subject_ids": [slugs[run.subject] for _, run in topics],
        "topics": [run.topic for _, run in topics],
        "roles": [run.role for _, run in topics],
        "contexts": [run.context for _, run in topics],
        "owner": owner,
    }
    for row in await fetch_all(pool, SQL["answered"], args) if topics else []:
        number, run = topics[row.pop("n") - 1]
        # The key of the index is the same for more topics than those that read alike.
        if number not in answers and comparable(row["earlier_topic"]) == comparable(run.topic):
            answers[number] = EarlierAnswer(number, run.topic, **row)
    return answers


async def _similar_answers(
    pool: Pool, topics: Sequence[tuple[int, NewRun]], slugs: dict[str, str], owner: str | None
) -> list[EarlierAnswer]:
    """Topics that share most of their words with one that was answered lately, each with the most similar one."""
    if len(topics) > COMPARED_TOPICS_MAX:
        return []
    short_topics = [(number, run) for number, run in topics if len(run.topic) <= COMPARED_CHARS_MAX]
    if not short_topics:
        return []
    args = {
        "subject_ids": sorted({slugs[run.subject] for _, run in short_topics}),
        "limit": COMPARED_ANSWERS_MAX,
        "chars_max": COMPARED_CHARS_MAX,
        "owner": owner,
    }
    rows = await fetch_all(pool, SQL["latest"], args)
    if not rows:
        return []
    texts = [*(run.topic for _, run in short_topics), *(row["earlier_topic"] for row in rows)]
    words = await _words(pool, texts)
    # In a thread: hundreds of topics with hundreds of others take seconds, for which no other request waits.
    return await asyncio.to_thread(_most_similar, short_topics, rows, words, slugs)


def _most_similar(
    topics: Sequence[tuple[int, NewRun]],
    rows: Sequence[DictRow],
    words: Sequence[frozenset[str]],
    slugs: dict[str, str],
) -> list[EarlierAnswer]:
    """The topics with a similar answer; `words` are those of the topics, then those of the rows."""
    answers = []
    numbers = [_numbers(text) for text in words]
    earlier_words = list(zip(rows, words[len(topics) :], numbers[len(topics) :], strict=True))
    for (number, run), own_words, own_numbers in zip(topics, words, numbers, strict=False):
        if len(own_words) < 2:
            continue
        candidates = [
            (len(own_words & other_words) / len(own_words | other_words), row)
            for row, other_words, other_numbers in earlier_words
            if (row["subject_id"], row["role"]) == (slugs[run.subject], run.role)
            # Where the numbers differ, it is another question.
            and own_numbers == other_numbers
            and len(other_words) >= COMMON_WORDS_MIN * len(own_words)
            and len(own_words) >= COMMON_WORDS_MIN * len(other_words)
        ]
        share, nearest = max(candidates, default=(0.0, {}), key=lambda candidate: candidate[0])
        if share >= COMMON_WORDS_MIN:
            answers.append(EarlierAnswer(number, run.topic, **_without_place(nearest)))
    return answers[:LISTED_MAX]


async def _words(pool: Pool, topics: Sequence[str]) -> list[frozenset[str]]:
    """The words of topics as the search by words has them: stems, without those that say nothing."""
    from chiron_workers.language.terms import (
        terms_of_query,  # with its tables: most batches are compared with nothing
    )

    terms = await asyncio.to_thread(lambda: [terms_of_query(topic) for topic in topics])
    args: dict[str, Any] = {
        "languages": [entry.language or DEFAULT_LANGUAGE for entry in terms],
        "words": [entry.words for entry in terms],
    }
    rows = await fetch_all(pool, SQL["stems"], args)
    return [frozenset((*row["stems"], *entry.pairs)) for row, entry in zip(rows, terms, strict=True)]


def _numbers(words: frozenset[str]) -> set[str]:
    return {word for word in words if word.isdecimal()}


def _without_place(row: DictRow) -> DictRow:
    return {name: value for name, value in row.items() if name not in ("subject_id", "role")}


def _new_subject(subject: NewSubject) -> str:
    similar = [f"{neighbour.subject_id} ({_documents(neighbour.documents)})" for neighbour in subject.similar]
    suggestion = f" Similar: {', '.join(similar)}." if similar else ""
    return f"{subject.subject_id} is a new subject, with {_documents(0)}.{suggestion}"


def _documents(count: int) -> str:
    return "1 document" if count == 1 else f"{count:,} documents"


def _answered(precedents: Precedents) -> Iterator[str]:
    for answer in precedents.earlier_answers[:WARNINGS_MAX]:
        yield f"Topic {answer.number:,}, “{title_of(answer.topic)}”, was answered before: {_place(answer)}."
    if (surplus := precedents.answered_count - WARNINGS_MAX) > 0:
        yield f"{surplus:,} more {'topic was' if surplus == 1 else 'topics were'} answered before."
    if precedents.left_out:
        yield f"{precedents.left_out:,} topics beyond the first {TOPICS_MAX:,} were not compared with earlier ones."


def _similar(answer: EarlierAnswer) -> str:
    topic, earlier_topic = title_of(answer.topic), title_of(answer.earlier_topic)
    return f"Topic {answer.number:,}, “{topic}”, is similar to “{earlier_topic}”: {_place(answer)}."


def _place(answer: EarlierAnswer) -> str:
    return f"run #{answer.run_number} of “{title_of(answer.batch)}”, {answer.finished_at:%Y-%m-%d}"
