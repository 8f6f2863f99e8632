"""Ordering a lesson: a run of the role lesson on a node, in a batch of its own."""

import asyncio
import hashlib
import json
from difflib import get_close_matches
from uuid import UUID, uuid4

from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.batches.submit import (
    NAME_CHARS_MAX,
    TOPIC_CHARS_MAX,
    NewBatch,
    NewRun,
    Submitted,
    submit,
)
from chiron_workers.db.connect import Pool
from chiron_workers.errors import NotFound, UsageError
from chiron_workers.knowledge.coverage.nodes import TITLE_CHARS_MAX, Node, Nodes, flatten
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.knowledge.drafts.citable_facts import NODE_MARK, CitableFacts, Scope
from chiron_workers.learning.order_options import OrderOptions
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.states import BatchKind

ROLE = "lesson"
NEAREST_SHOWN = 3


async def find_node(pool: Pool, subject_id: str, node: str) -> Node:
    """The node of a subject's map, or shared with it, by its id or its title, also by those of a node merged into it.

    Raises:
        NotFound: There is no such subject, or no such node; it names the nearest.
        UsageError: No node can be called so.
    """
    if len(node) > TITLE_CHARS_MAX:
        raise UsageError(f"A node is named with at most {TITLE_CHARS_MAX} characters (got {len(node):,}).")
    session = Session(pool)
    subject = await Subjects(session).require(subject_id)
    tops, _ = await Nodes(session).tree(subject["subject_id"])
    branches = list(flatten(tops))
    words = " ".join(node.split()).casefold()
    named = [branch for branch in branches if words in {branch["node_id"], branch["title"].casefold()}]
    if not named:
        successor_ids = await Nodes(session).successors(subject["subject_id"], words)
        named = [branch for branch in branches if branch["node_id"] in successor_ids]
    if len(named) == 1:
        return named[0]
    if named:
        ids = ", ".join(branch["node_id"] for branch in named[:NEAREST_SHOWN])
        raise NotFound(f"{len(named)} nodes are called {node[:80]!r}; name one by its id: {ids}.")
    titles = [branch["title"] for branch in branches]
    # In a thread: thousands of titles take half a second, for which no other request waits.
    nearest = await asyncio.to_thread(get_close_matches, node, titles, n=NEAREST_SHOWN, cutoff=0.4)
    nearest = nearest or titles[:NEAREST_SHOWN]
    more = f" and {len(titles) - len(nearest):,} more" if len(titles) > len(nearest) else ""
    advice = f" There are: {', '.join(nearest)}{more}." if nearest else " Its map is empty."
    raise NotFound(f"The map of {subject['subject_id']!r} has no node {node[:80]!r}.{advice}")


async def order_lesson(
    pool: Pool, subject_id: str, node: Node, options: OrderOptions, *, principal: Principal = LOCAL
) -> Submitted:
    """Store a run that writes a lesson on a node; notify the workers afterwards.

    The same lesson from the same facts, by the same model under the same bounds for the same owner, is the same batch.

    Raises:
        NotFound: There is no such subject.
        UsageError: There is no fact to teach from, or an option cannot be used.
    """
    # With all that holds sentences to facts: whoever only names a node does without.
    from chiron_workers.knowledge.lessons.lessons import order

    subject = await Subjects(Session(pool)).require(subject_id)
    scope = Scope(subject_id=subject["subject_id"], node_id=UUID(node["node_id"]))
    fact_digest = await CitableFacts(Session(pool), scope).digest()
    if fact_digest is None:
        raise UsageError(
            f"There is no fact to teach from: of {node['title']!r} in {subject['subject_id']!r} nothing is known that is sure "
            "enough. Research it first."
        )
    model = options.model or settings().model
    run = NewRun(
        topic=f"{node['title']}: {node['description']}"[:TOPIC_CHARS_MAX],
        role=ROLE,
        subject=subject["subject_id"],
        model=model,
        max_turns=settings().max_turns,
        budget=options.budget,
        scope=f"{NODE_MARK}{node['node_id']}",
    )
    name = f"Lesson: {' '.join(node['title'].split())}"[:NAME_CHARS_MAX]
    parts = [subject["subject_id"], node["node_id"], subject["target_depth"], fact_digest, model]
    parts += [str(options.budget.usd), str(options.budget.tokens), str(run.max_turns), name, run.topic]
    digest = uuid4().hex if options.is_fresh else hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    key = options.key or f"lesson {digest}"
    batch = NewBatch([run], subject["subject_id"], name, idempotency_key=key, kind=BatchKind.LEARNING)
    receipt = await submit(pool, batch, principal=principal)
    async with Session(pool) as session:
        await order(session, node, subject, run_id=receipt.run_ids[0], model=model)
    return receipt
