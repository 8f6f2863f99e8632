"""A lesson with its facts numbered as its sentences cite them, and how it is put in every format."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from functools import cached_property

from chiron_api.reports.phrasing import minute, one_line
from chiron_workers.knowledge.drafts.citable_facts import CitableFact
from chiron_workers.knowledge.lessons.reading import Lesson
from chiron_workers.public_addresses import public_address
from chiron_workers.states import LessonState

NOT_KNOWN_HEADING = "What is not known"
FACTS_HEADING = "Facts and sources"
EMPTY = "This lesson is being written; nothing of it was handed in yet."
STALE = "This lesson is stale: facts that it rests on are no longer what they were."
DELETED = "A fact that was deleted since."


@dataclass(frozen=True)
class LessonDocument:
    """A lesson; its facts are numbered in the order in which they are cited."""

    lesson: Lesson

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each fact."""
        fact_ids = dict.fromkeys(
            fact_id
            for section in self.lesson.sections
            for sentence in section.sentences
            for fact_id in sentence.fact_ids
        )
        return {fact_id: number for number, fact_id in enumerate(fact_ids, start=1)}

    def facts(self) -> Iterator[tuple[int, str, CitableFact | None]]:
        """Number, id and fact; no fact where it was deleted since."""
        return ((number, fact_id, self.lesson.facts.get(fact_id)) for fact_id, number in self.numbers.items())

    @property
    def title(self) -> str:
        """The heading."""
        return one_line(self.lesson.line.title)

    @property
    def origin(self) -> str:
        """What the lesson is of, who wrote it, from what, and when."""
        line = self.lesson.line
        if line.state is LessonState.DRAFT or line.handed_in_at is None:
            return f"Lesson on {one_line(line.subject)}. {EMPTY}"
        return (
            f"Lesson on {one_line(line.subject)}, depth {one_line(line.depth)}, version {self.lesson.version}. Written by "
            f"{one_line(line.model)} on {minute(line.handed_in_at)} from stored facts alone: each sentence names its own."
        )

    @property
    def has_newer_version(self) -> bool:
        """Whether another lesson on the node was handed in after it."""
        return self.lesson.latest_id != self.lesson.line.id and self.lesson.line.id in self.lesson.versions

    def notices(self) -> list[str]:
        """What a reader must know first: that it is stale and why, that there is a newer version."""
        stale_sentences = self.lesson.stale_sentences
        lines = [STALE] if stale_sentences else []
        lines += [
            f"{one_line(stale.section)}, sentence {stale.number}: {stale.reason}" for stale in stale_sentences
        ]
        if self.has_newer_version:
            lines.append(f"There is a newer version: lesson {self.lesson.latest_id}.")
        return lines


def sources_of(fact: CitableFact) -> list[str]:
    """The addresses that a fact rests on, each once, without passwords and keys."""
    return list(dict.fromkeys(public_address(passage.source_url) for passage in fact.passages))


def document_of(document: LessonDocument) -> dict[str, object]:
    """A lesson as JSON has it."""
    lesson = document.lesson
    return {
        **{field.name: getattr(lesson.line, field.name) for field in fields(lesson.line)},
        "version": lesson.version,
        "versions": lesson.versions,
        "latest_id": lesson.latest_id,
        "is_stale": lesson.is_stale,
        "stale_sentences": [asdict(stale) for stale in lesson.stale_sentences],
        "sections": [asdict(section) for section in lesson.sections],
        "facts": [
            {
                "number": number,
                "fact_id": fact_id,
                "content": fact.content if fact else None,
                "status": fact.status if fact else None,
                "sources": sources_of(fact) if fact else [],
            }
            for number, fact_id, fact in document.facts()
        ],
    }
