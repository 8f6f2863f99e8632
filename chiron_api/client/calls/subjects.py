"""Subjects: what they are, how they change, and checks of what is known of them."""

from datetime import datetime

from chiron_api.answers.differences import Difference
from chiron_api.answers.facts import FactList, FactStatus, ListedFact
from chiron_api.answers.subjects import (
    CheckReceipt,
    Document,
    DocumentList,
    DocumentReceipt,
    Recheck,
    Subject,
    SubjectDetails,
    SubjectList,
)
from chiron_api.client.call import Call, Listing, fields, get, pages
from chiron_api.client.calls.batches import Money
from chiron_api.client.targets import Id


def subjects() -> Call[list[Subject]]:
    """Every subject with its learning goal, by name."""
    return get("/v1/subjects", SubjectList, part="items")


def subject(subject: str) -> Call[SubjectDetails]:
    """A subject with its learning goal, how many facts it has, and its coverage map."""
    return get("/v1/subjects/{id}", SubjectDetails, target=subject)


def subject_facts(subject: str, *, status: FactStatus | None = None) -> Listing[ListedFact]:
    """The facts of a subject, newest first; those that are accepted or disputed unless a status is named."""
    return pages("/v1/subjects/{id}/facts", FactList, target=subject, status=status)


def documents(subject: str) -> Call[list[Document]]:
    """The documents that were added to a subject, by address."""
    return get("/v1/subjects/{id}/documents", DocumentList, target=subject, part="items")


def add_document(subject: str, path: str, content: bytes) -> Call[DocumentReceipt]:
    """Add a document to a subject, so that its agents find it, in place of one of the same path.

    Args:
        path: What it is called there; its ending says how it is read: `papers/ice.pdf`.
        content: The file as it is.
    """
    location = "/v1/subjects/{id}/documents"
    headers = {"Content-Type": "application/octet-stream"}
    return Call(
        "POST",
        location,
        DocumentReceipt,
        target=subject,
        query={"path": path},
        content=content,
        headers=headers,
        is_repeatable=True,
    )


def difference(
    subject: str, *, since: datetime, until: datetime | None = None, limit: int = 100
) -> Call[Difference]:
    """What became different in a subject between two times, which have their zones; up to now without `until`."""
    query = {"since": since, "until": until, "limit": limit}
    return get("/v1/subjects/{id}/diff", Difference, target=subject, query=query)


def check(
    subject: str,
    *,
    model: str | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    again: bool = False,
) -> Call[CheckReceipt]:
    """Have a model asked about the facts that only rules have judged; without open facts there is no batch.

    Args:
        again: Ask also about the same facts as the last time.
    """
    body = fields(model=model, budget_usd=budget_usd, budget_tokens=budget_tokens, again=again)
    path = "/v1/subjects/{id}/check"
    return Call("POST", path, CheckReceipt, target=subject, body=body, is_repeatable=not again)


def order_recheck(subject: str) -> Call[Recheck]:
    """Have a worker read the sources of a subject's facts again; the order that is open, if there is one."""
    return Call("POST", "/v1/subjects/{id}/recheck", Recheck, target=subject)


def recheck(recheck: Id | Recheck) -> Call[Recheck]:
    """A recheck: its state, and what it has found once it is completed."""
    target = str(recheck.id if isinstance(recheck, Recheck) else recheck)
    return get("/v1/rechecks/{id}", Recheck, target=target)
