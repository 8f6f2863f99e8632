"""Reports: on a batch, a run or a subject, in a format; and answers that a run writes for them."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import Field

from chiron_api.acts.act import Act, Declare, Document, MadeDocument, Noun, Target
from chiron_api.acts.inputs import Input
from chiron_api.acts.orders import Order, receipt_of
from chiron_api.acts.research import BATCH, RUN
from chiron_api.answers.reports import Report
from chiron_api.answers.runs import WritingReceipt
from chiron_api.reports.formats import FORMATS, DocumentName
from chiron_api.services import Services
from chiron_workers.errors import NotFound
from chiron_workers.knowledge.report_rows import find_target
from chiron_workers.states import ReportKind

REPORTS = Noun("Reports")
JSON = DocumentName("json")
MEDIA_TYPES = tuple(FORMATS[name].media_type.partition(";")[0] for name in DocumentName if name != JSON)


class ReportOptions(Input):
    """The format of a report, and which facts are in it."""

    format: DocumentName = JSON
    candidates: Annotated[bool, Field(description="Also facts that are not sure enough, marked.")] = False


class Writing(Order):
    """The model that writes the report, and its budget; `again` repeats it for the same facts."""


DEFAULTS, PLAIN = Writing(), ReportOptions()


@dataclass(frozen=True, slots=True)
class Kind:
    """What a report is on: the word for it, the folder of its paths, and what the client takes for it."""

    kind: ReportKind
    folder: str
    target: Target

    def reads(self, *faces: str) -> Declare:
        """Declare the act that reads it."""
        return REPORTS.act(
            f"{self.folder}.report.read",
            f"GET /v1/{self.folder}/{{id}}/report",
            f"Report on a {self.kind}",
            client="report",
            faces=(
                f"GET /{self.folder}/{{id}}/report",
                f"GET /{self.folder}/{{id}}/report.{{format}}",
                f"resource chiron://{self.folder}/{{id}}/report",
                *faces,
            ),
            problems=(HTTPStatus.NOT_FOUND,),
            media_types=MEDIA_TYPES,
            is_owned=self.kind is not ReportKind.SUBJECT,
            target=self.target,
        )

    def writes(self, *tools: str) -> Declare:
        """Declare the act that has an answer written."""
        return REPORTS.act(
            f"{self.folder}.report",
            f"POST /v1/{self.folder}/{{id}}/report",
            f"Have an answer written on a {self.kind}",
            client="write_report",
            faces=(f"POST /{self.folder}/{{id}}/report", *tools),
            status=HTTPStatus.ACCEPTED,
            location="/v1/batches/{batch_id}",
            problems=(HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND),
            is_owned=self.kind is not ReportKind.SUBJECT,
            costs_money=True,
            target=self.target,
            tool_target="id" if tools else "",
            repeatable=True,
        )


BATCHES = Kind(ReportKind.BATCH, "batches", BATCH)
RUNS = Kind(ReportKind.RUN, "runs", RUN)
SUBJECTS = Kind(ReportKind.SUBJECT, "subjects", Target("subject"))


@BATCHES.reads()
async def show_batch_report(services: Services, id: UUID, options: ReportOptions = PLAIN) -> Document[Report]:
    """What the runs of a batch found, with sources."""
    return await report_on(services, id, options, ReportKind.BATCH)


@BATCHES.writes("mcp write_report")
async def write_batch_report(services: Services, id: UUID, body: Writing = DEFAULTS) -> WritingReceipt:
    """Have a run write an answer from the facts of a batch. `is_new` is false where that was done before."""
    return await order_report(services, id, body, ReportKind.BATCH)


@RUNS.reads("mcp get_report")
async def show_run_report(services: Services, id: UUID, options: ReportOptions = PLAIN) -> Document[Report]:
    """What a run found, with sources."""
    return await report_on(services, id, options, ReportKind.RUN)


@RUNS.writes()
async def write_run_report(services: Services, id: UUID, body: Writing = DEFAULTS) -> WritingReceipt:
    """Have a run write an answer from the facts of a run. `is_new` is false where that was done before."""
    return await order_report(services, id, body, ReportKind.RUN)


@SUBJECTS.reads()
async def show_subject_report(
    services: Services, id: str, options: ReportOptions = PLAIN
) -> Document[Report]:
    """All that is known of a subject, with sources."""
    return await report_on(services, id, options, ReportKind.SUBJECT)


@SUBJECTS.writes()
async def write_subject_report(services: Services, id: str, body: Writing = DEFAULTS) -> WritingReceipt:
    """Have a run write an answer from the facts of a subject. `is_new` is false where that was done before."""
    return await order_report(services, id, body, ReportKind.SUBJECT)


READERS: dict[ReportKind, Act[..., Document[Report]]] = {
    ReportKind.BATCH: show_batch_report,
    ReportKind.RUN: show_run_report,
    ReportKind.SUBJECT: show_subject_report,
}
WRITERS: dict[ReportKind, Act[..., WritingReceipt]] = {
    ReportKind.BATCH: write_batch_report,
    ReportKind.RUN: write_run_report,
    ReportKind.SUBJECT: write_subject_report,
}


async def report_on(
    services: Services, target: UUID | str, options: ReportOptions, kind: ReportKind | None = None
) -> MadeDocument[Report]:
    """The report on a target. Raises NotFound, also where it is of another kind than the one that is named."""
    from chiron_api.reports.gathering import gather  # which showing help does without

    report_format = FORMATS[options.format]
    report = await gather(
        services.pool,
        target,
        with_candidates=options.candidates,
        with_selections=report_format.has_selections,
        owner=services.principal.visible_owner,
    )
    _require_kind(kind, report.kind, target)
    assert report_format.render
    file_name = "" if report_format.is_text else f"{report.kind}-report.{report_format.name}"
    return MadeDocument(
        report_format.render(report), report_format.media_type, report_format.headers, file_name
    )


async def order_report(
    services: Services, target: UUID | str, body: Writing, kind: ReportKind | None = None
) -> WritingReceipt:
    """Have an answer written on a target. Raises NotFound, also where it is of another kind than the one that is named."""
    if kind is not None:
        _require_kind(kind, (await find_target(services.pool, target)).kind, target)
    from chiron_api.reports.writing import WritingOptions, submit_report  # which showing help does without

    options = WritingOptions(body.model, body.budget, is_fresh=body.again)
    batch = await submit_report(services.pool, target, options, principal=services.principal)
    return await receipt_of(services, batch)


def _require_kind(kind: ReportKind | None, actual: ReportKind, target: UUID | str) -> None:
    if kind is not None and actual is not kind:
        raise NotFound(f"There is no {kind} {target}.")
