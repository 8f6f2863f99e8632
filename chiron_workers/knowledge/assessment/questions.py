"""Questions about a node, written by a run from stored facts: each with its key, which its facts bear out."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers import ids
from chiron_workers.db.queries import load
from chiron_workers.db.validation import clean_text, collapse_whitespace
from chiron_workers.errors import ToolError
from chiron_workers.knowledge.coverage.nodes import Node, Nodes
from chiron_workers.knowledge.drafts.citable_facts import CitableFact, CitableFacts, Scope
from chiron_workers.knowledge.drafts.reading import UNCHECKED_MARK, Sentence
from chiron_workers.runs.session import Session
from chiron_workers.states import SHOWN_STATUSES, QuestionKind

if TYPE_CHECKING:
    from chiron_workers.knowledge.facts.verdicts import Verdicts

SQL = load(__file__)
ROLE = "assessment"
TEXT_CHARS_MAX = 1_000
KEY_CHARS_MAX = 600
QUESTIONS_MAX = 30  # of one run
HASH_CHARS = 32
NOT_YET = "There is no question yet; write one with write_question."
NONE_STANDS = (
    "The facts of every question that was written no longer stand; write others with write_question."
)
NO_RUN = "Questions are the work of an assessment run on a node, and this is none."


@dataclass(frozen=True, slots=True)
class NewQuestion:
    """A question with its key; `statement` says the key as a sentence, which the facts bear out."""

    kind: QuestionKind
    text: str
    key: str
    statement: str
    fact_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredQuestion:
    """A question as it was stored; `verdict_by` is the model that found its key supported, empty if unknown."""

    id: UUID
    node_id: UUID
    kind: QuestionKind
    text: str
    key: str
    statement: str
    fact_ids: tuple[UUID, ...]
    question_hash: str
    verdict_by: str

    @property
    def key_mark(self) -> str:
        """What is said beside a key that no model has judged; empty for another."""
        return "" if self.verdict_by else UNCHECKED_MARK


@dataclass(frozen=True, slots=True)
class HandedIn:
    """The questions of a node that can be asked, and how many of the run's were left out: their facts no longer stand."""

    questions: list[StoredQuestion]
    left_out: int


def question_hash(text: str) -> str:
    """The same short text for the same words, whatever their case and spaces."""
    words = collapse_whitespace(text).casefold()
    return hashlib.sha256(words.encode()).hexdigest()[:HASH_CHARS]


class Questions:
    """The questions of nodes, and those that the run writes on whose behalf a store is used."""

    def __init__(self, session: Session, verdicts: "Verdicts") -> None:
        self._session = session
        self._verdicts = verdicts

    @property
    def facts(self) -> CitableFacts:
        """The facts that the run's questions rest on. Raises ToolError in a run that asks about no node."""
        return CitableFacts(self._session, self._scope())

    async def write(self, new: NewQuestion) -> StoredQuestion:
        """Store a question of the run's node; one of the same words stays as it is while its facts stand.

        Raises:
            ToolError: Its facts do not bear the key out, or its form cannot stand; the message says what would be right.
        """
        # What only writers need: whoever asks the questions holds nothing to facts.
        from chiron_workers.knowledge.drafts.sentence_checks import check_sentences

        node, facts = await self._node(), self.facts
        question = _cleaned(new)
        cited_facts = await facts.by_id(question.fact_ids)
        if refusal := _refuse_form(question) or _refuse_disputed(cited_facts.values()):
            raise ToolError(refusal)
        sentence = Sentence(question.statement, question.fact_ids)
        [outcome] = await check_sentences([sentence], cited_facts, self._verdicts)
        if isinstance(outcome, str):
            raise ToolError(f"statement: {outcome}")
        args = {
            "id": ids.new_id(),
            "node_id": await Nodes(self._session).hold(UUID(node["node_id"])),
            "subject_id": node["subject_id"],
            "kind": question.kind,
            "text": question.text,
            "key": question.key,
            "statement": question.statement,
            "fact_ids": [UUID(fact_id) for fact_id in question.fact_ids],
            "question_hash": question_hash(question.text),
            "verdict_by": outcome.judge,
            "run_id": self._session.caller.run_id,
            "statuses": list(SHOWN_STATUSES),
        }
        await self._session.write(SQL["add"], args)
        [row] = await self._session.rows(SQL["by_hash"], args)
        if row.pop("written") > QUESTIONS_MAX:
            raise ToolError(f"A run writes at most {QUESTIONS_MAX} questions; hand them in.")
        return _stored(row)

    async def hand_in(self) -> HandedIn:
        """Let the run's questions be asked whose facts still stand; those of its node that can be asked.

        Raises:
            ToolError: There is none.
        """
        from chiron_workers.knowledge.drafts.sentence_rules import refuse_facts

        node, facts = await self._node(), self.facts
        args = {"node_id": UUID(node["node_id"]), "run_id": self._session.caller.run_id}
        questions = [_stored(row) for row in await self._session.rows(SQL["of_run"], args)]
        cited_facts = await facts.by_id(
            str(fact_id) for question in questions for fact_id in question.fact_ids
        )
        standing_ids = [
            question.id
            for question in questions
            if refuse_facts([str(fact_id) for fact_id in question.fact_ids], cited_facts) is None
        ]
        left_out = len(questions) - len(standing_ids)
        await self._session.write(SQL["hand_in"], args | {"ids": standing_ids})
        rows = await self._session.rows(SQL["askable"], args | {"statuses": list(SHOWN_STATUSES)})
        if not rows:
            raise ToolError(NONE_STANDS if left_out else NOT_YET)
        return HandedIn([_stored(row) for row in rows], left_out)

    async def pick(self, subject_id: str, node_id: UUID | None, *, limit: int) -> list[UUID]:
        """The questions that the caller is asked next: those that are due, then new ones, then those that are due soonest.

        Questions whose facts no longer stand are passed over.
        """
        args = {
            "learner": self._session.caller.owner,
            "subject_id": subject_id,
            "node_id": node_id,
            "statuses": list(SHOWN_STATUSES),
            "limit": limit,
        }
        return [row["id"] for row in await self._session.rows(SQL["pick"], args)]

    async def by_id(self, question_ids: Sequence[UUID]) -> dict[UUID, StoredQuestion]:
        """Questions by their ids."""
        rows = await self._session.rows(SQL["by_id"], {"ids": list(question_ids)})
        return {row["id"]: _stored(row) for row in rows}

    async def standing(self, question_ids: Sequence[UUID]) -> set[UUID]:
        """Those of these questions whose facts all stand."""
        args = {"ids": list(question_ids), "statuses": list(SHOWN_STATUSES)}
        return {row["id"] for row in await self._session.rows(SQL["standing_of"], args)}

    async def _node(self) -> Node:
        return await Nodes(self._session).get(str(self._scope().node_id))

    def _scope(self) -> Scope:
        caller = self._session.caller
        scope = Scope.of(caller.scope or "", subject_id=caller.subject_id)
        if caller.run_id is None or caller.role != ROLE or scope.node_id is None:
            raise ToolError(NO_RUN)
        return scope


async def nodes_with_questions(session: Session, node_ids: Sequence[str]) -> set[str]:
    """Those of these nodes that somebody can be asked about."""
    args = {"node_ids": [UUID(node_id) for node_id in node_ids], "statuses": list(SHOWN_STATUSES)}
    return {row["node_id"] for row in await session.rows(SQL["nodes_with_questions"], args)}


def _refuse_form(question: NewQuestion) -> str | None:
    """Why a question cannot stand by its words alone; None where it can."""
    if not _stands_in(question.key, question.statement):
        return "key: does not stand in the statement. Give it in the words in which the statement says it."
    if _stands_in(question.key, question.text):
        return "question: says its own key. Ask so that the answer is not there."
    return None


def _refuse_disputed(facts: Iterable[CitableFact]) -> str | None:
    for fact in facts:
        if fact.opponents:
            return f"fact_ids: fact {fact.fact_id} is contradicted by another, so nobody is asked about it. Rest on others."
    return None


def _stands_in(words: str, text: str) -> bool:
    pattern = rf"(?<!\w){re.escape(collapse_whitespace(words).casefold().rstrip('.'))}(?!\w)"
    return re.search(pattern, collapse_whitespace(text).casefold()) is not None


def _cleaned(new: NewQuestion) -> NewQuestion:
    def cleaned(text: str, field: str, chars_max: int) -> str:
        return clean_text(collapse_whitespace(text), field=field, chars_max=chars_max)

    fact_ids = dict.fromkeys(fact_id.strip().lower() for fact_id in new.fact_ids)
    return NewQuestion(
        new.kind,
        cleaned(new.text, "question", TEXT_CHARS_MAX),
        cleaned(new.key, "key", KEY_CHARS_MAX),
        cleaned(new.statement, "statement", TEXT_CHARS_MAX),
        tuple(fact_ids),
    )


def _stored(row: DictRow) -> StoredQuestion:
    return StoredQuestion(
        **row | {"kind": QuestionKind(row["kind"]), "fact_ids": tuple(row["fact_ids"])},
    )
