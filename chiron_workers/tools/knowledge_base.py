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

NODES_MAX = 200  # Candidates that are ranked.
NODES_SHOWN = 10
TopK = Annotated[int, Field(ge=1, le=50)]


class KnownFact(FoundFact):
    """A fact with what it rests on, what stands against it, and its node of the coverage map, if it has one."""

    is_candidate: bool
    source_title: str
    validated_at: str
    contradictions: list[str]
    node_id: str | None


class KnownNode(NodeMatch):
    """A node of a coverage map; `facts` counts those of this answer that belong to it."""

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
        facts, nearest in meaning first: content, quote, context (its heading and lead-in), source_url,
        source_title, source_score, confidence, score
        (nearness), status, is_candidate (true where the confidence is not high enough yet), ground (whether its source
        still says so), superseded_by, contradictions (ids of
        facts, or statements, that say otherwise), topic_path, node_id and validated_at. documents, best first: url
        (web_fetch reads it), title, snippet, score. nodes of the coverage map that the facts belong to or that fit
        the question: node_id, title, description, is_goal_critical and facts (how many of these belong to it). A
        note where something could not be searched.
    """
    query = clean_text(question, field="question", chars_max=QUERY_CHARS_MAX)
    subject = (await store.subjects.get(subject_id))["subject_id"] if subject_id is not None else None
    results = await store.search.find(query, filters=Filters(subject, candidates=True), limit=top_k)
    background = await store.search.background([fact["id"] for fact in results])
    documents = await Corpus(store.session).search(query, subject=subject, limit=top_k)
    nodes = await _node_ids_by_fact(store, results)
    node_ids = sorted({node_id for node_id in nodes.values() if node_id})
    matching_nodes = await store.nodes.matching(query, node_ids=node_ids, subject_id=subject, limit=NODES_MAX)
    facts = [_known_fact(fact, results, background, nodes[fact["id"]]) for fact in results]
    answer = Known(facts=facts, documents=documents, nodes=_known_nodes(facts, matching_nodes))
    if note := await _note(store, subject, answer):
        answer["note"] = note
    return answer


def _known_fact(
    fact: FoundFact,
    results: Sequence[FoundFact],
    background: Mapping[str, FactBackground],
    node_id: str | None,
) -> KnownFact:
    fact_background = background[fact["id"]]
    # A contradiction is stored with the later of two facts only.
    contradicting_ids = [
        result["id"] for result in results if fact["id"] in background[result["id"]]["contradictions"]
    ]
    return KnownFact(
        **fact,
        is_candidate=fact["status"] == FactStatus.CANDIDATE,
        source_title=fact_background["source_title"],
        validated_at=fact_background["validated_at"].isoformat(timespec="seconds"),
        contradictions=list(dict.fromkeys([*fact_background["contradictions"], *contradicting_ids])),
        node_id=node_id,
    )


async def _node_ids_by_fact(store: Store, facts: Sequence[FoundFact]) -> dict[str, str | None]:
    """The node of the coverage map that each fact belongs to, by fact id."""
    maps = {
        subject_id: await load_titles(store.session, subject_id)
        for subject_id in sorted({fact["subject_id"] for fact in facts})
    }
    nodes = {fact["id"]: maps[fact["subject_id"]].nodes_of(fact["topic_path"]) for fact in facts}
    return {fact_id: node_ids[0] if node_ids else None for fact_id, node_ids in nodes.items()}


def _known_nodes(facts: Sequence[KnownFact], matching_nodes: Sequence[NodeMatch]) -> list[KnownNode]:
    fact_counts = Counter(fact["node_id"] for fact in facts if fact["node_id"])
    nodes = [KnownNode(**node, facts=fact_counts[node["node_id"]]) for node in matching_nodes]
    return sorted(nodes, key=lambda node: -node["facts"])[:NODES_SHOWN]


async def _note(store: Store, subject: str | None, answer: Known) -> str:
    if store.search.words_only:
        return store.search.words_only
    if count := await store.search.unembedded(subject):
        return f"{count:,} facts were stored under another embedding model and are found by their words only."
    if not (answer["facts"] or answer["documents"]):
        return "Nothing that is stored fits; web_search finds sources."
    return ""
