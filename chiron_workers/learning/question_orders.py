"""Ordering questions about nodes, and the marking of answers that rules left open: runs in batches of their own."""

import hashlib
import json
from dataclasses import dataclass
from uuid import UUID, uuid4

from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.batches.submit import NAME_CHARS_MAX, NewBatch, NewRun, Submitted, submit
from chiron_workers.db.connect import Pool
from chiron_workers.errors import Conflict, KeyBudgetSpent, NotFound, UsageError
from chiron_workers.knowledge.assessment.marking import NOBODY_ASKED
from chiron_workers.knowledge.assessment.marking import ROLE as JUDGE
from chiron_workers.knowledge.assessment.questions import ROLE as ASSESSMENT
from chiron_workers.knowledge.assessment.questions import nodes_with_questions
from chiron_workers.knowledge.assessment.quizzes import Quiz, leave_to_learner
from chiron_workers.knowledge.coverage.nodes import Branch, Nodes, flatten
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.knowledge.drafts.citable_facts import NODE_MARK, digest_nodes
from chiron_workers.learning.order_options import OrderOptions
from chiron_workers.runs.session import Caller, Session
from chiron_workers.settings import OFFLINE_MODEL, settings
from chiron_workers.states import BatchKind

DEFAULTS = OrderOptions()
NODES_MAX = 50  # that one order has questions written about
NO_JUDGE = (
    "Rules cannot tell whether it is right, and no model marks it: {error} Say yourself what it is worth."
)
NO_NODES = "{subject} has no node with facts, so there is nothing to ask about. Research it first, or save nodes of its map."


@dataclass(frozen=True, slots=True)
class QuestionBatch(Submitted):
    """A batch that writes questions; `nodes_left` have facts too, and the next order goes on with them."""

    nodes_left: int


async def order_questions(
    pool: Pool,
    subject: str,
    node_id: UUID | None,
    options: OrderOptions = DEFAULTS,
    *,
    principal: Principal = LOCAL,
) -> QuestionBatch:
    """Submit runs that write questions about a node, or about the nodes of a subject that have facts; notify afterwards.

    Of more than 50 nodes 50 are asked about, of those without questions where there are such. The same facts of nodes of the
    same titles, by the same model under the same bounds, are the same batch.

    Raises:
        NotFound: There is no such subject, or no such node in it.
        UsageError: No node has facts.
    """
    session = Session(pool)
    subject_id = (await Subjects(session).require(subject))["subject_id"]
    nodes, digests = await _nodes_with_facts(session, subject_id, node_id)
    open_nodes = await _without_questions(session, nodes)
    chosen_nodes = open_nodes[:NODES_MAX]
    model = options.model or settings().model
    runs = [
        NewRun(
            topic=node["title"],
            role=ASSESSMENT,
            subject=subject_id,
            model=model,
            max_turns=settings().max_turns,
            scope=f"{NODE_MARK}{node['node_id']}",
        )
        for node in chosen_nodes
    ]
    part = f"{len(runs)} of {len(nodes):,} nodes of " if len(runs) < len(nodes) else ""
    name = f"Questions: {part}{subject_id}"[:NAME_CHARS_MAX]
    chosen_digests = {node["node_id"]: digests[node["node_id"]] for node in chosen_nodes}
    parts: list[object] = [subject_id, chosen_digests, model, str(options.budget.usd)]
    parts += [str(options.budget.tokens), settings().max_turns, [run.topic for run in runs], name]
    digest = uuid4().hex if options.is_fresh else hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    key = options.key or f"questions {digest}"
    batch = NewBatch(
        runs, subject_id, name, budget=options.budget, idempotency_key=key, kind=BatchKind.LEARNING
    )
    receipt = await submit(pool, batch, principal=principal)
    return QuestionBatch(receipt.batch_id, receipt.run_ids, receipt.is_new, len(open_nodes) - len(runs))


async def _nodes_with_facts(
    session: Session, subject_id: str, node_id: UUID | None
) -> tuple[list[Branch], dict[str, str]]:
    """The nodes to ask about in the order of the map, with the digests of their facts. Raises as `order_questions`."""
    tops, _ = await Nodes(session).tree(subject_id)
    if node_id is not None:
        node_id = UUID((await Nodes(session).successors(subject_id, str(node_id)) or {str(node_id)}).pop())
    nodes = [node for node in flatten(tops) if node_id is None or UUID(node["node_id"]) == node_id]
    if node_id is not None and not nodes:
        raise NotFound(f"{subject_id} has no node with the id {node_id}.")
    digests = await digest_nodes(session, subject_id, [node["node_id"] for node in nodes])
    if not digests:
        raise UsageError(NO_NODES.format(subject=repr(subject_id)))
    return [node for node in nodes if node["node_id"] in digests], digests


async def _without_questions(session: Session, nodes: list[Branch]) -> list[Branch]:
    """Of more nodes than one order is for, those without questions; all of them where each has some."""
    if len(nodes) <= NODES_MAX:
        return nodes
    asked_ids = await nodes_with_questions(session, [node["node_id"] for node in nodes])
    return [node for node in nodes if node["node_id"] not in asked_ids] or nodes


@dataclass(frozen=True, slots=True)
class MarkingOrder:
    """The batch whose run marks the open answers of a quiz, None where there is none; the quiz says why nobody marks them."""

    quiz: Quiz
    batch: Submitted | None = None


async def order_marking(pool: Pool, quiz: Quiz, *, principal: Principal = LOCAL) -> MarkingOrder:
    """Submit a run that marks what rules left open, once the quiz is at its end; notify afterwards.

    Where no run can be had for it the answers count all the same, and are left to their learner with the reason: no model is
    configured that could be asked, its price is not known, or the key has no budget left.
    """
    if not quiz.is_finished or all(answer.marked_by for answer in quiz.doubtful):
        return MarkingOrder(quiz)
    if settings().model == OFFLINE_MODEL:
        return MarkingOrder(await _leave_to_learner(pool, quiz, NOBODY_ASKED))
    run = NewRun(
        topic=f"Doubtful answers on {quiz.subject_id}",
        role=JUDGE,
        subject=quiz.subject_id,
        model=settings().model,
        max_turns=settings().max_turns,
        scope=str(quiz.id),
    )
    name = f"Marks: {quiz.subject_id}"[:NAME_CHARS_MAX]
    batch = NewBatch(
        [run], quiz.subject_id, name, idempotency_key=f"marks {quiz.id}", kind=BatchKind.LEARNING
    )
    try:
        return MarkingOrder(quiz, await submit(pool, batch, principal=principal))
    except Conflict:  # it was ordered under other settings
        return MarkingOrder(quiz)
    except (KeyBudgetSpent, UsageError) as error:
        return MarkingOrder(await _leave_to_learner(pool, quiz, NO_JUDGE.format(error=error)))


async def _leave_to_learner(pool: Pool, quiz: Quiz, reason: str) -> Quiz:
    async with Session(pool, Caller(owner=quiz.learner)) as session:
        return await leave_to_learner(session, quiz, reason)
