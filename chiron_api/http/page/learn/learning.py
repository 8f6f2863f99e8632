"""Learning a subject as the page shows it: what its learner knows, and what comes next."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chiron_api.answers.journeys import Journey
from chiron_api.http.page.learn.taught_nodes import NextStep, TaughtNode, first_open, next_step, taught_nodes
from chiron_api.http.page.subject.coverage_map import CoverageMap, draw_up
from chiron_api.http.page.subject.picture import Picture, picture_of
from chiron_api.views.journeys import view_of
from chiron_workers.batches.summaries import BatchSummary, summaries_of
from chiron_workers.db.queries import load as load_queries
from chiron_workers.knowledge.assessment.learner_progress import load_progress
from chiron_workers.knowledge.coverage.proposals import Proposal
from chiron_workers.knowledge.coverage.subjects import Subject
from chiron_workers.knowledge.coverage.topic_titles import count_facts_by_path, load_aliases
from chiron_workers.knowledge.lessons.reading import newest_lessons, stale_lessons
from chiron_workers.learning.journeys import find_journey
from chiron_workers.learning.needs import FACTS_MIN, load_needs
from chiron_workers.states import SHOWN_STATUSES, ProposalState
from chiron_workers.store import Store

SQL = load_queries(__file__)
NODES_PER_PAGE = 40
BATCHES_MAX = 8


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a subject somebody looks at: a node, a part of its map, a page of its nodes."""

    node: str = ""
    part: int = 1
    page: int = 1


@dataclass(frozen=True, slots=True)
class Learning:
    """A subject for its learner.

    Attributes:
        nodes: All of the map, by id, in the order in which they are taught.
        rows: Those of the page that is looked at.
        stale_ids: The lessons of the rows that no longer stand as they did.
        journey: Where the learner stands on the way through it; None before one is begun.
        gaps: Titles of nodes that the goal needs and that have too few facts.
    """

    subject: Subject
    coverage: CoverageMap
    picture: Picture | None
    nodes: Mapping[str, TaughtNode]
    rows: Sequence[TaughtNode]
    page: int
    stale_ids: frozenset[object]
    gaps: Sequence[str]
    proposals: Sequence[Proposal]
    batches: Sequence[BatchSummary]
    next_step: NextStep
    journey: Journey | None

    @property
    def node(self) -> TaughtNode | None:
        """The node that somebody looks at."""
        return self.nodes.get(self.coverage.node.id) if self.coverage.node else None

    @property
    def pages(self) -> int:
        """How many pages of nodes there are."""
        return max(1, -(-len(self.nodes) // NODES_PER_PAGE))

    @property
    def due(self) -> list[TaughtNode]:
        """The nodes of which questions are due for review."""
        return [node for node in self.nodes.values() if node.progress.due]

    @property
    def mastered(self) -> int:
        """How many nodes the learner knows."""
        return sum(node.progress.mastered for node in self.nodes.values())

    @property
    def exhausted(self) -> list[TaughtNode]:
        """The nodes that gained nothing by two researches in turn."""
        return [node for node in self.nodes.values() if node.is_exhausted]

    @property
    def open_proposals(self) -> list[Proposal]:
        """The proposals that somebody has to decide."""
        return [item for item in self.proposals if item["state"] == ProposalState.OPEN]


async def load(store: Store, subject_id: str, selection: Selection) -> Learning:
    """Read a subject for its learner, who is the store's caller. Raises NotFound."""
    subject = await store.subjects.require(subject_id)
    subject_id, session = subject["subject_id"], store.session
    tops, is_cut = await store.nodes.tree(subject_id)
    needs = await load_needs(session, subject_id)
    counts = await count_facts_by_path(session, subject_id, SHOWN_STATUSES) if tops else {}
    coverage = await asyncio.to_thread(
        draw_up,
        tops,
        counts,
        node_id=selection.node,
        part=selection.part,
        is_cut=is_cut,
        aliases=await load_aliases(session, subject_id),
        exhausted_ids=[need.node["node_id"] for need in needs if need.is_exhausted],
    )
    progress = {item.node_id: item for item in await load_progress(session, subject_id)}
    lessons = await newest_lessons(session, subject_id)
    nodes = taught_nodes(tops, needs, coverage.facts, progress, lessons)
    page = min(selection.page, max(1, -(-len(nodes) // NODES_PER_PAGE)))
    rows = list(nodes.values())[(page - 1) * NODES_PER_PAGE : page * NODES_PER_PAGE]
    candidate = first_open(nodes)
    looked_at = [*rows, *filter(None, [candidate, nodes.get(selection.node)])]
    lesson_ids = {node.lesson.id for node in looked_at if node.lesson}
    stale_ids = frozenset(await stale_lessons(session, subject_id, lesson_ids))
    gaps = [need for need in needs if need.is_on_the_way and not need.is_covered(FACTS_MIN)]
    batch_args = {"subject_id": subject_id, "owner": store.caller.visible_owner, "limit": BATCHES_MAX}
    batch_ids = [row["id"] for row in await session.rows(SQL["under_way"], batch_args)]
    return Learning(
        subject=subject,
        coverage=coverage,
        picture=await asyncio.to_thread(picture_of, coverage),
        nodes=nodes,
        rows=rows,
        page=page,
        stale_ids=stale_ids,
        gaps=[need.node["title"] for need in gaps],
        proposals=await store.proposals.of(subject_id),
        batches=await summaries_of(session.pool, batch_ids),
        next_step=next_step(nodes, candidate, stale_ids, gaps),
        journey=await _journey(store, subject_id),
    )


async def _journey(store: Store, subject_id: str) -> Journey | None:
    journey = await find_journey(store.session, store.caller.owner, subject_id)
    return await view_of(store.session.pool, journey) if journey else None
