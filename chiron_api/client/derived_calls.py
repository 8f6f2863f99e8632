"""What can be asked of the API: the acts as requests. Written by `docs/generate.py` from `chiron_api.acts`."""

from decimal import Decimal

from chiron_api.answers.basics import Receipt
from chiron_api.answers.facts import Fact, FoundFact
from chiron_api.answers.lessons import Lesson, LessonLine, LessonList
from chiron_api.answers.reports import Report
from chiron_api.answers.rows import Row, RowList
from chiron_api.answers.runs import Batch, Run, RunReceipt, RunResult, Steering, WritingReceipt
from chiron_api.client.call import Call, Listing, fields, get, pages
from chiron_api.client.targets import Id, id_of, target_of

Money = Decimal | float


def cancel(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
) -> Call[Steering]:
    """End all open runs of a batch. What a worker plays ends when the worker learns of it."""
    folder, target = target_of(batch, run)
    return Call("POST", f"/v1/{folder}/{{id}}/cancel", Steering, target=target, body=fields())


def fact(fact: Id | Fact | FoundFact) -> Call[Fact]:
    """A fact with its sources, the explanation of its confidence, what contradicts it, and its history."""
    return get("/v1/facts/{id}", Fact, target=id_of("fact", fact))


def lesson(lesson: Id | LessonLine) -> Call[Lesson]:
    """A lesson with its facts, and which of its sentences are stale and why."""
    return get("/v1/lessons/{id}", Lesson, target=id_of("lesson", lesson), query=fields(format="json"))


def lessons(subject: str, *, node: str | None = None, drafts: bool = False) -> Call[list[LessonLine]]:
    """The lessons of a subject or of one of its nodes, newest first; 500 at most.

    Args:
        node: Of this node alone, by its id or title.
        drafts: Also lessons that are not handed in.
    """
    return get(
        "/v1/subjects/{id}/lessons",
        LessonList,
        target=id_of("subject", subject),
        part="items",
        query=fields(node=node, drafts=drafts),
    )


def pause(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
) -> Call[Steering]:
    """Put all open runs of a batch aside. A worker finishes the model call it is in."""
    folder, target = target_of(batch, run)
    return Call("POST", f"/v1/{folder}/{{id}}/pause", Steering, target=target, body=fields())


def reinstate(fact: Id | Fact | FoundFact, reason: str = "") -> Call[Fact]:
    """Take a withdrawal back. The fact as it is now."""
    return Call(
        "POST", "/v1/facts/{id}/reinstate", Fact, target=id_of("fact", fact), body=fields(reason=reason)
    )


def report(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
    subject: str | None = None,
    candidates: bool = False,
) -> Call[Report]:
    """What the runs of a batch found, with sources.

    Args:
        candidates: Also facts that are not sure enough, marked.
    """
    folder, target = target_of(batch, run, subject)
    return get(
        f"/v1/{folder}/{{id}}/report",
        Report,
        target=target,
        query=fields(format="json", candidates=candidates),
    )


def resume(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
) -> Call[Steering]:
    """Let what was paused go on; with a higher budget where that is spent."""
    folder, target = target_of(batch, run)
    return Call(
        "POST",
        f"/v1/{folder}/{{id}}/resume",
        Steering,
        target=target,
        body=fields(budget_usd=budget_usd, budget_tokens=budget_tokens),
    )


def retry(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    from_scratch: bool = False,
) -> Call[Steering]:
    """Try what failed or was cancelled again, from where it ended."""
    folder, target = target_of(batch, run)
    return Call(
        "POST",
        f"/v1/{folder}/{{id}}/retry",
        Steering,
        target=target,
        body=fields(budget_usd=budget_usd, budget_tokens=budget_tokens, from_scratch=from_scratch),
    )


def rows(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
) -> Listing[Row]:
    """What the runs of a batch handed in, in the order of its topics: pages of JSON, or one table as CSV or XLSX."""
    folder, target = target_of(batch, run)
    return pages(f"/v1/{folder}/{{id}}/rows", RowList, target=target, format="json")


def withdraw(fact: Id | Fact | FoundFact, reason: str = "") -> Call[Fact]:
    """Withdraw a fact: no search finds it, and it counts for and against nothing. The fact as it is now."""
    return Call(
        "POST", "/v1/facts/{id}/withdraw", Fact, target=id_of("fact", fact), body=fields(reason=reason)
    )


def write_lesson(
    subject: str,
    node: str,
    *,
    model: str | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    again: bool = False,
) -> Call[WritingReceipt]:
    """Have a run write a lesson on a node of a subject's map, from stored facts alone.

    It answers at once; once the batch has ended, the lessons of the subject have it. `is_new` is false where the same
    facts were taught from before.

    Args:
        model: The model that writes; left out, the configured one.
        budget_usd: What it may cost in USD; it pauses there.
        budget_tokens: How many tokens it may take; it pauses there.
        again: Also where the facts are the same as the last time.
        node: The node, by its id or its title.
    """
    return Call(
        "POST",
        "/v1/subjects/{id}/lessons",
        WritingReceipt,
        target=id_of("subject", subject),
        body=fields(model=model, budget_usd=budget_usd, budget_tokens=budget_tokens, again=again, node=node),
        is_repeatable=not again,
    )


def write_report(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
    subject: str | None = None,
    model: str | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    again: bool = False,
) -> Call[WritingReceipt]:
    """Have a run write an answer from the facts of a batch. `is_new` is false where that was done before.

    Args:
        model: The model that writes; left out, the configured one.
        budget_usd: What it may cost in USD; it pauses there.
        budget_tokens: How many tokens it may take; it pauses there.
        again: Also where the facts are the same as the last time.
    """
    folder, target = target_of(batch, run, subject)
    return Call(
        "POST",
        f"/v1/{folder}/{{id}}/report",
        WritingReceipt,
        target=target,
        body=fields(model=model, budget_usd=budget_usd, budget_tokens=budget_tokens, again=again),
        is_repeatable=not again,
    )
