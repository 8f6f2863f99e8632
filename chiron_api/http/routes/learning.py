import asyncio
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from chiron_api.acts.inputs import INTEGER, Flag, Input, Name, Tokens, Usd
from chiron_api.answers.learning import (
    CoverageMap,
    CurriculumReceipt,
    ProgressList,
    Proposal,
    ProposalList,
    ResearchRound,
)
from chiron_api.http.dependencies import IdempotencyKey, ServicesOf, StoreOpener
from chiron_api.http.descriptions import Responses, answers
from chiron_api.http.problems import Problem
from chiron_api.http.responses import json_response
from chiron_api.http.routing import api_router
from chiron_api.views.coverage_maps import MEDIA_TYPES, MapFormat, load_map, render
from chiron_workers.billing.budgets import Budget
from chiron_workers.errors import Conflict
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
from chiron_workers.pubsub.signals import notify
from chiron_workers.runs.session import Session
from chiron_workers.states import ProposalState

router = api_router("Learning")
DOCUMENTS: Responses = answers(HTTPStatus.NOT_FOUND) | {
    200: {
        "description": "The map in the format that was named.",
        "content": {
            media_type.partition(";")[0]: {}
            for name, media_type in MEDIA_TYPES.items()
            if name is not MapFormat.JSON
        },
    }
}


class GoalRequest(Input):
    """What somebody wants to understand and how deeply, who draws up its map and for how much; `again` maps it anew."""

    goal: Annotated[str, Field(min_length=1, max_length=GOAL_CHARS_MAX)]
    depth: Annotated[str, Field(min_length=1, max_length=DEPTH_CHARS_MAX)] = DEPTH
    model: Name | None = None
    budget_usd: Usd | None = None
    budget_tokens: Tokens | None = None
    again: Flag = False


class RoundRequest(Input):
    """How many facts a node needs, how many nodes are researched at once, by whom and for how much.

    `again` where nodes that gained nothing twice are tried once more.
    """

    facts_min: Annotated[int, Field(ge=1, le=FACTS_MAX), INTEGER] = FACTS_MIN
    topics_max: Annotated[int, Field(ge=1, le=1_000), INTEGER] = TOPICS_MAX
    model: Name | None = None
    budget_usd: Usd | None = None
    again: Flag = False


class DecisionRequest(Input):
    """Whether the map is changed, and why."""

    accept: Flag
    reason: Annotated[str, Field(min_length=1, max_length=REASON_CHARS_MAX)]


class MapQuery(Input):
    """The format of a map."""

    format: MapFormat = MapFormat.JSON


class ProposalsQuery(Input):
    """Only proposals in one state."""

    state: ProposalState | None = None


ROUND_DEFAULTS = RoundRequest()


@router.post(
    "/v1/subjects/{id}/curriculum",
    status_code=HTTPStatus.ACCEPTED,
    summary="Have a learning goal mapped",
    response_model=CurriculumReceipt,
    responses=answers(HTTPStatus.PAYMENT_REQUIRED, located=HTTPStatus.ACCEPTED),
)
async def order_curriculum(
    id: str, body: GoalRequest, services: ServicesOf, idempotency_key: IdempotencyKey = None
) -> Response:
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
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
    batch = receipt.batch
    await notify(services.settings.redis_url, batch.batch_id)
    document = {
        "subject_id": receipt.subject_id,
        "batch_id": batch.batch_id,
        "run_ids": batch.run_ids,
        "is_new": batch.is_new,
    }
    headers = {"Location": f"/v1/batches/{batch.batch_id}"}
    return json_response(document, HTTPStatus.ACCEPTED, headers=headers)


@router.get(
    "/v1/subjects/{id}/map",
    summary="Show the coverage map of a subject",
    response_model=CoverageMap,
    responses=DOCUMENTS,
)
async def show_map(id: str, query: Annotated[MapQuery, Query()], services: ServicesOf) -> Response:
    """The nodes of a subject, nested, with how many facts belong to each, and which are exhausted."""
    session = Session(services.pool)
    coverage = await load_map(session, (await Subjects(session).require(id))["subject_id"])
    text = await asyncio.to_thread(render, coverage, query.format)
    return Response(text, media_type=MEDIA_TYPES[query.format])


@router.get(
    "/v1/subjects/{id}/progress",
    summary="Show what you know of a subject",
    response_model=ProgressList,
    responses=answers(HTTPStatus.NOT_FOUND),
)
async def show_progress(id: str, open_store: StoreOpener) -> Response:
    """The mastery of whoever asks of each node, how many questions it has, and how many of them are due for review."""
    async with open_store() as store:
        subject_id = (await store.subjects.require(id))["subject_id"]
        return json_response({"items": await load_progress(store.session, subject_id)})


@router.get(
    "/v1/subjects/{id}/proposals",
    summary="List what is proposed for a map",
    response_model=ProposalList,
    responses=answers(HTTPStatus.NOT_FOUND),
)
async def list_proposals(
    id: str, query: Annotated[ProposalsQuery, Query()], services: ServicesOf
) -> Response:
    """What research has proposed for the map of a subject, newest first, with what was decided and why; 200 at most."""
    session = Session(services.pool)
    subject_id = (await Subjects(session).require(id))["subject_id"]
    return json_response({"items": await Proposals(session).of(subject_id, state=query.state)})


@router.post(
    "/v1/proposals/{id}/decide",
    summary="Decide a proposal",
    response_model=Proposal,
    responses=answers(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
async def decide(id: UUID, body: DecisionRequest, open_store: StoreOpener) -> Response:
    """Accept a proposal, which changes the map at once, or reject it; 409 where it was decided or the map forbids it."""
    async with open_store() as store:
        proposal = await decide_proposal(store.session, id, accept=body.accept, reason=body.reason)
    return json_response(proposal)


@router.post(
    "/v1/subjects/{id}/research",
    status_code=HTTPStatus.ACCEPTED,
    summary="Begin a round of research",
    response_model=ResearchRound,
    responses=answers(HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND, located=HTTPStatus.ACCEPTED)
    | {200: {"model": ResearchRound, "description": "No round begins; `state` says why."}},
)
async def order_research(id: str, services: ServicesOf, body: RoundRequest = ROUND_DEFAULTS) -> Response:
    """Have runs research what the map lacks, one a node: 202 with the batch, 200 where none begins. No node has two open runs."""
    subject_id = (await Subjects(Session(services.pool)).require(id))["subject_id"]
    options = RoundOptions(body.facts_min, body.topics_max, body.model, body.budget_usd, revives=body.again)
    outcome = await research_round(services.pool, subject_id, options, principal=services.principal)
    for batch in outcome.batches:
        await notify(services.settings.redis_url, batch.batch_id)
    if not outcome.batches:
        return json_response(outcome)
    headers = {"Location": f"/v1/batches/{outcome.batches[0].batch_id}"}
    return json_response(outcome, HTTPStatus.ACCEPTED, headers=headers)
