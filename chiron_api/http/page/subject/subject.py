"""A subject as the page shows it: what is known, and where the holes are."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import DictRow

from chiron_api.http.page.subject.coverage_map import CoverageMap, draw_up
from chiron_api.http.page.subject.picture import Picture, picture_of
from chiron_workers.batches.summaries import BatchSummary, summaries_of
from chiron_workers.db.queries import load as load_queries
from chiron_workers.knowledge.corpus import Corpus, ListedDocument
from chiron_workers.knowledge.coverage.nodes import flatten
from chiron_workers.knowledge.coverage.subjects import Subject
from chiron_workers.knowledge.coverage.topic_titles import count_facts_by_path, load_aliases
from chiron_workers.knowledge.lessons.reading import LessonLine, lessons_of
from chiron_workers.learning.needs import load_exhausted
from chiron_workers.rechecks.orders import RecheckOrder, get_recheck
from chiron_workers.states import SHOWN_STATUSES, FactStatus
from chiron_workers.store import Store
from chiron_workers.subscriptions.subscriptions import Subscription

SQL = load_queries(__file__)
FACTS_PER_PAGE = 15
CONTRADICTIONS_MAX = 10
SOURCES_PER_PAGE = 50
DOCUMENTS_SHOWN, DOCUMENTS_MAX = 50, 2_000  # at first, and where all are requested
BATCHES_MAX = 8
SUBSCRIPTIONS_MAX = 20


@dataclass(frozen=True, slots=True)
class Selection:
    """What somebody looks at: a node and its facts, facts before one, a part of the map."""

    node: str = ""
    before: UUID | None = None
    part: int = 1


@dataclass(frozen=True, slots=True)
class Overview:
    """What is known of a subject. `last_batches` are what its subscriptions started last, by id.

    `lesson` is the newest on the node that somebody looks at.
    """

    subject: Subject
    counts: Mapping[FactStatus, int]
    work: DictRow
    coverage: CoverageMap
    picture: Picture | None
    selection: Selection
    facts: list[DictRow]
    has_more: bool
    contradictions: list[DictRow]
    batches: list[BatchSummary]
    subscriptions: list[Subscription]
    last_batches: Mapping[UUID, BatchSummary]
    lesson: LessonLine | None


@dataclass(frozen=True, slots=True)
class Sources:
    """A page of what the facts of a subject rest on, the documents of its corpus, and the last recheck of both."""

    subject: Subject
    sources: list[DictRow]
    page: int
    work: DictRow
    documents: list[ListedDocument]
    has_all_documents: bool  # as many of them as a page takes
    recheck: RecheckOrder | None


async def load(store: Store, subject_id: str, selection: Selection) -> Overview:
    """Read what is known of a subject. Raises NotFound."""
    subject = await store.subjects.require(subject_id)
    session, args = store.session, {"subject_id": subject["subject_id"]}
    coverage = await _coverage(store, subject["subject_id"], selection)
    [work] = await session.rows(SQL["work"], args)
    counts = {row["status"]: row["facts"] for row in await session.rows(SQL["counts"], args)}
    page = {"paths": coverage.paths, "before": selection.before, "limit": FACTS_PER_PAGE + 1}
    facts = await session.rows(SQL["facts"], args | page)
    subscriptions = await store.subscriptions.newest(
        limit=SUBSCRIPTIONS_MAX, subject_id=subject["subject_id"]
    )
    last_ids = [subscription.last_batch_id for subscription in subscriptions if subscription.last_batch_id]
    mine = {"limit": BATCHES_MAX, "owner": store.caller.visible_owner}
    batch_rows = await session.rows(SQL["batch_ids"], args | mine)
    return Overview(
        subject,
        counts={status: counts.get(status, 0) for status in FactStatus},
        work=work,
        coverage=coverage,
        picture=await asyncio.to_thread(picture_of, coverage),
        selection=selection,
        facts=facts[:FACTS_PER_PAGE],
        has_more=len(facts) > FACTS_PER_PAGE,
        contradictions=await session.rows(SQL["contradictions"], args | {"limit": CONTRADICTIONS_MAX}),
        batches=await summaries_of(session.pool, [row["id"] for row in batch_rows]),
        subscriptions=subscriptions,
        last_batches={batch.id: batch for batch in await summaries_of(session.pool, last_ids)},
        lesson=await _lesson(store, subject["subject_id"], coverage),
    )


async def load_sources(
    store: Store, subject_id: str, *, page: int, has_all_documents: bool = False
) -> Sources:
    """Read what a subject rests on. Raises NotFound."""
    subject = await store.subjects.require(subject_id)
    session, args = store.session, {"subject_id": subject["subject_id"]}
    [work] = await session.rows(SQL["work"], args)
    place = {"limit": SOURCES_PER_PAGE, "offset": (page - 1) * SOURCES_PER_PAGE}
    return Sources(
        subject,
        sources=await session.rows(SQL["sources"], args | place),
        page=page,
        work=work,
        documents=await Corpus(session).documents(
            subject["subject_id"], limit=DOCUMENTS_MAX if has_all_documents else DOCUMENTS_SHOWN
        ),
        has_all_documents=has_all_documents,
        recheck=await get_recheck(session, work["recheck_id"]) if work["recheck_id"] else None,
    )


async def _lesson(store: Store, subject_id: str, coverage: CoverageMap) -> LessonLine | None:
    if coverage.node is None:
        return None
    lines = await lessons_of(store.session.pool, subject_id, node_id=UUID(coverage.node.id))
    return lines[0] if lines else None


async def _coverage(store: Store, subject_id: str, selection: Selection) -> CoverageMap:
    tops, is_cut = await store.nodes.tree(subject_id)
    paths = await count_facts_by_path(store.session, subject_id, SHOWN_STATUSES) if tops else {}
    exhausted_ids = await load_exhausted(store.session, [branch["node_id"] for branch in flatten(tops)])
    aliases = await load_aliases(store.session, subject_id)
    # Thousands of nodes and paths are work of many milliseconds, and other requests go on.
    return await asyncio.to_thread(
        draw_up,
        tops,
        paths,
        node_id=selection.node,
        part=selection.part,
        is_cut=is_cut,
        aliases=aliases,
        exhausted_ids=exhausted_ids,
    )
