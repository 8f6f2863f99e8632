"""Subjects: what is known of each, and where the holes are."""

from datetime import date, datetime, time, timedelta
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import BeforeValidator, Field
from starlette.requests import Request
from starlette.responses import Response

from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import read_query
from chiron_api.http.page.forms import read_form
from chiron_api.http.page.rendering import page, see_other
from chiron_api.http.page.subject import listing, subject
from chiron_api.http.page.subject.subject import Selection
from chiron_api.http.page.views import view
from chiron_api.http.problems import Problem
from chiron_api.http.requests import RequestModel
from chiron_workers.errors import ToolValidationError
from chiron_workers.knowledge.subject_diff import between
from chiron_workers.rechecks.orders import order_recheck

PERIOD = timedelta(days=7)  # of changes, unless somebody asks for another
CHANGES_MAX = 30  # of each kind
PageNumber = Annotated[int, Field(ge=1, le=100_000)]
GOAL_FIELDS = ("title", "purpose_statement", "target_depth")


class Options(RequestModel):
    """The query string of a subject's page."""

    node: Annotated[str, Field(max_length=100)] = ""
    before: UUID | None = None
    part: PageNumber = 1

    def selection(self) -> Selection:
        """What of the subject is looked at."""
        return Selection(self.node, self.before, self.part)


class SourceOptions(RequestModel):
    """The query string of the page of sources."""

    page: PageNumber = 1


class ChangeOptions(RequestModel):
    """The query string of the page of changes; an empty field of its form counts as none."""

    since: Annotated[date | None, BeforeValidator(lambda text: text or None)] = None

    def beginning(self) -> datetime:
        """Where the period begins: that day on this machine, else a week ago."""
        if self.since is None:
            return datetime.now().astimezone() - PERIOD
        try:
            return datetime.combine(self.since, time.min).astimezone()
        except (OverflowError, ValueError):  # the first or the last day there is, elsewhere in the world
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, f"No changes are known of {self.since}.") from None


async def list_subjects(request: Request) -> Response:
    """Every subject, by id, in pages."""
    return await _list(request)


async def _list(request: Request, *, problem: str = "", fields: dict[str, str] | None = None) -> Response:
    options = read_query(request, listing.Options)
    subjects = await listing.load(services_of(request).pool, after=options.after)
    return page(
        request,
        "subject/list.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK,
        section="/subjects",
        listing=subjects,
        problem=problem,
        fields=dict.fromkeys(GOAL_FIELDS, "") | (fields or {}),
    )


async def create_subject(request: Request) -> Response:
    """Make a subject, or give the one of that name another goal; its page follows."""
    fields = await read_form(request)
    title, purpose = fields.get("title", "").strip(), fields.get("purpose_statement", "").strip()
    depth = fields.get("target_depth", "").strip() or "practical"
    try:
        async with services_of(request).store() as store:
            subject_id = await store.subjects.ensure(title, title)
            if purpose:
                await store.subjects.save_goal(title, purpose_statement=purpose, target_depth=depth)
    except ToolValidationError as error:
        return await _list(request, problem=str(error), fields=fields)
    return see_other(f"/subjects/{subject_id}")


async def show_subject(request: Request) -> Response:
    """One subject."""
    selection = read_query(request, Options).selection()
    async with services_of(request).store() as store:
        overview = await subject.load(store, request.path_params["id"], selection)
    return page(request, "subject/page.html", section="/subjects", view=overview, tab="")


async def show_sources(request: Request) -> Response:
    """What a subject rests on, and what became of that."""
    options = read_query(request, SourceOptions)
    async with services_of(request).store() as store:
        sources = await subject.load_sources(store, request.path_params["id"], page=options.page)
    return page(request, "subject/sources.html", section="/subjects", view=sources, tab="sources")


async def show_changes(request: Request) -> Response:
    """What is different in a subject since a day."""
    since = read_query(request, ChangeOptions).beginning()
    async with services_of(request).store() as store:
        stored_subject = await store.subjects.require(request.path_params["id"])
        changes = await between(store.session, stored_subject["subject_id"], since, limit=CHANGES_MAX)
    return page(
        request,
        "subject/changes.html",
        section="/subjects",
        subject=stored_subject,
        changes=changes,
        tab="changes",
    )


async def recheck_sources(request: Request) -> Response:
    """Have a worker read the sources of a subject again."""
    await read_form(request)
    async with services_of(request).store() as store:
        stored_subject = await store.subjects.require(request.path_params["id"])
        await order_recheck(store.session, stored_subject["subject_id"])
    return see_other(f"/subjects/{stored_subject['subject_id']}/sources")


async def save_goal(request: Request) -> Response:
    """Say anew what a subject is for and how deep it goes."""
    fields = await read_form(request)
    async with services_of(request).store() as store:
        stored_subject = await store.subjects.require(request.path_params["id"])
        await store.subjects.save_goal(
            stored_subject["subject_id"],
            purpose_statement=fields.get("purpose_statement", ""),
            target_depth=fields.get("target_depth", "").strip() or stored_subject["target_depth"],
        )
    return see_other(f"/subjects/{stored_subject['subject_id']}")


routes = [
    view("/subjects", list_subjects),
    view("/subjects", create_subject, methods=["POST"]),
    view("/subjects/{id}", show_subject),
    view("/subjects/{id}/sources", show_sources),
    view("/subjects/{id}/changes", show_changes),
    view("/subjects/{id}/goal", save_goal, methods=["POST"]),
    view("/subjects/{id}/recheck", recheck_sources, methods=["POST"]),
]
