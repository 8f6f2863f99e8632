"""Learning: from a goal to a map, research that the map asks for, what is proposed for it, and what a learner knows."""

import asyncio
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import Field

from chiron_api.acts.act import Created, Document, Noun, Target
from chiron_api.acts.inputs import INTEGER, Flag, Input, Name, Tokens, Usd
from chiron_api.answers.learning import (
    CoverageMap,
    CurriculumReceipt,
    NodeProgress,
    ProgressList,
    Proposal,
    ProposalList,
    ResearchRound,
)
from chiron_api.services import Services
from chiron_api.views.coverage_maps import MEDIA_TYPES, MapFormat, load_map, render
from chiron_workers.billing.budgets import Budget
from chiron_workers.errors import Conflict, UsageError
from chiron_workers.knowledge.assessment.learner_progress import load_progress
from chiron_workers.knowledge.coverage.proposals import REASON_CHARS_MAX, Proposals
from chiron_workers.knowledge.coverage.subjects import DEPTH_CHARS_MAX, Subjects
from chiron_workers.learning.curriculum_orders import (
    DEPTH,
    GOAL_CHARS_MAX,
    CurriculumOptions,
    Goal,
    submit_curriculum,
)
from chiron_workers.learning.decisions import decide_proposal
from chiron_workers.learning.needs import FACTS_MAX, FACTS_MIN
from chiron_workers.learning.research_rounds import TOPICS_MAX, RoundOptions, research_round
from chiron_workers.runs.session import Session
from chiron_workers.states import ProposalState

LEARNING = Noun("Learning", Target("subject"))


FactsMin = Annotated[
    int,
    Field(ge=1, le=FACTS_MAX, description="Accepted facts that a node needs, from two origins."),
    INTEGER,
]


class GoalOptions(Input):
    """A learning goal, its depth and the model of its runs."""

    goal: Annotated[
        str,
        Field(
            min_length=1,
            max_length=GOAL_CHARS_MAX,
            description="What you want to understand or be able to do, in your own words.",
        ),
    ]
    depth: Annotated[
        str,
        Field(
            min_length=1,
            max_length=DEPTH_CHARS_MAX,
            description="How deeply: overview, practical, expert, or other words.",
        ),
    ] = DEPTH
    model: Name | None = Field(None, description="Model of the runs. Default: CHIRON_MODEL.")


class GoalRequest(GoalOptions):
    """The learning goal, its depth, the model that draws the map, and its budget."""

    budget_usd: Usd | None = None
    budget_tokens: Tokens | None = None
    again: Flag = Field(False, description="Draw a new map, although the goal has one.")


class RoundRequest(Input):
    """How many facts a node needs, how many nodes are researched at once, the model and the budget."""

    facts_min: FactsMin = FACTS_MIN
    topics_max: Annotated[
        int, Field(ge=1, le=1_000, description="Nodes that are researched at once."), INTEGER
    ] = TOPICS_MAX
    model: Name | None = Field(None, description="Model of the runs. Default: CHIRON_MODEL.")
    budget_usd: Usd | None = Field(
        None, description="The most that the round may cost. It pauses there, and a resume continues it."
    )
    again: Flag = Field(False, description="Try nodes again that gained nothing twice.")


class DecisionRequest(Input):
    """Whether the map is changed, and why."""

    accept: Flag = Field(description="Whether the map is changed.")
    reason: Annotated[str, Field(min_length=1, max_length=REASON_CHARS_MAX, description="Why.")]


class MapQuery(Input):
    """The format of a map."""

    format: MapFormat = MapFormat.JSON


class ProposalsQuery(Input):
    """Only proposals in one state."""

    state: ProposalState | None = Field(None, description="Only those in this state. Default: all.")


NEXT_ROUND, AS_JSON = RoundRequest(), MapQuery()


@LEARNING.act(
    "curricula.order",
    "POST /v1/subjects/{id}/curriculum",
    "Have a learning goal mapped",
    client="order_curriculum",
    faces=("POST /subjects/{id}/curriculum",),
    status=HTTPStatus.ACCEPTED,
    location="/v1/batches/{batch_id}",
    problems=(HTTPStatus.PAYMENT_REQUIRED,),
    costs_money=True,
    repeatable=True,
)
async def order_curriculum(
    services: Services, id: str, body: GoalRequest, idempotency_key: str | None = None
) -> CurriculumReceipt:
    """Save the goal of a subject, by any name, and have a run draw up its map: 202 with the batch.

    The same goal and depth by the same model under the same budget are one batch. With an Idempotency-Key, what is sent under
    it is one batch, also where the goal is mapped again.
    """
    budget = Budget(body.budget_usd, body.budget_tokens)
    options = CurriculumOptions(body.model, budget, is_fresh=body.again, idempotency_key=idempotency_key)
    goal = Goal(id, body.goal, body.depth)
    try:
        receipt = await submit_curriculum(services.pool, goal, options, principal=services.principal)
    except Conflict as error:
        raise UsageError(str(error)) from None
    await services.notify(receipt.batch.batch_id)
    return CurriculumReceipt(
        subject_id=receipt.subject_id,
        batch_id=receipt.batch.batch_id,
        run_ids=list(receipt.batch.run_ids),
        is_new=receipt.batch.is_new,
    )


@LEARNING.act(
    "subjects.map",
    "GET /v1/subjects/{id}/map",
    "Show the coverage map of a subject",
    client="coverage_map",
    faces=("tool get_knowledge_tree", "tool get_knowledge_node", "resource chiron://subjects/{id}/map"),
    problems=(HTTPStatus.NOT_FOUND,),
    media_types=tuple(
        media_type.partition(";")[0] for name, media_type in MEDIA_TYPES.items() if name is not MapFormat.JSON
    ),
)
async def show_map(services: Services, id: str, query: MapQuery = AS_JSON) -> Document[CoverageMap]:
    """The nodes of a subject, nested, with how many facts belong to each, and which are exhausted."""
    session = Session(services.pool)
    coverage = await load_map(session, (await Subjects(session).require(id))["subject_id"])
    text = await asyncio.to_thread(render, coverage, query.format)
    return Document([text], MEDIA_TYPES[query.format])


@LEARNING.act(
    "subjects.progress",
    "GET /v1/subjects/{id}/progress",
    "Show what you know of a subject",
    client="progress",
    faces=("tool get_user_progress",),
    problems=(HTTPStatus.NOT_FOUND,),
)
async def show_progress(services: Services, id: str) -> ProgressList:
    """Your mastery of each node, how many questions it has, and how many of them are due for review."""
    async with services.store() as store:
        subject_id = (await store.subjects.require(id))["subject_id"]
        rows = await load_progress(store.session, subject_id)
    return ProgressList(items=[NodeProgress.model_validate(row) for row in rows])


@LEARNING.act(
    "proposals.list",
    "GET /v1/subjects/{id}/proposals",
    "List what is proposed for a map",
    client="proposals",
    faces=("tool list_proposals",),
    problems=(HTTPStatus.NOT_FOUND,),
)
async def list_proposals(services: Services, id: str, query: ProposalsQuery) -> ProposalList:
    """What research has proposed for the map of a subject, newest first, with what was decided and why; 200 at most."""
    session = Session(services.pool)
    subject_id = (await Subjects(session).require(id))["subject_id"]
    rows = await Proposals(session).of(subject_id, state=query.state)
    return ProposalList(items=[Proposal.model_validate(row) for row in rows])


@LEARNING.act(
    "proposals.decide",
    "POST /v1/proposals/{id}/decide",
    "Decide a proposal",
    client="decide_proposal",
    faces=("POST /proposals/{id}/decide",),
    problems=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
    target=Target("proposal", (Proposal,)),
)
async def decide(services: Services, id: UUID, body: DecisionRequest) -> Proposal:
    """Accept a proposal, which changes the map at once, or reject it; 409 where it was decided or the map forbids it."""
    async with services.store() as store:
        row = await decide_proposal(store.session, id, accept=body.accept, reason=body.reason)
    return Proposal.model_validate(row)


@LEARNING.act(
    "subjects.research",
    "POST /v1/subjects/{id}/research",
    "Begin a round of research",
    client="order_research",
    faces=("POST /subjects/{id}/research",),
    status=HTTPStatus.ACCEPTED,
    location="/v1/batches/{batches[0].batch_id}",
    idle="No round begins; `state` says why.",
    problems=(HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND),
    costs_money=True,
    repeatable=True,
)
async def order_research(
    services: Services, id: str, body: RoundRequest = NEXT_ROUND
) -> Created[ResearchRound]:
    """Have runs research what the map lacks, one a node: 202 with the batch, 200 where none begins. No node has two open runs."""
    subject_id = (await Subjects(Session(services.pool)).require(id))["subject_id"]
    options = RoundOptions(body.facts_min, body.topics_max, body.model, body.budget_usd, revives=body.again)
    outcome = await research_round(services.pool, subject_id, options, principal=services.principal)
    await services.notify(*(batch.batch_id for batch in outcome.batches))
    return Created(ResearchRound.model_validate(outcome), bool(outcome.batches))
