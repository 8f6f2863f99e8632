"""What can be asked of the API: the acts as requests. Written by `docs/generate.py` from `chiron_api.acts`."""

# ruff: noqa: PLR0913  # a parameter for each option
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from chiron_api.answers.basics import Receipt
from chiron_api.answers.differences import Difference
from chiron_api.answers.facts import Fact, FactList, FoundFact, FoundFacts, ListedFact
from chiron_api.answers.journeys import Journey, JourneyList
from chiron_api.answers.keys import AuditEntry, AuditTrail, Key, KeyList, NewKey
from chiron_api.answers.learning import (
    CoverageMap,
    CurriculumReceipt,
    NodeProgress,
    ProgressList,
    Proposal,
    ProposalList,
    ResearchRound,
)
from chiron_api.answers.lessons import Lesson, LessonLine, LessonList
from chiron_api.answers.quizzes import QuestionOrder, Quiz, QuizAnswer, QuizQuestion
from chiron_api.answers.reports import Report
from chiron_api.answers.rows import Row, RowList
from chiron_api.answers.runs import (
    Batch,
    BatchList,
    Run,
    RunId,
    RunList,
    RunReceipt,
    RunResult,
    Steering,
    WritingReceipt,
)
from chiron_api.answers.subjects import (
    CheckReceipt,
    Document,
    DocumentList,
    Recheck,
    Subject,
    SubjectDetails,
    SubjectList,
    Subscription,
    SubscriptionList,
    SubscriptionTime,
    SubscriptionTimeList,
)
from chiron_api.answers.tools import Skill, SkillList, Tool, ToolList
from chiron_api.answers.webhooks import Delivery, DeliveryList, NewWebhook, Webhook, WebhookList
from chiron_api.client.call import Call, Listing, entries, fields, get, key_header, pages
from chiron_api.client.targets import Id, id_of, target_of

Money = Decimal | float
AccessScope = Literal["read", "submit", "admin"]
BudgetPeriod = Literal["day", "total"]
ColumnType = Literal["text", "int", "float", "bool", "date", "url"]
Effort = Literal["low", "medium", "high", "xhigh", "max"]
FactStatus = Literal["accepted", "disputed", "candidate", "superseded", "withdrawn"]
NoticeKind = Literal[
    "run.completed",
    "run.failed",
    "run.cancelled",
    "run.paused",
    "batch.completed",
    "budget.reached",
    "subscription.news",
    "webhook.test",
]
ProposalState = Literal["open", "accepted", "rejected"]
RunState = Literal["queued", "running", "paused", "completed", "failed", "cancelled"]
SearchMode = Literal["hybrid", "vector", "text"]
ThinkingMode = Literal["auto", "adaptive", "between_tools", "enabled", "disabled"]
WebhookFormat = Literal["standard", "slack", "mail"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the rows that are asked for; `description` says in words what belongs there."""

    name: str
    type: ColumnType = "text"
    description: str = ""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic with options of its own; what is None comes from its batch."""

    topic: str
    subject: str | None = None
    role: str | None = None
    model: str | None = None
    thinking: ThinkingMode | None = None
    effort: Effort | None = None
    priority: int | None = None
    max_turns: int | None = None
    budget_usd: Money | None = None
    budget_tokens: int | None = None
    ready_at: datetime | None = None


def answer_question(quiz: Id | Quiz, question: Id | QuizQuestion, response: str) -> Call[Quiz]:
    """The quiz with the answer, marked as far as rules can. The first answer counts, however often it is sent.

    At the end a run marks what is open; where none can be had, the `reason` of the answer says why, and its learner
    settles it.
    """
    return Call(
        "POST",
        "/v1/quizzes/{id}/answers",
        Quiz,
        target=id_of("quiz", quiz),
        body=fields(question_id=id_of("question", question), response=response),
        is_repeatable=True,
    )


def audit_trail(owner: str | None = None) -> Listing[AuditEntry]:
    """Acts that changed something, newest first, in pages; `next` is null on the last one.

    Args:
        owner: Only what this owner did.
    """
    return pages("/v1/audit", AuditTrail, owner=owner)


def batch(batch: Id | Batch | Receipt | RunReceipt) -> Call[Batch]:
    """One batch with its runs counted by state; one of a subscription with what it changed."""
    return get("/v1/batches/{id}", Batch, target=id_of("batch", batch))


def batches() -> Listing[Batch]:
    """Batches, newest first, in pages; `next` is null on the last one."""
    return pages("/v1/batches", BatchList)


def cancel(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
) -> Call[Steering]:
    """End all open runs of a batch. What a worker plays ends when the worker learns of it."""
    folder, target = target_of(batch, run)
    return Call("POST", f"/v1/{folder}/{{id}}/cancel", Steering, target=target, body=fields())


def check(
    subject: str,
    *,
    model: str | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    again: bool = False,
) -> Call[CheckReceipt]:
    """Have a model asked whether quotes support the facts of a subject that no model has judged.

    Those are facts that were stored without a model to ask: outside of research, such as by store_knowledge, or imported.
    It returns at once; the batch tells when it is done. What a quote does not support is then shown no longer, and stays
    with the reason. The same facts, by the same model under the same budget, are the same batch.

    Args:
        model: Who is asked, where CHIRON_VERDICT_MODEL names nobody.
        budget_usd: What the check may cost; it pauses there.
        budget_tokens: The tokens it may use, likewise.
        again: Ask anew, though the same facts were asked about before.
    """
    return Call(
        "POST",
        "/v1/subjects/{id}/check",
        CheckReceipt,
        target=id_of("subject", subject),
        body=fields(model=model, budget_usd=budget_usd, budget_tokens=budget_tokens, again=again),
        is_repeatable=not again,
    )


def coverage_map(subject: str) -> Call[CoverageMap]:
    """The nodes of a subject, nested, with how many facts belong to each, and which are exhausted."""
    return get(
        "/v1/subjects/{id}/map", CoverageMap, target=id_of("subject", subject), query=fields(format="json")
    )


def create_key(
    name: str,
    scope: AccessScope,
    *,
    owner: str = "",
    expires_at: datetime | None = None,
    budget_usd: Money | None = None,
    budget_period: BudgetPeriod = "total",
    requests_per_minute: int | None = None,
) -> Call[NewKey]:
    """Make a key; `key` of the answer is its secret, which no later answer shows. A name that is in use is refused.

    Args:
        name: Name of the key.
        scope: What it may: read; also submit and steer; also see all owners and manage keys.
        owner: Whose batches are submitted with it. Default: its name; `local` is you.
        expires_at: When it ends. Default: never.
        budget_usd: What all batches of the key may cost together. Default: no limit.
        budget_period: Whether the budget is for each day, or in total.
        requests_per_minute: Requests a minute. Default: no limit.
    """
    return Call(
        "POST",
        "/v1/keys",
        NewKey,
        body=fields(
            name=name,
            scope=scope,
            owner=owner,
            expires_at=expires_at,
            budget_usd=budget_usd,
            budget_period=budget_period,
            requests_per_minute=requests_per_minute,
        ),
    )


def create_subject(
    title: str, *, purpose_statement: str = "", target_depth: str = "practical"
) -> Call[Subject]:
    """Make a subject, or give the one of that name another goal. One that is there keeps its title."""
    return Call(
        "POST",
        "/v1/subjects",
        Subject,
        body=fields(title=title, purpose_statement=purpose_statement, target_depth=target_depth),
        is_repeatable=True,
    )


def create_webhook(
    url: str, *, kinds: Sequence[NoticeKind] | None = None, format: WebhookFormat | None = None
) -> Call[NewWebhook]:
    """Make a webhook; `secret` of the answer signs its deliveries, and no later answer shows it. An owner has only so many.

    Args:
        url: Where to, `https:` or `mailto:`.
        kinds: What is sent; without them all but the ends of runs that are completed or cancelled.
        format: In which form. Default: mail for mailto:, else standard.
    """
    return Call("POST", "/v1/webhooks", NewWebhook, body=fields(url=url, kinds=kinds, format=format))


def decide_proposal(proposal: Id | Proposal, accept: bool, reason: str) -> Call[Proposal]:
    """Accept a proposal, which changes the map at once, or reject it; 409 where it was decided or the map forbids it.

    Args:
        accept: Whether the map is changed.
        reason: Why.
    """
    return Call(
        "POST",
        "/v1/proposals/{id}/decide",
        Proposal,
        target=id_of("proposal", proposal),
        body=fields(accept=accept, reason=reason),
    )


def delete(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
    with_facts: bool = False,
) -> Call[None]:
    """Delete a finished batch with its runs; 409 while one of them is open.

    Args:
        with_facts: Also delete the facts that were found first by it.
    """
    folder, target = target_of(batch, run)
    return Call("DELETE", f"/v1/{folder}/{{id}}", None, target=target, query=fields(with_facts=with_facts))


def delete_subscription(subscription: Id | Subscription) -> Call[None]:
    """Delete a subscription. What it has started goes on."""
    return Call("DELETE", "/v1/subscriptions/{id}", None, target=id_of("subscription", subscription))


def deliveries(webhook: Id | Webhook) -> Listing[Delivery]:
    """What a webhook was sent or is to be sent, newest first, in pages; it is kept for 30 days after its end."""
    return pages("/v1/webhooks/{id}/deliveries", DeliveryList, target=id_of("webhook", webhook))


def difference(
    subject: str, since: datetime, *, until: datetime | None = None, limit: int = 100
) -> Call[Difference]:
    """What changed in a subject in a period."""
    return get(
        "/v1/subjects/{id}/diff",
        Difference,
        target=id_of("subject", subject),
        query=fields(since=since, until=until, limit=limit),
    )


def documents(subject: str) -> Call[list[Document]]:
    """The documents of the corpus of a subject, by address."""
    return get("/v1/subjects/{id}/documents", DocumentList, target=id_of("subject", subject), part="items")


def fact(fact: Id | Fact | FoundFact) -> Call[Fact]:
    """A fact with its sources, the explanation of its confidence, what contradicts it, and its history."""
    return get("/v1/facts/{id}", Fact, target=id_of("fact", fact))


def finish_lesson(journey: Id | Journey) -> Call[Journey]:
    """The lesson that waited is read; questions about it come next, in the quiz `quiz_id`. 409 where none waits."""
    return Call("POST", "/v1/journeys/{id}/read", Journey, target=id_of("journey", journey))


def journey(subject: str) -> Call[Journey]:
    """Where whoever asks stands on the way through a subject, what it cost so far and what comes next."""
    return get("/v1/subjects/{id}/journey", Journey, target=id_of("subject", subject))


def journeys() -> Call[list[Journey]]:
    """The journeys of whoever asks, the one that moved last first; 100 at most."""
    return get("/v1/journeys", JourneyList, part="items")


def keys(with_revoked: bool = False) -> Call[list[Key]]:
    """The keys, oldest first, without their secrets; `left_usd` is what each has left of its budget.

    Args:
        with_revoked: Also those that were revoked.
    """
    return get("/v1/keys", KeyList, part="items", query=fields(revoked=with_revoked))


def lesson(lesson: Id | LessonLine) -> Call[Lesson]:
    """A lesson with its facts, and which of its sentences are stale and why."""
    return get("/v1/lessons/{id}", Lesson, target=id_of("lesson", lesson), query=fields(format="json"))


def lesson_document(lesson: Id | LessonLine, *, format: Literal["json", "md", "html"] = "md") -> Call[bytes]:
    """A lesson with its facts, and which of its sentences are stale and why.

    As a document of a format, as it would be saved.
    """
    return get("/v1/lessons/{id}", bytes, target=id_of("lesson", lesson), query=fields(format=format))


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


def map_document(subject: str, *, format: Literal["mermaid", "tree", "json"] = "mermaid") -> Call[bytes]:
    """The nodes of a subject, nested, with how many facts belong to each, and which are exhausted.

    As a document of a format, as it would be saved.
    """
    return get("/v1/subjects/{id}/map", bytes, target=id_of("subject", subject), query=fields(format=format))


def order_curriculum(
    subject: str,
    goal: str,
    *,
    depth: str = "practical",
    model: str | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    again: bool = False,
    idempotency_key: str | None = None,
) -> Call[CurriculumReceipt]:
    """Save the goal of a subject, by any name, and have a run draw up its map: 202 with the batch.

    The same goal and depth by the same model under the same budget are one batch. With an Idempotency-Key, what is sent
    under it is one batch, also where the goal is mapped again.

    Args:
        goal: What you want to understand or be able to do, in your own words.
        depth: How deeply: overview, practical, expert, or other words.
        model: Model of the runs. Default: CHIRON_MODEL.
        again: Map the goal anew, though it was mapped before.
    """
    return Call(
        "POST",
        "/v1/subjects/{id}/curriculum",
        CurriculumReceipt,
        target=id_of("subject", subject),
        body=fields(
            goal=goal,
            depth=depth,
            model=model,
            budget_usd=budget_usd,
            budget_tokens=budget_tokens,
            again=again,
        ),
        headers=key_header(idempotency_key, is_made=again),
        is_repeatable=True,
    )


def order_questions(
    subject: str,
    *,
    node_id: Id | None = None,
    model: str | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    again: bool = False,
) -> Call[QuestionOrder]:
    """Have runs write questions from the facts of a node, or of each node that has facts; it returns at once with the batch.

    Once the batch is done, a quiz asks them.

    Args:
        node_id: Only about this node of the map.
        model: The model that writes. Left out, the configured one.
        budget_usd: What the questions may cost; it pauses there.
        again: Also where they were written before from the same facts.
    """
    return Call(
        "POST",
        "/v1/subjects/{id}/questions",
        QuestionOrder,
        target=id_of("subject", subject),
        body=fields(
            node_id=node_id, model=model, budget_usd=budget_usd, budget_tokens=budget_tokens, again=again
        ),
        is_repeatable=not again,
    )


def order_recheck(subject: str) -> Call[Recheck]:
    """Have a worker read the sources of a subject's facts again; the order that is open, if there is one."""
    return Call("POST", "/v1/subjects/{id}/recheck", Recheck, target=id_of("subject", subject))


def order_research(
    subject: str,
    *,
    facts_min: int = 3,
    topics_max: int = 20,
    model: str | None = None,
    budget_usd: Money | None = None,
    again: bool = False,
) -> Call[ResearchRound]:
    """Have runs research what the map lacks, one a node: 202 with the batch, 200 where none begins. No node has two open
    runs.

    Args:
        facts_min: Accepted facts that a node needs, from two origins.
        topics_max: Nodes that are researched at once.
        model: Model of the runs. Default: CHIRON_MODEL.
        budget_usd: What the round may cost; it pauses there.
        again: Try nodes again that gained nothing twice.
    """
    return Call(
        "POST",
        "/v1/subjects/{id}/research",
        ResearchRound,
        target=id_of("subject", subject),
        body=fields(
            facts_min=facts_min, topics_max=topics_max, model=model, budget_usd=budget_usd, again=again
        ),
        is_repeatable=not again,
    )


def pause(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
) -> Call[Steering]:
    """Put all open runs of a batch aside. A worker finishes the model call it is in."""
    folder, target = target_of(batch, run)
    return Call("POST", f"/v1/{folder}/{{id}}/pause", Steering, target=target, body=fields())


def pause_subscription(subscription: Id | Subscription) -> Call[Subscription]:
    """Have a subscription due no more until it is resumed. One that has ended is refused."""
    return Call(
        "POST",
        "/v1/subscriptions/{id}/pause",
        Subscription,
        target=id_of("subscription", subscription),
        is_repeatable=True,
    )


def progress(subject: str) -> Call[list[NodeProgress]]:
    """The mastery of whoever asks of each node, how many questions it has, and how many of them are due for review."""
    return get("/v1/subjects/{id}/progress", ProgressList, target=id_of("subject", subject), part="items")


def proposals(subject: str, state: ProposalState | None = None) -> Call[list[Proposal]]:
    """What research has proposed for the map of a subject, newest first, with what was decided and why; 200 at most.

    Args:
        state: Only those in this state. Default: all.
    """
    return get(
        "/v1/subjects/{id}/proposals",
        ProposalList,
        target=id_of("subject", subject),
        part="items",
        query=fields(state=state),
    )


def quiz(quiz: Id | Quiz) -> Call[Quiz]:
    """A quiz of whoever asks: the answers so far with their keys and marks, and the question that comes next."""
    return get("/v1/quizzes/{id}", Quiz, target=id_of("quiz", quiz))


def recheck(recheck: Id | Recheck) -> Call[Recheck]:
    """A recheck: its state, and what it has found once it is completed."""
    return get("/v1/rechecks/{id}", Recheck, target=id_of("recheck", recheck))


def reinstate(fact: Id | Fact | FoundFact, reason: str = "") -> Call[Fact]:
    """Take a withdrawal back. The fact as it is now.

    Args:
        reason: Why; it is kept in the fact's history.
    """
    return Call(
        "POST", "/v1/facts/{id}/reinstate", Fact, target=id_of("fact", fact), body=fields(reason=reason)
    )


def remove_webhook(webhook: Id | Webhook) -> Call[None]:
    """Remove a webhook with its deliveries."""
    return Call("DELETE", "/v1/webhooks/{id}", None, target=id_of("webhook", webhook))


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


def report_document(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
    subject: str | None = None,
    format: Literal["md", "html", "json", "docx", "csl-json", "bibtex", "ris"] = "md",
    candidates: bool = False,
) -> Call[bytes]:
    """What the runs of a batch found, with sources.

    As a document of a format, as it would be saved.

    Args:
        candidates: Also facts that are not sure enough, marked.
    """
    folder, target = target_of(batch, run, subject)
    return get(
        f"/v1/{folder}/{{id}}/report",
        bytes,
        target=target,
        query=fields(format=format, candidates=candidates),
    )


def resend_delivery(delivery: Id | Delivery) -> Call[Delivery]:
    """Have a worker send a delivery at once, under the same id. It is refused where the webhook is off."""
    return Call("POST", "/v1/deliveries/{id}/resend", Delivery, target=id_of("delivery", delivery))


def resume(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
) -> Call[Steering]:
    """Let what was paused go on; with a higher budget where that is spent.

    Args:
        budget_usd: What the batch or the run may cost from now on, in all.
        budget_tokens: Tokens that the batch or the run may use from now on, in all.
    """
    folder, target = target_of(batch, run)
    return Call(
        "POST",
        f"/v1/{folder}/{{id}}/resume",
        Steering,
        target=target,
        body=fields(budget_usd=budget_usd, budget_tokens=budget_tokens),
    )


def resume_journey(journey: Id | Journey, budget_usd: Money | None = None) -> Call[Journey]:
    """Have a journey go on that was stopped, paused or failed, and with it what it has paused; 409 where it is under way.

    Args:
        budget_usd: What it may cost as a whole from now on.
    """
    return Call(
        "POST",
        "/v1/journeys/{id}/resume",
        Journey,
        target=id_of("journey", journey),
        body=fields(budget_usd=budget_usd),
    )


def resume_subscription(subscription: Id | Subscription) -> Call[Subscription]:
    """Have a subscription due again at its next time. One that has ended is refused."""
    return Call(
        "POST",
        "/v1/subscriptions/{id}/resume",
        Subscription,
        target=id_of("subscription", subscription),
        is_repeatable=True,
    )


def retry(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    from_scratch: bool = False,
) -> Call[Steering]:
    """Try what failed or was cancelled again, from where it ended.

    Args:
        budget_usd: What the batch or the run may cost from now on, in all.
        budget_tokens: Tokens that the batch or the run may use from now on, in all.
        from_scratch: Begin anew instead of where the run ended, also completed runs. What they stored is kept.
    """
    folder, target = target_of(batch, run)
    return Call(
        "POST",
        f"/v1/{folder}/{{id}}/retry",
        Steering,
        target=target,
        body=fields(budget_usd=budget_usd, budget_tokens=budget_tokens, from_scratch=from_scratch),
    )


def revoke_key(name: str) -> Call[None]:
    """End a key for good. Servers refuse it within five seconds, and what it submitted goes on."""
    return Call("DELETE", "/v1/keys/{name}", None, target=id_of("name", name))


def rows(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
) -> Listing[Row]:
    """What the runs of a batch handed in, in the order of its topics: pages of JSON, or one table as CSV or XLSX."""
    folder, target = target_of(batch, run)
    return pages(f"/v1/{folder}/{{id}}/rows", RowList, target=target, format="json")


def rows_document(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    run: Id | Run | RunResult | RunReceipt | None = None,
    format: Literal["csv", "xlsx"] = "csv",
) -> Call[bytes]:
    """What the runs of a batch handed in, in the order of its topics: pages of JSON, or one table as CSV or XLSX.

    As a document of a format, as it would be saved.
    """
    folder, target = target_of(batch, run)
    return get(f"/v1/{folder}/{{id}}/rows", bytes, target=target, query=fields(format=format))


def run(run: Id | Run | RunResult | RunReceipt) -> Call[Run]:
    """One run with its answer or its error."""
    return get("/v1/runs/{id}", Run, target=id_of("run", run))


def runs(
    batch: Id | Batch | Receipt | RunReceipt | None = None,
    *,
    state: RunState | None = None,
    subject: str | None = None,
    nothing_found: bool | None = None,
) -> Listing[Run]:
    """Runs, newest first, in pages; `next` is null on the last one. Their evaluations are left out."""
    return pages(
        "/v1/runs",
        RunList,
        batch=batch and id_of("batch", batch),
        state=state,
        subject=subject,
        nothing_found=nothing_found,
    )


def save_goal(subject: str, purpose_statement: str, *, target_depth: str | None = None) -> Call[Subject]:
    """Save the learning goal of a subject that there is, in place of an earlier one."""
    return Call(
        "POST",
        "/v1/subjects/{id}/goal",
        Subject,
        target=id_of("subject", subject),
        body=fields(purpose_statement=purpose_statement, target_depth=target_depth),
        is_repeatable=True,
    )


def say(run: Id | Run | RunResult | RunReceipt, text: str) -> Call[RunId]:
    """Continue the conversation with a run; 409 if the run was cancelled.

    Args:
        text: What to tell the agent.
    """
    return Call("POST", "/v1/runs/{id}/messages", RunId, target=id_of("run", run), body=fields(text=text))


def search(
    query: str,
    *,
    top_k: int = 5,
    mode: SearchMode = "hybrid",
    subject_id: str | None = None,
    min_confidence: float = 0.0,
    candidates: bool = False,
    topic_path: str | None = None,
    source: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    validated_since: datetime | None = None,
    node_id: str | None = None,
    neighbours: bool = False,
) -> Call[FoundFacts]:
    """Search what is known, by meaning and by words: the best facts first, each with its source.

    Where embeddings are hosted, the budget of the key pays for that of the query; where it cannot, words alone are
    searched, and `note` says why.

    Args:
        query: What you want to know, in your own words.
        top_k: How many facts at most.
        mode: vector ranks by meaning alone, text by shared words alone, such as names and numbers.
        subject_id: Only facts of this subject, by its id or its name.
        min_confidence: Leave out facts below this confidence, 0 to 1.
        candidates: Also facts that are not confirmed well enough yet, or that no source says any more.
        topic_path: Only facts at this topic path or below it, such as area/topic.
        source: Only facts that rest on this address, or on a domain such as example.org.
        since: Only facts stored since this date, such as 2026-03-01.
        until: Only facts stored before this date.
        validated_since: Only facts whose confidence was worked out since this date.
        node_id: Only facts of this node of the coverage map.
        neighbours: With node_id: also its parent, children, siblings and prerequisites.
    """
    return Call(
        "POST",
        "/v1/knowledge/search",
        FoundFacts,
        body=fields(
            query=query,
            top_k=top_k,
            mode=mode,
            subject_id=subject_id,
            min_confidence=min_confidence,
            candidates=candidates,
            topic_path=topic_path,
            source=source,
            since=since,
            until=until,
            validated_since=validated_since,
            node_id=node_id,
            neighbours=neighbours,
        ),
        is_repeatable=True,
    )


def send_webhook_test(webhook: Id | Webhook) -> Call[Delivery]:
    """Have a delivery sent that says nothing. A webhook that is off is turned on again."""
    return Call("POST", "/v1/webhooks/{id}/test", Delivery, target=id_of("webhook", webhook))


def settle_answer(quiz: Id | Quiz, question: Id | QuizAnswer, mark: Literal["right", "wrong"]) -> Call[Quiz]:
    """The quiz with the answer as its learner settles it; 409 where it is not doubtful."""
    return Call(
        "POST",
        "/v1/quizzes/{id}/settlements",
        Quiz,
        target=id_of("quiz", quiz),
        body=fields(question_id=id_of("question", question), mark=mark),
    )


def skills() -> Call[list[Skill]]:
    """The skills of the machine that the API runs on, as `chiron skills --json` lists them."""
    return get("/v1/skills", SkillList, part="items")


def start(
    topic: str,
    subject: str,
    *,
    role: str | None = None,
    model: str | None = None,
    thinking: ThinkingMode | None = None,
    effort: Effort | None = None,
    priority: int | None = None,
    max_turns: int | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    ready_at: datetime | None = None,
    columns: Sequence[str | Column] | None = None,
    idempotency_key: str | None = None,
) -> Call[RunReceipt]:
    """Start a single run, in a batch of its own. The same idempotency key with the same request gives the same run.

    Args:
        columns: Of the rows that the runs are to hand in, such as "name" and "year:int".
    """
    return Call(
        "POST",
        "/v1/runs",
        RunReceipt,
        body=fields(
            topic=topic,
            subject=subject,
            role=role,
            model=model,
            thinking=thinking,
            effort=effort,
            priority=priority,
            max_turns=max_turns,
            budget_usd=budget_usd,
            budget_tokens=budget_tokens,
            ready_at=ready_at,
            columns=entries(columns),
        ),
        headers=key_header(idempotency_key),
        is_repeatable=True,
    )


def start_journey(
    subject: str,
    goal: str,
    *,
    depth: str = "practical",
    model: str | None = None,
    budget_usd: Money | None = None,
    facts_min: int = 3,
    again: bool = False,
) -> Call[Journey]:
    """Begin to learn a subject, by any name, or have the journey go on that stands still; workers take it from step to step.

    Nothing is changed where it is under way to the same goal; it is refused where it is under way to another one.

    Args:
        goal: What you want to understand or be able to do, in your own words.
        depth: How deeply: overview, practical, expert, or other words.
        model: Model of the runs. Default: CHIRON_MODEL.
        budget_usd: What it may cost as a whole; it stands still there.
        facts_min: Accepted facts that a node needs, from two origins.
        again: Map the goal anew, and try nodes again that gained nothing.
    """
    return Call(
        "POST",
        "/v1/subjects/{id}/journey",
        Journey,
        target=id_of("subject", subject),
        body=fields(
            goal=goal, depth=depth, model=model, budget_usd=budget_usd, facts_min=facts_min, again=again
        ),
        is_repeatable=not again,
    )


def start_quiz(subject: str, *, node_id: Id | None = None, count: int = 3) -> Call[Quiz]:
    """The open quiz of whoever asks, or a new one: 201. 409 where no questions are stored yet."""
    return Call(
        "POST",
        "/v1/quizzes",
        Quiz,
        body=fields(subject=subject, node_id=node_id, count=count),
        is_repeatable=True,
    )


def stop_journey(journey: Id | Journey) -> Call[Journey]:
    """Stop a journey and cancel what it has under way; what was found and learnt stays. 409 where it stands still."""
    return Call("POST", "/v1/journeys/{id}/stop", Journey, target=id_of("journey", journey))


def subject(subject: str) -> Call[SubjectDetails]:
    """A subject with its learning goal, how many facts it has, and its coverage map."""
    return get("/v1/subjects/{id}", SubjectDetails, target=id_of("subject", subject))


def subject_facts(subject: str, status: FactStatus | None = None) -> Listing[ListedFact]:
    """Facts, newest first, in pages; those that are accepted or disputed unless a status is named."""
    return pages("/v1/subjects/{id}/facts", FactList, target=id_of("subject", subject), status=status)


def subjects() -> Call[list[Subject]]:
    """Every subject with its learning goal, by name."""
    return get("/v1/subjects", SubjectList, part="items")


def submit(
    topics: Sequence[str | Topic],
    subject: str,
    *,
    name: str = "",
    role: str = "research",
    model: str | None = None,
    thinking: ThinkingMode | None = None,
    effort: Effort | None = None,
    priority: int = 0,
    max_turns: int | None = None,
    budget_usd: Money | None = None,
    budget_tokens: int | None = None,
    run_budget_usd: Money | None = None,
    run_budget_tokens: int | None = None,
    concurrency: int | None = None,
    ready_at: datetime | None = None,
    columns: Sequence[str | Column] | None = None,
    idempotency_key: str | None = None,
) -> Call[Receipt]:
    """Start research that goes on for minutes to hours: a run for each topic finds sources and stores facts.

    The answer comes at once; facts are found by searches as they come. The same idempotency key with the same request
    gives the same batch, and starts nothing twice.

    Args:
        topics: What to find out: a question or topic for each run, as text or with options of its own.
        subject: What the facts belong to, by its id or any name; a new one is made.
        name: What the batch is called; left out, as its topics are.
        role: What the agents are.
        model: What plays the runs; left out, the model of the settings.
        thinking: How the model thinks; left out, as the settings say.
        effort: How much effort the model makes; left out, as the settings say.
        priority: Higher goes first.
        max_turns: How many replies of the model a run may take; left out, as the settings say.
        budget_usd: What the whole batch may cost; it pauses there.
        budget_tokens: How many tokens the whole batch may use.
        run_budget_usd: What each run may cost; left out, as the settings say.
        run_budget_tokens: How many tokens each run may use.
        concurrency: How many runs of the batch play at once; left out, any number.
        ready_at: When the first run may start, a time with its zone; left out, now.
        columns: Of the rows that the runs are to hand in, such as "name" and "year:int".
    """
    return Call(
        "POST",
        "/v1/batches",
        Receipt,
        body=fields(
            topics=entries(topics),
            subject=subject,
            name=name,
            role=role,
            model=model,
            thinking=thinking,
            effort=effort,
            priority=priority,
            max_turns=max_turns,
            budget_usd=budget_usd,
            budget_tokens=budget_tokens,
            run_budget_usd=run_budget_usd,
            run_budget_tokens=run_budget_tokens,
            concurrency=concurrency,
            ready_at=ready_at,
            columns=entries(columns),
        ),
        headers=key_header(idempotency_key),
        is_repeatable=True,
    )


def subscribe(
    topics: Sequence[str],
    subject: str,
    cron: str,
    *,
    time_zone: str = "UTC",
    role: str = "research",
    model: str | None = None,
    budget_usd: Money | None = None,
    ends_at: datetime | None = None,
    recheck: bool = False,
) -> Call[Subscription]:
    """Have topics researched at each time of `cron`. Where there is a subscription that equals it, that is the answer.

    Args:
        topics: What to research each time.
        subject: Subject the facts belong to; any name.
        cron: When: minute, hour, day, month, weekday. "0 9 * * MON" is each Monday at 9:00.
        time_zone: Whose clock that is, such as Europe/Berlin.
        role: Which agent works on the topics: one of Chiron, or of CHIRON_ROLES.
        model: Model of the runs. Default: CHIRON_MODEL.
        budget_usd: What all topics together may cost each time. Default, and most: CHIRON_RUN_BUDGET_USD.
        ends_at: When it ends, such as 2026-12-31. Default: never.
        recheck: Read the sources of the subject again each time, too.
    """
    return Call(
        "POST",
        "/v1/subscriptions",
        Subscription,
        body=fields(
            topics=topics,
            subject=subject,
            cron=cron,
            time_zone=time_zone,
            role=role,
            model=model,
            budget_usd=budget_usd,
            ends_at=ends_at,
            recheck=recheck,
        ),
        is_repeatable=True,
    )


def subscription(subscription: Id | Subscription) -> Call[Subscription]:
    """When it is due next, what it started last, and why it is paused or passed a time over."""
    return get("/v1/subscriptions/{id}", Subscription, target=id_of("subscription", subscription))


def subscription_times(subscription: Id | Subscription, limit: int = 10) -> Call[list[SubscriptionTime]]:
    """What each of its last occurrences changed, latest first.

    Args:
        limit: Times at most, the latest first.
    """
    return get(
        "/v1/subscriptions/{id}/times",
        SubscriptionTimeList,
        target=id_of("subscription", subscription),
        part="items",
        query=fields(limit=limit),
    )


def subscriptions(subject: str | None = None) -> Listing[Subscription]:
    """Subscriptions, newest first, in pages; `next` is null on the last one.

    Args:
        subject: Only those of this subject.
    """
    return pages("/v1/subscriptions", SubscriptionList, subject=subject)


def tools() -> Call[list[Tool]]:
    """The tools that agents are offered, in the form that the Messages API takes."""
    return get("/v1/tools", ToolList, part="items")


def webhook(webhook: Id | Webhook) -> Call[Webhook]:
    """A webhook without its secret, and why it is off if it is."""
    return get("/v1/webhooks/{id}", Webhook, target=id_of("webhook", webhook))


def webhooks() -> Listing[Webhook]:
    """Webhooks, newest first, in pages; `next` is null on the last one."""
    return pages("/v1/webhooks", WebhookList)


def withdraw(fact: Id | Fact | FoundFact, reason: str = "") -> Call[Fact]:
    """Withdraw a fact: no search finds it, and it counts for and against nothing. The fact as it is now.

    Args:
        reason: Why; it is kept in the fact's history.
    """
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
