"""Reports: of a batch, of a single run by `run=`, or of a subject by `subject=`."""

from typing import Literal

from chiron_api.answers.reports import Report
from chiron_api.answers.runs import WritingReceipt
from chiron_api.client.call import Call, fields, get
from chiron_api.client.calls.batches import Money
from chiron_api.client.targets import BatchRef, RunRef, target_of

ReportFormat = Literal["md", "html", "docx", "json", "csl-json", "bibtex", "ris"]


def report(
    batch: BatchRef | None = None,
    *,
    run: RunRef | None = None,
    subject: str | None = None,
    candidates: bool = False,
) -> Call[Report]:
    """What was found, with its sources, as a model; with `candidates` also facts that are not sure enough, marked."""
    folder, target = target_of(batch, run, subject)
    query = {"format": "json", "candidates": candidates}
    return get(f"/v1/{folder}/{{id}}/report", Report, target=target, query=query)


def report_document(
    batch: BatchRef | None = None,
    *,
    run: RunRef | None = None,
    subject: str | None = None,
    format: ReportFormat = "md",
    candidates: bool = False,
) -> Call[bytes]:
    """The same as a document of a format, as it would be saved in a file."""
    folder, target = target_of(batch, run, subject)
    query = {"format": format, "candidates": candidates}
    return get(f"/v1/{folder}/{{id}}/report", bytes, target=target, query=query)


def write_report(
    batch: BatchRef | None = None,
    *,
    run: RunRef | None = None,
    subject: str | None = None,
    model: str | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    again: bool = False,
) -> Call[WritingReceipt]:
    """Have a run write an answer from the facts; `is_new` is false where the same facts were written about before.

    Args:
        again: Write also about the same facts as the last time.
    """
    folder, target = target_of(batch, run, subject)
    body = fields(model=model, budget_usd=budget_usd, budget_tokens=budget_tokens, again=again)
    path = f"/v1/{folder}/{{id}}/report"
    return Call("POST", path, WritingReceipt, target=target, body=body, is_repeatable=not again)
