"""Subjects: what is known of each, and where the holes are."""

from datetime import date, datetime, time, timedelta
from http import HTTPStatus
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BeforeValidator, Field
from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts import subjects as acts
from chiron_api.acts.inputs import Input
from chiron_api.acts.rechecks import order_subject_recheck
from chiron_api.acts.search import SearchRequest
from chiron_api.http.csrf import CSRF_FIELD, require_csrf
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import read_query
from chiron_api.http.page.forms import Form, as_input, read_form, read_input
from chiron_api.http.page.rendering import page, see_other
from chiron_api.http.page.subject import listing, subject
from chiron_api.http.page.subject.subject import Selection
from chiron_api.http.page.views import view
from chiron_api.http.problems import Problem
from chiron_api.http.uploads import ENDINGS, PATH_CHARS_MAX, add_document_to, open_upload
from chiron_api.services import Services
from chiron_workers.errors import ToolValidationError

PERIOD = timedelta(days=7)  # of changes, unless somebody asks for another
CHANGES_SHOWN, CHANGES_MAX = 30, 500  # of each kind, at first, and where more are requested
PageNumber = Annotated[int, Field(ge=1, le=100_000)]
DOCUMENT_REFUSALS = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
    }
)


class Options(Input):
    """The query string of a subject's page."""

    node: Annotated[str, Field(max_length=100)] = ""
    before: UUID | None = None
    part: PageNumber = 1

    def selection(self) -> Selection:
        """What of the subject is looked at."""
        return Selection(self.node, self.before, self.part)


class SourceOptions(Input):
    """The query string of the page of sources."""

    page: PageNumber = 1
    documents: Literal["", "all"] = ""


class ChangeOptions(Input):
    """The query string of the page of changes; an empty field of its form counts as none."""

    since: Annotated[date | None, BeforeValidator(lambda text: text or None)] = None
    entries: Literal["", "all"] = ""

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
        form=Form(acts.NewSubject, fields or {}),
    )


async def create_subject(request: Request) -> Response:
    """Make a subject, or give the one of that name another goal; its page follows."""
    fields = await read_form(request)
    try:
        new_subject = as_input(fields, acts.NewSubject)
        subject_id = (await acts.create_subject(services_of(request), new_subject)).answer.subject_id
    except (Problem, ToolValidationError) as error:
        return await _list(request, problem=str(error), fields=fields)
    return see_other(f"/subjects/{subject_id}")


async def show_subject(request: Request) -> Response:
    """One subject."""
    selection = read_query(request, Options).selection()
    services = services_of(request)
    async with services.store() as store:
        overview = await subject.load(store, request.path_params["id"], selection)
    return page(
        request,
        "subject/page.html",
        section="/subjects",
        view=overview,
        tab="",
        goal=Form(acts.LearningGoal),
        search=Form(SearchRequest),
        **_upload_form(services),
    )


def _upload_form(services: Services, *, problem: str = "") -> dict[str, Any]:
    return {
        "problem": problem,
        "endings": ENDINGS,
        "path_chars_max": PATH_CHARS_MAX,
        "upload_bytes_max": services.settings.upload_bytes_max,
    }


async def show_sources(request: Request) -> Response:
    """What a subject rests on, and what became of that."""
    options = read_query(request, SourceOptions)
    return await _sources(request, page_number=options.page, has_all_documents=options.documents == "all")


async def _sources(
    request: Request,
    *,
    page_number: int = 1,
    has_all_documents: bool = False,
    status: HTTPStatus = HTTPStatus.OK,
    problem: str = "",
) -> Response:
    services = services_of(request)
    async with services.store() as store:
        sources = await subject.load_sources(
            store, request.path_params["id"], page=page_number, has_all_documents=has_all_documents
        )
    return page(
        request,
        "subject/sources.html",
        status=status,
        section="/subjects",
        view=sources,
        tab="sources",
        **_upload_form(services, problem=problem),
    )


async def upload_document(request: Request) -> Response:
    """Add a document to the corpus of a subject that there is; the list of its documents follows."""
    services, bytes_max = services_of(request), services_of(request).settings.upload_bytes_max
    async with services.store() as store:
        subject_id = (await store.subjects.require(request.path_params["id"]))["subject_id"]
    try:
        async with open_upload(request, bytes_max=bytes_max, more_fields=frozenset({CSRF_FIELD})) as upload:
            require_csrf(request, upload.fields.get(CSRF_FIELD, ""))
            await add_document_to(services, subject_id, upload.path, upload.chunks)
    except Problem as error:
        if error.status not in DOCUMENT_REFUSALS:
            raise
        return await _sources(request, status=error.status, problem=error.detail)
    return see_other(f"/subjects/{subject_id}/sources#documents")


async def show_changes(request: Request) -> Response:
    """What is different in a subject since a day."""
    options = read_query(request, ChangeOptions)
    since, is_long = options.beginning(), options.entries == "all"
    services = services_of(request)
    async with services.store() as store:
        stored_subject = await store.subjects.require(request.path_params["id"])
    period = acts.Period(since=since, limit=CHANGES_MAX if is_long else CHANGES_SHOWN)
    changes = await acts.show_difference(services, stored_subject["subject_id"], period)
    return page(
        request,
        "subject/changes.html",
        section="/subjects",
        subject=stored_subject,
        changes=changes,
        is_long=is_long,
        has_more=any(
            count > len(getattr(changes, kind))
            for kind, count in changes.counts.items()
            if kind != "candidates" and hasattr(changes, kind)
        ),
        tab="changes",
    )


async def recheck_sources(request: Request) -> Response:
    """Have a worker read the sources of a subject again."""
    await read_form(request)
    recheck = await order_subject_recheck(services_of(request), request.path_params["id"])
    return see_other(f"/subjects/{recheck.subject_id}/sources")


async def save_goal(request: Request) -> Response:
    """Say anew what a subject is for and how deep it goes."""
    goal = await read_input(request, acts.LearningGoal)
    subject_id = (await acts.save_goal(services_of(request), request.path_params["id"], goal)).subject_id
    return see_other(f"/subjects/{subject_id}")


routes = [
    view("/subjects", list_subjects),
    view("/subjects", create_subject, methods=["POST"]),
    view("/subjects/{id}", show_subject),
    view("/subjects/{id}/sources", show_sources),
    view("/subjects/{id}/changes", show_changes),
    view("/subjects/{id}/documents", upload_document, methods=["POST"]),
    view("/subjects/{id}/goal", save_goal, methods=["POST"]),
    view("/subjects/{id}/recheck", recheck_sources, methods=["POST"]),
]
