"""Schedules: research that recurs, with its next time and the outcome of its last time."""

from http import HTTPStatus
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts import subscriptions as acts
from chiron_api.acts.inputs import Input
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import path_id, read_query
from chiron_api.http.page.forms import Form, as_input, read_form
from chiron_api.http.page.rendering import page, see_other
from chiron_api.http.page.views import act_view, view
from chiron_api.http.problems import Problem
from chiron_workers.errors import Conflict, UsageError
from chiron_workers.subscriptions.cron import Recurrence

PATH = "/schedules"
SCHEDULES_PER_PAGE = 50


class Options(Input):
    """The query string of the list of schedules, with values for its form."""

    after: UUID | None = None
    subject: str = ""
    topics: str = ""


async def show_schedules(request: Request) -> Response:
    """Show the schedules, newest first, and a form that makes one, filled from the address."""
    options = read_query(request, Options)
    fields = {"subject": options.subject, "topics": options.topics}
    return await _page(request, after=options.after, fields=fields)


async def create_schedule(request: Request) -> Response:
    """Make a schedule; the list follows."""
    fields = await read_form(request)
    try:
        outcome = await acts.create_subscription(
            services_of(request), as_input(fields, acts.SubscriptionRequest)
        )
    except (Problem, UsageError, Conflict) as error:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        return await _page(request, status=status, problem=str(error), fields=fields, after=None)
    return see_other(f"{PATH}#{outcome.answer.id}")


async def run_schedule(request: Request) -> Response:
    """Start a time now; its batch follows."""
    schedule_id = path_id(request)
    await read_form(request)
    outcome = await acts.run_subscription(services_of(request), schedule_id)
    return see_other(f"/batches/{outcome.answer.batch_id}")


async def _page(
    request: Request,
    *,
    after: UUID | None,
    fields: dict[str, str],
    status: HTTPStatus = HTTPStatus.OK,
    problem: str = "",
) -> Response:
    services = services_of(request)
    query = acts.SubscriptionPage(limit=SCHEDULES_PER_PAGE, after=after)
    async with services.store() as store:
        subjects = await store.subjects.all(limit=1_000)
    listing = await acts.list_subscriptions(services, query)
    return page(
        request,
        "schedules/page.html",
        status=status,
        section=PATH,
        listing=listing,
        recurrences={
            schedule.id: Recurrence(schedule.cron, schedule.time_zone) for schedule in listing.items
        },
        is_first=after is None,
        has_owners=services.principal.visible_owner is None,
        form=Form(acts.SubscriptionRequest, fields, services.settings),
        subjects=subjects,
        default_model=services.settings.model,
        problem=problem,
    )


routes = [
    view(PATH, show_schedules),
    view(PATH, create_schedule, methods=["POST"]),
    view(f"{PATH}/{{id}}/run", run_schedule, methods=["POST"]),
    act_view(PATH, "pause", acts.pause_subscription),
    act_view(PATH, "resume", acts.resume_subscription),
    act_view(PATH, "delete", acts.delete_subscription),
]
