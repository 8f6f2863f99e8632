"""The facts that a draft may cite: those of its scope, and what contradicts them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from chiron_workers.db.queries import load
from chiron_workers.db.validation import parse_id_or_none
from chiron_workers.knowledge.coverage.topic_titles import paths_by_node, paths_of_nodes
from chiron_workers.runs.session import Session
from chiron_workers.states import SHOWN_STATUSES, FactStatus

if TYPE_CHECKING:
    from chiron_workers.knowledge.facts.source_views import SourceView

SQL = load(__file__)
NODE_MARK = "node:"  # before the id of a node, in the scope of a run


@dataclass(frozen=True, slots=True)
class Scope:
    """Which facts a draft is made of: those that a batch or a run found and confirmed, or those of a subject.

    With `node_id` those of a subject that belong to a node of its map or to one below are listed; others of the subject may be
    cited.
    """

    id: UUID | None = None
    subject_id: str | None = None
    node_id: UUID | None = None

    @staticmethod
    def of(text: str, *, subject_id: str | None = None) -> "Scope":
        """The scope that a run on `subject_id` names: the id of a batch or a run, a node of its subject, else a subject."""
        if text.startswith(NODE_MARK):
            return Scope(subject_id=subject_id, node_id=UUID(text.removeprefix(NODE_MARK)))
        scope_id = parse_id_or_none(text)
        return Scope(subject_id=text) if scope_id is None else Scope(id=scope_id)


@dataclass(frozen=True, slots=True)
class Passage:
    """Words of a source that a fact rests on, and the text around them.

    `assertion_id` is that of the fact or corroboration they belong to; `view` is what a reader of the page sees around them,
    where that was read.
    """

    quote: str
    context: str
    source_url: str
    assertion_id: str = ""
    view: "SourceView | None" = None


@dataclass(frozen=True, slots=True)
class CitableFact:
    """A fact as a sentence may rest on it; `opponents` are the shown facts that contradict it."""

    fact_id: str
    content: str
    topic_path: str
    status: FactStatus
    confidence: float
    is_in_scope: bool
    opponents: tuple[str, ...]
    passages: tuple[Passage, ...]
    valid_from: str | None = None
    valid_until: str | None = None

    @property
    def is_shown(self) -> bool:
        """Whether it is sure enough to be told, and nobody took it back."""
        return self.status in SHOWN_STATUSES


class CitableFacts:
    """The facts of a scope."""

    def __init__(self, session: Session, scope: Scope) -> None:
        self._session = session
        self._scope = scope
        self._args: dict[str, object] = {
            "id": scope.id,
            "subject_id": scope.subject_id,
            "statuses": list(SHOWN_STATUSES),
        }

    async def page(self, *, offset: int, limit: int) -> list[CitableFact]:
        """The shown facts of the scope, the surest first."""
        args = await self._listing() | {"offset": offset, "limit": limit}
        ids = [row["id"] for row in await self._session.rows(SQL["page"], args)]
        facts = await self.by_id(ids)
        return [facts[fact_id] for fact_id in ids if fact_id in facts]

    async def count(self) -> int:
        """How many shown facts the scope has."""
        row = await self._session.row(SQL["count"], await self._listing())
        return int(row["facts"]) if row else 0

    async def digest(self) -> str | None:
        """A hash of the shown facts and how sure they are, which changes as they do; None where there are none."""
        row = await self._session.row(SQL["digest"], await self._listing())
        return row["digest"] if row else None

    async def _listing(self) -> dict[str, object]:
        """What the statements that list facts are handed; `paths` are the topic paths of a node and of those below it."""
        node_id, subject_id = self._scope.node_id, self._scope.subject_id
        if node_id is None or subject_id is None:
            return self._args | {"paths": None}
        rows = await self._session.rows(SQL["branch"], {"node_id": node_id, "subject_id": subject_id})
        node_ids = [row["node_id"] for row in rows]
        return self._args | {
            "paths": await paths_of_nodes(self._session, subject_id, node_ids, SHOWN_STATUSES)
        }

    async def by_id(self, fact_ids: Iterable[str]) -> dict[str, CitableFact]:
        """Facts by their ids, in whatever state and scope; what is no id of a fact is left out."""
        ids = [fact_id for text in dict.fromkeys(fact_ids) if (fact_id := parse_id_or_none(text))]
        args = self._args | {"fact_ids": ids}
        passages: dict[str, list[Passage]] = {}
        for row in await self._session.rows(SQL["passages"], args):
            passage = Passage(row["quote"], row["context"], row["source_url"], row["assertion_id"])
            passages.setdefault(row["fact_id"], []).append(passage)
        return {
            row["fact_id"]: CitableFact(
                **row
                | {
                    "status": FactStatus(row["status"]),
                    "opponents": tuple(row["opponents"]),
                    "passages": tuple(passages.get(row["fact_id"], ())),
                }
            )
            for row in await self._session.rows(SQL["by_id"], args)
        }


async def digest_nodes(session: Session, subject_id: str, node_ids: Sequence[str]) -> dict[str, str]:
    """The digest of each of these nodes of a subject that has shown facts, by its id; in a few statements for all of them."""
    args: dict[str, object] = {
        "subject_id": subject_id,
        "node_ids": [UUID(node_id) for node_id in node_ids],
        "statuses": list(SHOWN_STATUSES),
    }
    branches = {row["node_id"]: row["branch_ids"] for row in await session.rows(SQL["branches"], args)}
    paths = await paths_by_node(session, subject_id, branches, SHOWN_STATUSES)
    pairs = [(node_id, path) for node_id, node_paths in paths.items() for path in node_paths]
    args |= {"node_ids": [node_id for node_id, _ in pairs], "paths": [path for _, path in pairs]}
    return {row["node_id"]: row["digest"] for row in await session.rows(SQL["digests"], args)}


def opposed_pairs(facts: Sequence[CitableFact]) -> list[tuple[CitableFact, CitableFact]]:
    """The pairs of facts that contradict each other, each once."""
    facts_by_id = {fact.fact_id: fact for fact in facts}
    return [
        (fact, facts_by_id[other_id])
        for fact in facts
        for other_id in fact.opponents
        if other_id in facts_by_id
        and (fact.fact_id < other_id or fact.fact_id not in facts_by_id[other_id].opponents)
    ]
