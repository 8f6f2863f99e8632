from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict, cast
from uuid import UUID

from chiron_workers.db.queries import load
from chiron_workers.errors import ToolError
from chiron_workers.ids import new_id
from chiron_workers.knowledge.coverage.nodes import Child, Node, Nodes
from chiron_workers.knowledge.coverage.subjects import Subject, Subjects
from chiron_workers.knowledge.coverage.topic_titles import paths_of_nodes
from chiron_workers.knowledge.drafts.citable_facts import CitableFact, CitableFacts, Scope, opposed_pairs
from chiron_workers.knowledge.drafts.reading import SUMMARY, DraftSection, Sentence
from chiron_workers.knowledge.drafts.sections import (
    SECTIONS_MAX,
    Sections,
    refuse_changed,
)
from chiron_workers.knowledge.facts.verdicts import Verdicts
from chiron_workers.knowledge.lessons.lengths import sentences_max
from chiron_workers.runs.session import Session
from chiron_workers.states import FactStatus

SQL = load(__file__)
SUMMARY_TITLE = "What this lesson says"
EXAMPLE = SECTIONS_MAX - 1  # the place of the worked example, which comes last
EXPLANATIONS_MAX = EXAMPLE - 1
NOT_KNOWN_MAX = 40
NO_EXAMPLE = "The known facts hold no example that could be worked through."
NOTHING_OPEN = "Of this node nothing is recorded as open."


class Prerequisite(TypedDict):
    """A node to know first; `lesson_id` is that of the lesson on it, if there is one."""

    node_id: str
    title: str
    description: str
    lesson_id: str | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a lesson is to teach, for which goal, and how long it may be."""

    node: Node
    subject: Subject
    prerequisites: list[Prerequisite]
    parts: list[Child]
    facts: int
    sentences_max: int


@dataclass(frozen=True, slots=True)
class HandedIn:
    """A lesson that was handed in."""

    lesson_id: UUID
    sections: tuple[DraftSection, ...]
    not_known: tuple[str, ...]


class Lessons:
    """The lesson of the run on whose behalf a store is used."""

    def __init__(self, session: Session, verdicts: Verdicts, nodes: Nodes) -> None:
        self._session = session
        self._nodes = nodes
        self._sections = Sections(session, verdicts)

    @property
    def facts(self) -> CitableFacts:
        """The facts of the node. Raises ToolError outside of a run that was ordered for a node."""
        self._node_id()
        return self._sections.facts

    async def plan(self) -> Plan:
        """What the lesson is about. Raises ToolError outside of a run that was ordered for a node."""
        node, subject = await self._node(), await self._subject()
        args = {"subject_id": subject["subject_id"], "node_ids": node["prerequisites"]}
        prerequisites = await self._session.rows(SQL["prerequisites"], args)
        return Plan(
            node,
            subject,
            cast("list[Prerequisite]", prerequisites),
            await self._nodes.children(node),
            await self.facts.count(),
            sentences_max(subject["target_depth"]),
        )

    async def write(self, place: int, title: str, sentences: Sequence[Sentence]) -> int:
        """Keep a section, as `Sections.write`.

        Raises:
            ToolError: A sentence or the heading cannot stand, or the lesson would be longer than its depth allows.
        """
        self._node_id()
        title = SUMMARY_TITLE if place == SUMMARY else title
        total = await self._sections.write(place, title, sentences)
        _check_length(total, (await self._subject())["target_depth"])
        return total

    async def hand_in(self, *, has_example: bool = True) -> HandedIn:
        """Make the lesson one that learners read; what its run handed in before is replaced.

        Args:
            has_example: False says that the facts hold no example; the lesson says so then.

        Raises:
            ToolError: A section is missing, the lesson is too long, a contradiction is not told, or a fact no longer stands as
                it did when its sentence was written.
        """
        node, subject = await self._node(), await self._subject()
        await self._sections.lock()
        sections = await self._sections.read()
        _check_sections(sections, has_example=has_example)
        _check_length(sum(len(part.sentences) for part in sections), subject["target_depth"])
        facts = await self._sections.cited_facts(sections)
        refuse_changed(sections, facts)
        _check_contradictions(sections, facts)
        not_known = await self._not_known(node, subject, list(facts.values()), has_example=has_example)
        args = {"run_id": self._sections.run_id, "not_known": not_known, "title": node["title"]}
        lesson_id = await self._ordered(node, subject)
        await self._session.write(SQL["clear"], {"lesson_id": lesson_id})
        await self._session.write(SQL["copy_sections"], args | {"lesson_id": lesson_id})
        await self._session.write(SQL["copy_sentences"], args | {"lesson_id": lesson_id})
        await self._session.write(SQL["hand_in"], args | {"lesson_id": lesson_id})
        return HandedIn(lesson_id, sections, tuple(not_known))

    async def _ordered(self, node: Node, subject: Subject) -> UUID:
        """The row of the run's lesson, which its order made; of a run that was submitted otherwise it is made here."""
        run_id = self._sections.run_id
        await order(
            self._session, node, subject, run_id=run_id, model=self._session.caller.model or "unknown"
        )
        [row] = await self._session.rows(SQL["of_a_run"], {"run_id": run_id})
        return cast("UUID", row["id"])

    async def _not_known(
        self, node: Node, subject: Subject, facts: Sequence[CitableFact], *, has_example: bool
    ) -> list[str]:
        """What a learner is told is open, from rows alone."""
        subject_id = subject["subject_id"]
        lines = [] if has_example else [NO_EXAMPLE]
        lines += [
            f"Sources contradict each other, and nothing settles it: {first.content.rstrip('.')} — against: {second.content}"
            for first, second in opposed_pairs(facts)
        ]
        paths = await paths_of_nodes(self._session, subject_id, [node["node_id"]], [FactStatus.CANDIDATE])
        args = {"subject_id": subject_id, "paths": paths}
        if count := (await self._session.rows(SQL["open_statements"], args))[0]["candidates"]:
            lines.append(
                f"{count:,} {'statement is' if count == 1 else 'statements are'} not sure enough to be told."
            )
        names = {part["node_id"]: part["title"] for part in await self._nodes.children(node)}
        names |= {
            row["node_id"]: f"{row['title']}, which is to be known first"
            for row in await self._session.rows(
                SQL["prerequisites"], {"subject_id": subject_id, "node_ids": node["prerequisites"]}
            )
        }
        for node_id, name in names.items():
            scope = Scope(subject_id=subject_id, node_id=UUID(node_id))
            if not await CitableFacts(self._session, scope).count():
                lines.append(f"Nothing is known yet of {name}.")
        return (lines or [NOTHING_OPEN])[:NOT_KNOWN_MAX]

    def _node_id(self) -> UUID:
        caller = self._session.caller
        scope = Scope.of(caller.scope or "", subject_id=caller.subject_id)
        if scope.node_id is None:
            raise ToolError("A lesson is the work of a run that was ordered for a node, and this is none.")
        return scope.node_id

    async def _node(self) -> Node:
        return await self._nodes.get(str(self._node_id()))

    async def _subject(self) -> Subject:
        return await Subjects(self._session).get(self._session.caller.subject_id or "")


async def order(session: Session, node: Node, subject: Subject, *, run_id: UUID, model: str) -> None:
    """Say that a run writes a lesson on a node; a lesson that its run has already stays."""
    args = {
        "lesson_id": new_id(),
        "subject_id": subject["subject_id"],
        "node_id": await Nodes(session).hold(UUID(node["node_id"])),
        "run_id": run_id,
        "title": node["title"],
        "depth": subject["target_depth"],
        "model": model,
    }
    await session.write(SQL["order"], args)


def _check_sections(sections: Sequence[DraftSection], *, has_example: bool) -> None:
    places = {section.place for section in sections}
    missing = []
    if SUMMARY not in places:
        missing.append("summary")
    if not places - {SUMMARY, EXAMPLE}:
        missing.append("explanation")
    if has_example and EXAMPLE not in places:
        missing.append("worked example (where no fact is one, hand in with has_example=false)")
    if missing:
        raise ToolError(f"The lesson has no {' and no '.join(missing)} yet; write it with write_lesson.")
    if not has_example and EXAMPLE in places:
        raise ToolError("has_example: is false, and the lesson has a worked example.")


def _check_length(sentences: int, depth: str) -> None:
    limit = sentences_max(depth)
    if sentences > limit:
        raise ToolError(
            f"The lesson would have {sentences} sentences; for the depth {depth!r} it has at most {limit}. Leave out what the "
            "goal needs least."
        )


def _check_contradictions(sections: Sequence[DraftSection], facts: Mapping[str, CitableFact]) -> None:
    """Raises ToolError where what contradicts a fact of the lesson is not told together with it in a sentence."""
    refusals = []
    together = [frozenset(sentence.fact_ids) for part in sections for sentence in part.sentences]
    for section in sections:
        for n, sentence in enumerate(section.sentences, start=1):
            for fact_id in sentence.fact_ids:
                untold = [
                    other
                    for other in facts[fact_id].opponents
                    if not any({fact_id, other} <= ids for ids in together)
                ]
                if untold:
                    refusals.append(
                        f"Section {section.place}, sentence {n}: fact {fact_id} is contradicted by fact {untold[0]}, which no "
                        "sentence names together with it."
                    )
    if refusals:
        raise ToolError("\n".join(["These contradictions are not told yet.", *dict.fromkeys(refusals)]))
