"""A report: read, printed, downloaded, and an answer written from it."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from markupsafe import Markup
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chiron_api.acts.inputs import Input
from chiron_api.acts.reports import READERS, WRITERS, ReportOptions, Writing
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import path_id, read_query
from chiron_api.http.page.forms import Form, as_input, read_form
from chiron_api.http.page.rendering import page, see_other
from chiron_api.http.page.views import view
from chiron_api.http.problems import Problem
from chiron_api.http.responses import document_response
from chiron_api.reports import phrasing, summary
from chiron_api.reports.formats import DocumentName, html_answer, html_findings, html_summary, html_work
from chiron_api.reports.formats.html_addresses import FactPages
from chiron_api.reports.paging import RUNS_SHOWN, SUMMARY_MAX, ReportPage, gather_page
from chiron_workers.errors import KeyBudgetSpent, NotFound, UsageError
from chiron_workers.states import ReportKind

TOPICS_SHOWN = 200
WHOLE_ONLY = frozenset({"Sources", "Contradictions"})  # numbers that a page of several does not know
FOLDERS = {ReportKind.BATCH: "batches", ReportKind.RUN: "runs", ReportKind.SUBJECT: "subjects"}
SECTIONS = {ReportKind.BATCH: "/batches", ReportKind.RUN: "/batches", ReportKind.SUBJECT: "/subjects"}


class Options(Input):
    """The query string of a report's page."""

    page: Annotated[int, Field(ge=1, le=1_000_000)] = 1


def _target(request: Request, kind: ReportKind) -> UUID | str:
    return str(request.path_params["id"]) if kind is ReportKind.SUBJECT else path_id(request)


async def _show(
    request: Request, kind: ReportKind, *, fields: Mapping[str, str] | None = None, problem: str = ""
) -> Response:
    services, target = services_of(request), _target(request, kind)
    number = 1 if problem else read_query(request, Options).page
    part = await gather_page(services.pool, target, number=number, owner=services.principal.visible_owner)
    if part.report.kind is not kind:
        raise NotFound(f"There is no {kind} {target}.")
    return page(
        request,
        "report/page.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK,
        section=SECTIONS[kind],
        part=part,
        report=part.report,
        path=f"/{FOLDERS[kind]}/{part.report.id}",
        formats=list(DocumentName),
        topics=part.topics[:TOPICS_SHOWN],
        lead=_lead(part),
        topics_left_out=max(0, part.topic_count - SUMMARY_MAX),
        default_model=services.settings.model,
        form=Form(Writing, fields or {}),
        problem=problem,
        **await asyncio.to_thread(_sections, part),
    )


def _sections(part: ReportPage) -> dict[str, Markup]:
    """The parts of the report as the HTML format writes them, with links to facts."""
    report = part.report
    pages = FactPages(report.by_number())
    neighbours = tuple(finding for finding in report.asides if finding.number > part.findings)
    return {
        **_beginning(part),
        "answer": _markup(html_answer.written(report, pages, has_origin=False)),
        "said": _markup(html_answer.said(report)),
        "findings": _markup(html_findings.findings(report, pages, notes=phrasing.client_notes(report))),
        "contradictions": _markup(html_findings.contradictions(report, pages)),
        "asides": _markup(html_findings.asides(replace(report, asides=neighbours), pages)),
        "sources": _markup(html_findings.sources(report, pages)),
    }


def _beginning(part: ReportPage) -> dict[str, Markup]:
    """What only the first page has: the summary or the table of rows, the charts, and how the report was made."""
    report = part.beginning
    if report is None:
        return dict.fromkeys(("summary", "charts", "made"), Markup())
    path = f"/{FOLDERS[report.kind]}/{report.id}/report"
    sections = {
        place: f"{path}?page={topic.page}#findings"
        for place, topic in enumerate(part.topics, start=1)
        if topic.page > 1
    }
    pages = FactPages(report.by_number(), sections)
    sizes = [topic.findings for topic in part.topics]
    work = replace(report.work, runs=report.work.runs[:RUNS_SHOWN])
    return {
        "summary": _markup(html_summary.opening(report, pages, sizes=sizes)),
        "charts": _markup(html_summary.charts(report, pages)),
        "made": _markup(html_work.made(replace(report, work=work), _figures(part))),
    }


def _figures(part: ReportPage) -> list[tuple[str, str]]:
    """The report in numbers, those of the whole."""
    figures = list(phrasing.summary(part.report))
    if part.pages == 1:
        return figures
    rest = [(name, value) for name, value in figures[1:] if name not in WHOLE_ONLY]
    return [(figures[0][0], f"{part.findings:,}"), *rest]


def _lead(part: ReportPage) -> str:
    report = part.report
    questions = 0 if report.kind is ReportKind.SUBJECT else part.topic_count
    sources = len(report.sources) if part.pages == 1 else None
    return summary.lead_of(report, questions=questions, facts=part.findings, sources=sources)


def _markup(pieces: Iterable[str]) -> Markup:
    return Markup("".join(pieces))  # noqa: S704  # the HTML format escapes what it is handed


async def _download(request: Request, kind: ReportKind) -> Response:
    name = request.path_params["format"]
    if name not in list(DocumentName):
        names = ", ".join(DocumentName)
        raise Problem(HTTPStatus.NOT_FOUND, f"A report is no {name[:40]!r}. It can be had as {names}.")
    options = ReportOptions(format=DocumentName(name))
    document = await READERS[kind](services_of(request), _target(request, kind), options)
    return document_response(document, file_name=f"{kind}-report.{name}")


async def _write(request: Request, kind: ReportKind) -> Response:
    """Have an answer written; the page of its batch follows. What is wrong in the form is said in it."""
    fields = await read_form(request)
    try:
        receipt = await WRITERS[kind](services_of(request), _target(request, kind), as_input(fields, Writing))
    except (Problem, UsageError, KeyBudgetSpent) as error:
        return await _show(request, kind, fields=fields, problem=str(error))
    return see_other(f"/batches/{receipt.batch_id}")


def _routes_of(kind: ReportKind) -> list[Route]:
    async def show(request: Request) -> Response:
        return await _show(request, kind)

    async def write(request: Request) -> Response:
        return await _write(request, kind)

    async def download(request: Request) -> Response:
        return await _download(request, kind)

    path = f"/{FOLDERS[kind]}/{{id}}/report"
    return [
        view(path, show),
        view(path, write, methods=["POST"]),
        view(f"{path}.{{format}}", download),
    ]


routes = [route for kind in ReportKind for route in _routes_of(kind)]
