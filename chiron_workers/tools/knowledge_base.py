from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, TypedDict

from pydantic import Field

from chiron_workers.db.validation import clean_text
from chiron_workers.knowledge.corpus import Corpus, Hit
from chiron_workers.knowledge.coverage.nodes import NodeMatch
from chiron_workers.knowledge.coverage.topic_titles import load_titles
from chiron_workers.knowledge.search.filters import Filters
from chiron_workers.knowledge.search.search import QUERY_CHARS_MAX, FactBackground, FoundFact
from chiron_workers.states import FactStatus
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

NODES_MAX = 200  # that are looked at
NODES_SHOWN = 10
TopK = Annotated[int, Field(ge=1, le=50)]


class KnownFact(FoundFact):
    """A fact with what it rests on, what stands against it, and its node of the coverage map, if it has one."""

    is_candidate: bool
    source_title: str
    validated_at: str
    contradictions: list[str]
    node_id: str | None


class KnownNode(TypedDict):
    """A node of a coverage map; `facts` counts those of this answer that belong to it."""

    node_id: str
    subject_id: str
    title: str
    description: str
    is_goal_critical: bool
    facts: int


class Known(TypedDict, total=False):
    """What is stored that bears on a question; `note` only where there is more to know."""

    facts: list[KnownFact]
    documents: list[Hit]
    nodes: list[KnownNode]
    note: str


@tool
async def knowledge_base(
    store: Store,
    *,
    question: str,
    subject_id: str | None = None,
    top_k: TopK = 8,
) -> Known:
    """Ask everything that is stored at once: facts with their quotes, documents of the corpus, and the coverage map.

    Ask it before new research, to learn what is known already, how sure it is, and what is missing.

    Args:
        question: What you want to know, in your own words.
        subject_id: Only this subject, by its id or its name. Left out, all subjects.
        top_k: How many facts, and how many documents, at most.

    Returns:
        facts, nearest in meaning first: content, quote, source_url, source_title, source_score, confidence, score
        (nearness), status, is_candidate (true where the confidence is not high enough yet), contradictions (ids of
        facts, or statements, that say otherwise), topic_path, node_id and validated_at. documents, best first: url
        (web_fetch reads it), title, snippet, score. nodes of the coverage map that the facts belong to or that fit
        the question: node_id, title, description, is_goal_critical and facts (how many of these belong to it). A
        note where something could not be searched.
    """
    asked = clean_text(question, field="question", chars_max=QUERY_CHARS_MAX)
    subject = (await store.subjects.get(subject_id))["subject_id"] if subject_id is not None else None
    found = await store.search.find(asked, filters=Filters(subject, candidates=True), limit=top_k)
    background = await store.search.background([fact["id"] for fact in found])
    documents = await Corpus(store.session).search(asked, subject=subject, limit=top_k)
    nodes = await _nodes_of(store, found)
    named = sorted({node_id for node_id in nodes.values() if node_id})
    fitting = await store.nodes.matching(asked, named=named, subject_id=subject, limit=NODES_MAX)
    facts = [_known(fact, background[fact["id"]], found, background, nodes[fact["id"]]) for fact in found]
    known = Known(facts=facts, documents=documents, nodes=_nodes(facts, fitting))
    if note := await _note(store, subject, known):
        known["note"] = note
    return known


def _known(
    fact: FoundFact,
    own: FactBackground,
    found: Sequence[FoundFact],
    background: Mapping[str, FactBackground],
    node_id: str | None,
) -> KnownFact:
    # A contradiction is written down in the later of two facts only.
    against = [other["id"] for other in found if fact["id"] in background[other["id"]].contradictions]
    return KnownFact(
        **fact,
        is_candidate=fact["status"] == FactStatus.CANDIDATE,
        source_title=own.source_title,
        validated_at=own.validated_at.isoformat(timespec="seconds"),
        contradictions=list(dict.fromkeys([*own.contradictions, *against])),
        node_id=node_id,
    )


async def _nodes_of(store: Store, found: Sequence[FoundFact]) -> dict[str, str | None]:
    """For each fact, by its id, the node that it belongs to."""
    maps = {
        subject_id: await load_titles(store.session, subject_id)
        for subject_id in sorted({fact["subject_id"] for fact in found})
    }
    nodes = {fact["id"]: maps[fact["subject_id"]].nodes_of(fact["topic_path"]) for fact in found}
    return {fact_id: node_ids[0] if node_ids else None for fact_id, node_ids in nodes.items()}


def _nodes(facts: Sequence[KnownFact], fitting: Sequence[NodeMatch]) -> list[KnownNode]:
    counted = Counter(fact["node_id"] for fact in facts if fact["node_id"])
    kept = [node for node in fitting if node.node_id in counted or not node.is_named]
    kept.sort(key=lambda node: -counted[node.node_id])
    return [
        KnownNode(
            node_id=node.node_id,
            subject_id=node.subject_id,
            title=node.title,
            description=node.description,
            is_goal_critical=node.is_goal_critical,
            facts=counted[node.node_id],
        )
        for node in kept[:NODES_SHOWN]
    ]


async def _note(store: Store, subject: str | None, known: Known) -> str:
    if unembedded := await store.search.unembedded(subject):
        return f"{unembedded:,} facts were stored under another embedding model and are found by their words only."
    if not (known["facts"] or known["documents"]):
        return "Nothing that is stored fits; web_search finds sources."
    return ""
