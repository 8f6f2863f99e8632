"""Ordering questions about nodes, and the marking of answers that rules left open: runs in batches of their own."""

import hashlib
import json
from dataclasses import dataclass
from uuid import UUID, uuid4

from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.batches.submit import NAME_CHARS_MAX, NO_BUDGET, NewBatch, NewRun, Submitted, submit
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool
from chiron_workers.errors import Conflict, KeyBudgetSpent, NotFound, UsageError
from chiron_workers.knowledge.assessment.marking import ROLE as JUDGE
from chiron_workers.knowledge.assessment.questions import ROLE as ASSESSMENT
from chiron_workers.knowledge.assessment.quizzes import Quiz
from chiron_workers.knowledge.coverage.nodes import Nodes, flatten
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.knowledge.drafts.citable_facts import NODE_MARK, CitableFacts, Scope
from chiron_workers.runs.session import Session
from chiron_workers.settings import OFFLINE_MODEL, settings

NODES_MAX = 50  # that one order has questions written about
NO_NODES = "{subject} has no node with facts, so there is nothing to ask about. Research it first, or save nodes of its map."


@dataclass(frozen=True, slots=True)
class QuestionOptions:
    """Who writes the questions, and for how much; `is_fresh` where they were written before from the same facts."""

    model: str | None = None
    budget: Budget = NO_BUDGET
    is_fresh: bool = False


async def order_questions(
    pool: Pool,
    subject: str,
    node_id: UUID | None,
    options: QuestionOptions = QuestionOptions(),
    *,
    principal: Principal = LOCAL,
) -> Submitted:
    """Submit runs that write questions about a node, or about each node of a subject that has facts; notify afterwards.

    The same facts of nodes of the same titles, by the same model under the same bounds, are the same batch.

    Raises:
        NotFound: There is no such subject, or no such node in it.
        UsageError: No node has facts.
    """
    session = Session(pool)
    subject_id = (await Subjects(session).require(subject))["subject_id"]
    tops, _ = await Nodes(session).tree(subject_id)
    nodes = [node for node in flatten(tops) if node_id is None or UUID(node["node_id"]) == node_id]
    if node_id is not None and not nodes:
        raise NotFound(f"{subject_id} has no node with the id {node_id}.")
    digests: dict[str, str] = {}
    for node in nodes:
        scope = Scope.of(f"{NODE_MARK}{node['node_id']}", subject_id=subject_id)
        if len(digests) < NODES_MAX and (digest := await CitableFacts(session, scope).digest()):
            digests[node["node_id"]] = digest
    if not digests:
        raise UsageError(NO_NODES.format(subject=repr(subject_id)))
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
        for node in nodes
        if node["node_id"] in digests
    ]
    parts: list[object] = [subject_id, digests, model, str(options.budget.usd), str(options.budget.tokens)]
    parts += [settings().max_turns, [run.topic for run in runs]]
    key = uuid4().hex if options.is_fresh else hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    name = f"Questions: {subject_id}"[:NAME_CHARS_MAX]
    batch = NewBatch(runs, subject_id, name, budget=options.budget, idempotency_key=f"questions {key}")
    return await submit(pool, batch, principal=principal)


async def order_marking(pool: Pool, quiz: Quiz, *, principal: Principal = LOCAL) -> Submitted | None:
    """Submit a run that marks what rules left open, once the quiz is at its end; notify afterwards.

    None where nothing is open, or where no run can be had for it: the answer counts all the same, and its learner may settle
    it. No model is configured that could be asked, the key has no budget left, or a run was ordered under other settings.
    """
    model = settings().model
    is_open = any(answer.marked_by is None for answer in quiz.doubtful)
    if not (quiz.is_finished and is_open) or model == OFFLINE_MODEL:
        return None
    run = NewRun(
        topic=f"Doubtful answers on {quiz.subject_id}",
        role=JUDGE,
        subject=quiz.subject_id,
        model=model,
        max_turns=settings().max_turns,
        scope=str(quiz.id),
    )
    name = f"Marks: {quiz.subject_id}"[:NAME_CHARS_MAX]
    batch = NewBatch([run], quiz.subject_id, name, idempotency_key=f"marks {quiz.id}")
    try:
        return await submit(pool, batch, principal=principal)
    except (Conflict, KeyBudgetSpent, UsageError):
        return None
