"""Learning: what is known, what comes next, and the forms for it."""

from http import HTTPStatus
from typing import Annotated, Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts import journeys, learning
from chiron_api.acts.inputs import Input
from chiron_api.acts.journeys import JourneyRequest
from chiron_api.acts.learning import DecisionRequest, GoalRequest, RoundRequest
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import path_id, read_query
from chiron_api.http.page.forms import Form, as_input, read_form, read_input
from chiron_api.http.page.learn import journey
from chiron_api.http.page.learn.learning import Selection, load
from chiron_api.http.page.rendering import page, see_other
from chiron_api.http.page.views import view
from chiron_api.http.problems import Problem
from chiron_workers.errors import Conflict, ToolValidationError, UsageError
from chiron_workers.learning.research_rounds import RoundState

PageNumber = Annotated[int, Field(ge=1, le=100_000)]
REFUSALS = (Conflict, ToolValidationError, UsageError)


class Options(Input):
    """The query string of the page; `round` is what became of a round of research that was asked for."""

    node: Annotated[str, Field(max_length=100)] = ""
    part: PageNumber = 1
    page: PageNumber = 1
    round: RoundState | None = None


async def show_learning(request: Request) -> Response:
    """A subject for whoever learns it."""
    options = read_query(request, Options)
    selection = Selection(options.node, options.part, options.page)
    return await _page(request, request.path_params["id"], selection, round_state=options.round)


async def order_curriculum(request: Request) -> Response:
    """Save a goal and have its map drawn up; the page of the batch follows."""
    fields, subject_id = await read_form(request), await _subject_id(request)
    try:
        body = as_input(fields, GoalRequest)
        receipt = await learning.order_curriculum(services_of(request), subject_id, body)
    except (*REFUSALS, Problem) as error:
        return await _refused(request, subject_id, error, fields)
    return see_other(f"/batches/{receipt.batch_id}")


async def start_journey(request: Request) -> Response:
    """Begin the journey to a goal, or have the one go on that stands still; where it stands follows."""
    fields, subject_id = await read_form(request), await _subject_id(request)
    try:
        await journeys.start_journey(services_of(request), subject_id, as_input(fields, JourneyRequest))
    except (*REFUSALS, Problem) as error:
        return await _refused(request, subject_id, error, fields)
    return see_other(journey.learn_path(subject_id))


async def order_research(request: Request) -> Response:
    """Begin a round of research; the page of its batch follows, or how research stands where none begins."""
    fields, subject_id = await read_form(request), await _subject_id(request)
    try:
        body = as_input(fields, RoundRequest)
        outcome = (await learning.order_research(services_of(request), subject_id, body)).answer
    except (*REFUSALS, Problem) as error:
        return await _refused(request, subject_id, error, fields)
    if outcome.batches:
        return see_other(f"/batches/{outcome.batches[0].batch_id}")
    return see_other(f"{journey.learn_path(subject_id)}?round={outcome.state}#research")


async def decide(request: Request) -> Response:
    """Accept or reject a proposal; the proposals of its subject follow."""
    proposal_id, body = path_id(request), await read_input(request, DecisionRequest)
    proposal = await learning.decide(services_of(request), proposal_id, body)
    return see_other(f"{journey.learn_path(proposal.subject_id)}#proposals")


async def _subject_id(request: Request) -> str:
    async with services_of(request).store() as store:
        return (await store.subjects.require(request.path_params["id"]))["subject_id"]


async def _refused(request: Request, subject_id: str, error: Exception, fields: dict[str, str]) -> Response:
    """The page again, with what is wrong and what was written."""
    status = error.status if isinstance(error, Problem) else HTTPStatus.UNPROCESSABLE_ENTITY
    return await _page(request, subject_id, Selection(), status=status, problem=str(error), fields=fields)


async def _page(
    request: Request,
    subject_id: str,
    selection: Selection,
    *,
    fields: dict[str, str] | None = None,
    **more: Any,
) -> Response:
    async with services_of(request).store() as store:
        of_learner = await load(store, subject_id, selection)
    values = {"problem": "", "round_state": None, "status": HTTPStatus.OK} | more
    texts = fields or {}
    return page(
        request,
        "learn/page.html",
        section="/subjects",
        view=of_learner,
        tab="learn",
        goal_form=Form(JourneyRequest, texts if "goal" in texts else {}),
        round_form=Form(RoundRequest, {} if "goal" in texts else texts),
        decision=Form(DecisionRequest),
        **values,
    )


routes = [
    view("/subjects/{id}/learn", show_learning),
    view("/subjects/{id}/curriculum", order_curriculum, methods=["POST"]),
    view("/subjects/{id}/journey", start_journey, methods=["POST"]),
    view("/journeys/{id}/read", journey.read_lesson, methods=["POST"]),
    view("/journeys/{id}/resume", journey.resume, methods=["POST"]),
    view("/journeys/{id}/stop", journey.stop, methods=["POST"]),
    view("/subjects/{id}/research", order_research, methods=["POST"]),
    view("/proposals/{id}/decide", decide, methods=["POST"]),
]
