"""A method for each act, and the types of its options. Written by `docs/generate.py` from `chiron_api.acts`."""
# ruff: noqa: I001, PLR0913  # a parameter for each option, and as many in a line as there is room for
# fmt: off
# Decorators make the methods:
# mypy: disable-error-code="empty-body"

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from chiron_api.answers.basics import Receipt
from chiron_api.answers.costs import Costs
from chiron_api.answers.differences import Difference
from chiron_api.answers.facts import Fact, FactList, FoundFact, FoundFacts, ListedFact
from chiron_api.answers.fleet import Fleet
from chiron_api.answers.journeys import Journey, JourneyList
from chiron_api.answers.keys import AuditEntry, AuditTrail, Key, KeyList, NewKey
from chiron_api.answers.learning import (
    CoverageMap, CurriculumReceipt, NodeProgress, ProgressList, Proposal, ProposalList, ResearchRound
)
from chiron_api.answers.lessons import Lesson, LessonLine, LessonList
from chiron_api.answers.quizzes import QuestionOrder, Quiz, QuizAnswer, QuizQuestion
from chiron_api.answers.reports import Report
from chiron_api.answers.rows import Row, RowList
from chiron_api.answers.runs import (
    Batch, BatchList, Run, RunId, RunList, RunReceipt, RunResult, RunTimeline, Steering, SubmitReceipt, WritingReceipt
)
from chiron_api.answers.subjects import (
    CheckReceipt, Document, DocumentList, Recheck, Subject, SubjectDetails, SubjectList, Subscription, SubscriptionList,
    SubscriptionTime, SubscriptionTimeList
)
from chiron_api.answers.tools import Skill, SkillList, Tool, ToolList
from chiron_api.answers.webhooks import Delivery, DeliveryList, NewWebhook, Webhook, WebhookList
from chiron_api.client.requests import Pages, Request
from chiron_api.client.targets import Id

AccessScope = Literal["read", "submit", "admin"]
BatchRef = Id | Batch | Receipt | RunReceipt
BudgetPeriod = Literal["day", "total"]
ColumnType = Literal["text", "int", "float", "bool", "date", "url"]
Effort = Literal["low", "medium", "high", "xhigh", "max"]
FactRef = Id | Fact | FoundFact
FactStatus = Literal["accepted", "disputed", "candidate", "superseded", "withdrawn"]
Money = Decimal | float
NoticeKind = Literal[
    "run.completed", "run.failed", "run.cancelled", "run.paused", "batch.completed", "budget.reached", "subscription.news"
]
ProposalState = Literal["open", "accepted", "rejected"]
RunRef = Id | Run | RunResult | RunReceipt
RunState = Literal["queued", "running", "paused", "completed", "failed", "cancelled"]
SearchMode = Literal["hybrid", "vector", "text"]
ThinkingMode = Literal["auto", "adaptive", "between_tools", "enabled", "disabled"]
WebhookFormat = Literal["standard", "slack", "mail"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the rows that are asked for; `description` says in words what belongs there."""

    name: str
    type: ColumnType | None = None
    description: str | None = None


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
    context: str | None = None


class ActMethods:
    """A method for each act."""

    @Request("POST /v1/quizzes/{id}/answers", is_repeatable=True, names={"question": "question_id"})
    def answer_question(self, quiz: Id | Quiz, question: Id | QuizQuestion, response: str) -> Quiz:
        """The quiz with the answer, marked if rules can mark it. The first answer counts, however often it is sent.

        409 for a question that is not next. At the end a run marks what is open; where none can be had, the `reason` of
        the answer says why, and its learner settles it.

        Args:
            question: It must be the current one.
            response: The learner's own words; it may be empty.
        """

    @Pages("GET /v1/audit", AuditTrail)
    def audit_trail(self, owner: str | None = None) -> Iterable[AuditEntry]:
        """Acts that changed something, newest first, in pages; `next` is null on the last one.

        Args:
            owner: Only what this owner did.
        """

    @Request("GET /v1/batches/{id}")
    def batch(self, batch: BatchRef) -> Batch:
        """One batch with its runs counted by state, its facts, tokens and cost.

        Of one that a subscription started, once it is finished, `difference` is what it has brought against the time
        before, up to 20 entries of each kind.
        """

    @Pages("GET /v1/batches", BatchList)
    def batches(self) -> Iterable[Batch]:
        """Batches, newest first, in pages; `next` is null on the last one."""

    @Request("POST /v1/{folder}/{id}/cancel")
    def cancel(self, batch: BatchRef | None = None, *, run: RunRef | None = None) -> Steering:
        """End all open runs of a batch. What a worker plays ends when the worker learns of it."""

    @Request("POST /v1/subjects/{id}/check", is_repeatable=True)
    def check(
        self, subject: str, *, model: str | None = None, budget_usd: Money | None = None,
        budget_tokens: int | None = None, again: bool = False
    ) -> CheckReceipt:
        """Have a model asked whether quotes support the facts of a subject that no model has judged.

        Those are facts that were stored without a model to ask: outside of research, such as by store_knowledge, or
        imported. It returns at once; the batch tells when it is done. What a quote does not support is then shown no
        longer, and stays with the reason. The same facts, by the same model under the same budget, are the same batch.

        Args:
            model: The model that checks, if CHIRON_VERDICT_MODEL names none. Default: CHIRON_MODEL.
            budget_usd: The most that the check may cost. It pauses there, and a resume continues it.
            budget_tokens: How many tokens the check may use.
            again: Check again, although the same facts were checked before.
        """

    @Request("GET /v1/batches/{id}/diff")
    def compare(self, batch: BatchRef, against: Id, *, limit: int | None = None) -> Difference:
        """What changed in the subject of two batches between their ends; 409 if one of them is not finished.

        Args:
            against: The other batch; whichever ended first is the earlier one.
            limit: Entries of each kind at most. Default: 100.
        """

    @Request("GET /v1/costs")
    def costs(
        self, *, since: datetime | None = None, until: datetime | None = None, model: str | None = None,
        subject: str | None = None, key: str | None = None
    ) -> Costs:
        """What was spent in a time, in all and by day (UTC), model, subject and key, the dearest first.

        A run counts once, with all that it has cost, when it ended or paused; one that is queued or runs counts now. A
        key that sees its owner's batches alone sees their costs alone.

        Args:
            since: What counts since then: yesterday, tuesday, 7d, 2h, 2026-03-01 or 2026-03-01T09:30. Default: the last
                30 days.
            until: Before this time, in the same forms. Default: now.
            model: Of this model, or of this hosted service outside of runs.
            subject: Of this subject, by its id or its name.
            key: Of batches that this key submitted; (none): of those that needed no key.
        """

    @Request("GET /v1/subjects/{id}/map?format=json")
    def coverage_map(self, subject: str) -> CoverageMap:
        """The nodes of a subject, nested, with how many facts belong to each, and which are exhausted."""

    @Request("POST /v1/keys")
    def create_key(
        self, name: str, scope: AccessScope, *, owner: str | None = None, expires_at: datetime | None = None,
        budget_usd: Money | None = None, budget_period: BudgetPeriod | None = None, requests_per_minute: int | None = None
    ) -> NewKey:
        """Make a key; `key` of the answer is its secret, which no later answer shows. A name that is in use is refused.

        Args:
            name: Name of the key: letters, digits and ._@-
            scope: What it may: read; also submit and steer; also see all owners and manage keys.
            owner: Whose batches are submitted with it. Default: its name; `local` is you.
            expires_at: When it ends. Default: never.
            budget_usd: What all batches of the key may cost together. Default: no limit.
            budget_period: Whether the budget is for each day, or in total. Default: total.
            requests_per_minute: Requests a minute. Default: no limit.
        """

    @Request("POST /v1/subjects", is_repeatable=True)
    def create_subject(
        self, title: str, *, purpose_statement: str | None = None, target_depth: str | None = None
    ) -> Subject:
        """Make a subject, or give the one of that name another goal. One that is there keeps its title.

        Args:
            title: Its name; its id follows from it.
            purpose_statement: What you want to know it for. Agents take it as the measure of what matters.
            target_depth: How deep the goal goes. Default: practical.
        """

    @Request("POST /v1/webhooks")
    def create_webhook(
        self, url: str, *, kinds: Sequence[NoticeKind] | None = None, format: WebhookFormat | None = None
    ) -> NewWebhook:
        """Make a webhook; `secret` of the answer signs its deliveries, and no later answer shows it. An owner has only so
        many.

        Args:
            url: Where to: an address of https, or mailto:someone@example.org.
            kinds: What is sent; without them all but the ends of runs that are completed or cancelled.
        """

    @Request("POST /v1/proposals/{id}/decide")
    def decide_proposal(self, proposal: Id | Proposal, *, accept: bool, reason: str) -> Proposal:
        """Accept a proposal, which changes the map at once, or reject it; 409 where it was decided or the map forbids it.

        Args:
            accept: Whether the map is changed.
            reason: Why.
        """

    @Request("DELETE /v1/{folder}/{id}")
    def delete(self, batch: BatchRef | None = None, *, run: RunRef | None = None, with_facts: bool = False) -> None:
        """Delete a finished batch for good, with its runs, their journals and events; 409 while one of them is open.

        What it found stays unless `with_facts` says otherwise. A batch goes with the last of its runs.

        Args:
            with_facts: Also delete the facts that were found first by it.
        """

    @Request("DELETE /v1/subscriptions/{id}")
    def delete_subscription(self, subscription: Id | Subscription) -> None:
        """Delete a subscription. Batches that it started continue."""

    @Pages("GET /v1/webhooks/{id}/deliveries", DeliveryList)
    def deliveries(self, webhook: Id | Webhook) -> Iterable[Delivery]:
        """Deliveries of a webhook, sent and waiting, newest first, in pages; each is kept for 30 days after its end."""

    @Request("GET /v1/subjects/{id}/diff")
    def difference(
        self, subject: str, *, since: datetime, until: datetime | None = None, limit: int | None = None
    ) -> Difference:
        """What changed in a subject in a period.

        Args:
            since: From when, with its zone, such as 2026-10-01T00:00:00Z; a + is written %2B in an address.
            until: Up to when. Default: now.
            limit: Entries of each kind at most. Default: 100.
        """

    @Request("GET /v1/subjects/{id}/documents", DocumentList)
    def documents(self, subject: str) -> list[Document]:
        """The documents of the corpus of a subject, by address."""

    @Request("GET /v1/facts/{id}")
    def fact(self, fact: FactRef) -> Fact:
        """A fact with its sources, the explanation of its confidence, what contradicts it, and its history.

        `assertions` are the sources and quotes that it rests on, with their places in the snapshot; `related` are facts
        near it.
        """

    @Pages("GET /v1/facts", FactList)
    def facts(
        self, *, subject_id: str | None = None, since: datetime | None = None, status: FactStatus | None = None
    ) -> Iterable[ListedFact]:
        """Facts of all subjects, or of one, newest first, in pages; those that are accepted or disputed unless a status is
        named.

        Args:
            subject_id: Only facts of this subject, by its id or its name. Default: of all.
            since: Only facts stored since then, a time with its zone, such as 2026-10-01T00:00:00Z; a + is written %2B in
                an address.
            status: Only facts in this status. Default: accepted and disputed ones.
        """

    @Request("POST /v1/journeys/{id}/read")
    def finish_lesson(self, journey: Id | Journey) -> Journey:
        """The lesson that waited is read; questions about it come next, in the quiz `quiz_id`. 409 where none waits."""

    @Request("GET /v1/health")
    def fleet(self) -> Fleet:
        """Workers alive, Redis, how long runs wait, and money today: the line that every page shows, a second old at most.
        """

    @Request("GET /v1/subjects/{id}/journey")
    def journey(self, subject: str) -> Journey:
        """Your journey through a subject: where it stands, what it cost so far and what comes next."""

    @Request("GET /v1/journeys", JourneyList)
    def journeys(self) -> list[Journey]:
        """Your journeys, the one that moved last first; 100 at most. Those of others are 404."""

    @Request("GET /v1/keys", KeyList, names={"with_revoked": "revoked"})
    def keys(self, *, with_revoked: bool = False) -> list[Key]:
        """The keys, oldest first, without their secrets.

        `left_usd` is the budget of each less what it has given to open batches and what was spent of the others.

        Args:
            with_revoked: Also those that were revoked.
        """

    @Request("GET /v1/lessons/{id}?format=json")
    def lesson(self, lesson: Id | LessonLine) -> Lesson:
        """A lesson with its facts, and which of its sentences are stale and why."""

    @Request("GET /v1/lessons/{id}?format=md")
    def lesson_document(self, lesson: Id | LessonLine, *, format: Literal["md", "json", "html"] = "md") -> bytes:
        """A lesson with its facts, and which of its sentences are stale and why.

        Returns the document in a format, as bytes.
        """

    @Request("GET /v1/subjects/{id}/lessons", LessonList)
    def lessons(self, subject: str, *, node: str | None = None, drafts: bool = False) -> list[LessonLine]:
        """The lessons of a subject or of one of its nodes, newest first; 500 at most.

        Args:
            node: Of this node alone, by its id or title.
            drafts: Also lessons that are not handed in.
        """

    @Request("GET /v1/subjects/{id}/map?format=mermaid")
    def map_document(self, subject: str, *, format: Literal["mermaid", "tree", "json"] = "mermaid") -> bytes:
        """The nodes of a subject, nested, with how many facts belong to each, and which are exhausted.

        Returns the document in a format, as bytes.
        """

    @Request("POST /v1/subjects/{id}/curriculum", is_repeatable=True)
    def order_curriculum(
        self, subject: str, goal: str, *, depth: str | None = None, model: str | None = None,
        budget_usd: Money | None = None, budget_tokens: int | None = None, again: bool = False,
        idempotency_key: str | None = None
    ) -> CurriculumReceipt:
        """Save the goal of a subject, by any name, and have a run draw up its map: 202 with the batch.

        The same goal and depth by the same model under the same budget are one batch. With an Idempotency-Key, what is
        sent under it is one batch, also where the goal is mapped again.

        Args:
            goal: What you want to understand or be able to do, in your own words.
            depth: How deeply: overview, practical, expert, or other words. Default: practical.
            model: Model of the runs. Default: CHIRON_MODEL.
            again: Draw a new map, although the goal has one.
        """

    @Request("POST /v1/subjects/{id}/questions", is_repeatable=True)
    def order_questions(
        self, subject: str, *, node_id: Id | None = None, model: str | None = None, budget_usd: Money | None = None,
        budget_tokens: int | None = None, again: bool = False
    ) -> QuestionOrder:
        """Have runs write questions from the facts of a node, or of each node that has facts; it returns at once with the
        batch.

        50 nodes at a time; the same order again continues with the next ones. Once the batch is done, a quiz asks the
        questions.

        Args:
            node_id: Only about this node of the map.
            model: The model that writes the questions. Default: CHIRON_MODEL.
            budget_usd: The most that writing them may cost. It pauses there, and a resume continues it.
            budget_tokens: How many tokens writing them may use.
            again: Write new questions first, although that was tried before.
        """

    @Request("POST /v1/subjects/{id}/recheck")
    def order_recheck(self, subject: str) -> Recheck:
        """Have a worker read the sources of a subject's facts again; the order that is open, if there is one."""

    @Request("POST /v1/subjects/{id}/research", is_repeatable=True)
    def order_research(
        self, subject: str, *, facts_min: int | None = None, topics_max: int | None = None, model: str | None = None,
        budget_usd: Money | None = None, again: bool = False
    ) -> ResearchRound:
        """Have runs research what the map lacks, one a node: 202 with the batch, 200 where none begins. No node has two open
        runs.

        Args:
            facts_min: Accepted facts that a node needs, from two origins. Default: 3.
            topics_max: Nodes that are researched at once. Default: 20.
            model: Model of the runs. Default: CHIRON_MODEL.
            budget_usd: The most that the round may cost. It pauses there, and a resume continues it.
            again: Try nodes again that gained nothing twice.
        """

    @Request("POST /v1/{folder}/{id}/pause")
    def pause(self, batch: BatchRef | None = None, *, run: RunRef | None = None) -> Steering:
        """Put all open runs of a batch aside. A worker finishes the model call it is in."""

    @Request("POST /v1/subscriptions/{id}/pause", is_repeatable=True)
    def pause_subscription(self, subscription: Id | Subscription) -> Subscription:
        """Have a subscription due no more until it is resumed. One that has ended is refused."""

    @Request("POST /v1/webhooks/{id}/pause", is_repeatable=True)
    def pause_webhook(self, webhook: Id | Webhook) -> Webhook:
        """Send a webhook nothing until it is resumed. Deliveries that wait are sent then; events during the pause are not.
        """

    @Request("GET /v1/subjects/{id}/progress", ProgressList)
    def progress(self, subject: str) -> list[NodeProgress]:
        """Your mastery of each node, how many questions it has, and how many of them are due for review."""

    @Request("GET /v1/subjects/{id}/proposals", ProposalList)
    def proposals(self, subject: str, *, state: ProposalState | None = None) -> list[Proposal]:
        """What research has proposed for the map of a subject, newest first, with what was decided and why; 200 at most.

        Args:
            state: Only those in this state. Default: all.
        """

    @Request("GET /v1/quizzes/{id}")
    def quiz(self, quiz: Id | Quiz) -> Quiz:
        """Your quiz: the answers so far with their keys and marks, and the question that comes next."""

    @Request("GET /v1/rechecks/{id}")
    def recheck(self, recheck: Id | Recheck) -> Recheck:
        """A recheck: its state, and what it has found once it is completed."""

    @Request("POST /v1/facts/{id}/reinstate")
    def reinstate(self, fact: FactRef, reason: str | None = None) -> Fact:
        """Take a withdrawal back. The fact as it is now.

        Args:
            reason: Why; it is kept in the fact's history.
        """

    @Request("DELETE /v1/webhooks/{id}")
    def remove_webhook(self, webhook: Id | Webhook) -> None:
        """Remove a webhook with its deliveries."""

    @Request("GET /v1/{folder}/{id}/report?format=json")
    def report(
        self, batch: BatchRef | None = None, *, run: RunRef | None = None, subject: str | None = None,
        candidates: bool = False
    ) -> Report:
        """What the runs of a batch found, with sources.

        Args:
            candidates: Also facts that are not sure enough, marked.
        """

    @Request("GET /v1/{folder}/{id}/report?format=md")
    def report_document(
        self, batch: BatchRef | None = None, *, run: RunRef | None = None, subject: str | None = None,
        format: Literal["md", "html", "json", "docx", "csl-json", "bibtex", "ris"] = "md", candidates: bool = False
    ) -> bytes:
        """What the runs of a batch found, with sources.

        Returns the document in a format, as bytes.

        Args:
            candidates: Also facts that are not sure enough, marked.
        """

    @Request("POST /v1/deliveries/{id}/resend")
    def resend_delivery(self, delivery: Id | Delivery) -> Delivery:
        """Have a worker send a delivery at once, under the same id. It is refused where the webhook is off."""

    @Request("POST /v1/{folder}/{id}/resume")
    def resume(
        self, batch: BatchRef | None = None, *, run: RunRef | None = None, budget_usd: Money | None = None,
        budget_tokens: int | None = None, run_budget_usd: Money | None = None, run_budget_tokens: int | None = None
    ) -> Steering:
        """Continue the paused runs of a batch, with higher budgets where these are spent, and runs that used all their
        turns.

        Args:
            budget_usd: What the batch or the run may cost from now on, in all.
            budget_tokens: Tokens that the batch or the run may use from now on, in all.
            run_budget_usd: What each open run of the batch may cost from now on, in all; runs that may cost more keep
                that.
            run_budget_tokens: Tokens that each open run of the batch may use from now on, in all; runs that may use more
                keep that.
        """

    @Request("POST /v1/journeys/{id}/resume")
    def resume_journey(self, journey: Id | Journey, *, budget_usd: Money | None = None) -> Journey:
        """Have a journey go on that was stopped, paused or failed, and with it what it has paused; 409 where it is under
        way.

        Args:
            budget_usd: The new budget of the whole journey. Default: as before.
        """

    @Request("POST /v1/subscriptions/{id}/resume", is_repeatable=True)
    def resume_subscription(self, subscription: Id | Subscription) -> Subscription:
        """Have a subscription due again at its next time. One that has ended is refused."""

    @Request("POST /v1/webhooks/{id}/resume", is_repeatable=True)
    def resume_webhook(self, webhook: Id | Webhook) -> Webhook:
        """Send to a webhook again that is paused, or off since its deliveries failed."""

    @Request("POST /v1/{folder}/{id}/retry")
    def retry(
        self, batch: BatchRef | None = None, *, run: RunRef | None = None, budget_usd: Money | None = None,
        budget_tokens: int | None = None, from_scratch: bool = False
    ) -> Steering:
        """Try what failed or was cancelled again, from where it ended.

        Args:
            budget_usd: What the batch or the run may cost from now on, in all.
            budget_tokens: Tokens that the batch or the run may use from now on, in all.
            from_scratch: Start over instead of where the run ended; completed runs too. What they stored is kept.
        """

    @Request("DELETE /v1/keys/{name}")
    def revoke_key(self, name: str) -> None:
        """Revoke a key for good. Servers refuse it within five seconds; the runs that it submitted continue."""

    @Pages("GET /v1/{folder}/{id}/rows?format=json", RowList)
    def rows(self, batch: BatchRef | None = None, *, run: RunRef | None = None) -> Iterable[Row]:
        """What the runs of a batch handed in, in the order of its topics: pages of JSON, or one table as CSV or XLSX.

        404 for a batch that was submitted without `columns`.
        """

    @Request("GET /v1/{folder}/{id}/rows?format=csv")
    def rows_document(
        self, batch: BatchRef | None = None, *, run: RunRef | None = None, format: Literal["csv", "xlsx"] = "csv"
    ) -> bytes:
        """What the runs of a batch handed in, in the order of its topics: pages of JSON, or one table as CSV or XLSX.

        404 for a batch that was submitted without `columns`.

        Returns the document in a format, as bytes.
        """

    @Request("GET /v1/runs/{id}")
    def run(self, run: RunRef) -> Run:
        """One run with its answer or its error, and the newest 20 `evaluations` of texts, newest first.

        Of each text the first 2,000 of `text_chars` characters are there.
        """

    @Request("POST /v1/subscriptions/{id}/run", is_repeatable=True)
    def run_subscription(self, subscription: Id | Subscription) -> SubmitReceipt:
        """Start a time of a subscription now, also of a paused one. Its next time stays, and the key that acts pays.

        409 while the batch of the time before is not finished, or if the subscription has ended.
        """

    @Pages("GET /v1/runs", RunList)
    def runs(
        self, batch: BatchRef | None = None, *, state: RunState | None = None, subject: str | None = None,
        nothing_found: bool | None = None, model: str | None = None, owner: str | None = None,
        since: datetime | None = None, topic: str | None = None
    ) -> Iterable[Run]:
        """Runs, newest first, in pages; `next` is null on the last one. Their evaluations are left out.

        Args:
            state: Only runs in this state.
            subject: Only runs of this subject, by its id or its name.
            nothing_found: Those that completed without a fact, or all others.
            model: Only runs of this model.
            owner: Whose batches: the owner of the key that submitted them.
            since: Submitted since then: yesterday, tuesday, 7d, 2h, 2026-03-01 or 2026-03-01T09:30. A word is a time of
                the server's zone.
            topic: Words that are in the topic, in a row.
        """

    @Request("POST /v1/subjects/{id}/goal", is_repeatable=True)
    def save_goal(self, subject: str, purpose_statement: str, *, target_depth: str | None = None) -> Subject:
        """Save the learning goal of a subject; it replaces an earlier one.

        Args:
            target_depth: How deeply it is learnt. Default: as before.
        """

    @Request("POST /v1/runs/{id}/messages")
    def say(self, run: RunRef, text: str) -> RunId:
        """Continue the conversation with a run; 409 if the run was cancelled.

        Args:
            text: What to tell the agent.
        """

    @Request("POST /v1/knowledge/search", is_repeatable=True)
    def search(
        self, query: str, *, top_k: int | None = None, mode: SearchMode | None = None, subject_id: str | None = None,
        min_confidence: float | None = None, candidates: bool = False, topic_path: str | None = None,
        source: str | None = None, since: datetime | None = None, until: datetime | None = None,
        validated_since: datetime | None = None, node_id: str | None = None, neighbours: bool = False
    ) -> FoundFacts:
        """Search what is known, by meaning and by words: the best facts first, each with its source.

        Where embeddings are hosted, the budget of the key pays for that of the query; where it cannot, words alone are
        searched, and `note` says why.

        Args:
            query: What you want to know, in your own words.
            top_k: How many facts at most. Default: 5.
            mode: vector ranks by meaning alone, text by shared words alone, such as names and numbers, hybrid by both.
                Default: hybrid.
            subject_id: Only facts of this subject, by its id or its name. Default: of all.
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

    @Request("POST /v1/webhooks/{id}/test")
    def send_webhook_test(self, webhook: Id | Webhook) -> Delivery:
        """Have a delivery sent that says nothing. A webhook that is off is turned on again; a paused one is refused."""

    @Request("POST /v1/quizzes/{id}/settlements", names={"question": "question_id"})
    def settle_answer(self, quiz: Id | Quiz, question: Id | QuizAnswer, mark: Literal["right", "wrong"]) -> Quiz:
        """The quiz with the answer as its learner settles it; 409 where it is not doubtful.

        Args:
            question: Its answer is doubtful.
            mark: What the learner says.
        """

    @Request("GET /v1/skills", SkillList)
    def skills(self) -> list[Skill]:
        """The skills of the machine that the API runs on."""

    @Request("POST /v1/runs")
    def start(
        self, topic: str, *, subject: str, role: str | None = None, model: str | None = None,
        thinking: ThinkingMode | None = None, effort: Effort | None = None, priority: int | None = None,
        max_turns: int | None = None, budget_usd: Money | None = None, budget_tokens: int | None = None,
        ready_at: datetime | None = None, context: str | None = None, columns: Sequence[str | Column] | None = None,
        idempotency_key: str | None = None
    ) -> RunReceipt:
        """Start a single run, in a batch of its own. The same idempotency key with the same request gives the same run.

        Args:
            context: Background to this topic, in your words. Only its run gets it.
            columns: Columns of the rows that the runs return, such as "name" and "year:int".
        """

    @Request("POST /v1/subjects/{id}/journey", is_repeatable=True)
    def start_journey(
        self, subject: str, goal: str, *, depth: str | None = None, model: str | None = None,
        budget_usd: Money | None = None, facts_min: int | None = None, again: bool = False
    ) -> Journey:
        """Begin to learn a subject, by any name, or have the journey go on that stands still; workers take it from step to
        step.

        Nothing is changed where it is under way to the same goal; it is refused where it is under way to another one.

        Args:
            goal: What you want to understand or be able to do, in your own words.
            depth: How deeply: overview, practical, expert, or other words. Default: practical.
            model: Model of the runs. Default: CHIRON_MODEL.
            budget_usd: The most that the whole journey may cost. It pauses there, and a resume continues it.
            facts_min: Accepted facts that a node needs, from two origins. Default: 3.
            again: Draw a new map of the goal, and research nodes again that gained no facts.
        """

    @Request("POST /v1/quizzes", is_repeatable=True)
    def start_quiz(self, subject: str, *, node_id: Id | None = None, count: int | None = None) -> Quiz:
        """Your open quiz, or a new one: 201. 409 where no questions are stored yet.

        Args:
            subject: The subject, by its id or its name.
            node_id: Only questions about this node of its map.
            count: How many questions a new quiz has at most. Default: 3.
        """

    @Request("POST /v1/journeys/{id}/stop")
    def stop_journey(self, journey: Id | Journey) -> Journey:
        """Stop a journey and cancel what it has under way; what was found and learnt stays. 409 where it stands still."""

    @Request("GET /v1/subjects/{id}")
    def subject(self, subject: str) -> SubjectDetails:
        """A subject with its learning goal, how many facts it has, and its coverage map."""

    @Pages("GET /v1/subjects/{id}/facts", FactList)
    def subject_facts(self, subject: str, *, status: FactStatus | None = None) -> Iterable[ListedFact]:
        """Facts, newest first, in pages; those that are accepted or disputed unless a status is named."""

    @Request("GET /v1/subjects", SubjectList)
    def subjects(self) -> list[Subject]:
        """Every subject with its learning goal, by name."""

    @Request("POST /v1/batches")
    def submit(
        self, topics: Sequence[str | Topic], *, subject: str, name: str | None = None, role: str | None = None,
        model: str | None = None, thinking: ThinkingMode | None = None, effort: Effort | None = None,
        priority: int | None = None, max_turns: int | None = None, budget_usd: Money | None = None,
        budget_tokens: int | None = None, run_budget_usd: Money | None = None, run_budget_tokens: int | None = None,
        concurrency: int | None = None, ready_at: datetime | None = None, columns: Sequence[str | Column] | None = None,
        context: str | None = None, idempotency_key: str | None = None
    ) -> SubmitReceipt:
        """Start research that takes minutes to hours: a run for each topic finds sources and stores facts.

        The answer comes at once; facts are found by searches as they come. The same idempotency key with the same request
        gives the same batch, and starts nothing twice.

        Args:
            topics: What to find out: a question or topic for each run, as text or with options of its own.
            subject: Subject the facts belong to; any name.
            name: Name of the batch. Default: from its topics.
            role: Which agent works on the topics: one of Chiron, or of CHIRON_ROLES. Default: research.
            model: Model of the runs. Default: CHIRON_MODEL.
            thinking: How the model thinks. Default: CHIRON_THINKING.
            effort: How much effort the model makes. Default: CHIRON_EFFORT.
            priority: Higher goes first.
            max_turns: Model replies a run may take. Default: CHIRON_MAX_TURNS.
            budget_usd: What the whole batch may cost; it pauses there.
            budget_tokens: Tokens that the whole batch may use.
            run_budget_usd: What each run may cost. Default: CHIRON_RUN_BUDGET_USD.
            run_budget_tokens: Tokens that each run may use.
            concurrency: Runs of the batch that play at once, at most. Default: no limit.
            ready_at: When the runs may start, a time such as 2026-03-01T09:30Z. Default: now.
            columns: Columns of the rows that the runs return, such as "name" and "year:int".
            context: Background to each topic that has no context of its own; its run gets it.
        """

    @Request("POST /v1/subscriptions", is_repeatable=True)
    def subscribe(
        self, topics: Sequence[str], *, subject: str, cron: str, time_zone: str | None = None, role: str | None = None,
        model: str | None = None, budget_usd: Money | None = None, ends_at: datetime | None = None,
        context: str | None = None, recheck: bool = False
    ) -> Subscription:
        """Have topics researched at each time of `cron`. Where there is a subscription that equals it, that is the answer.

        409 if the subject has as many active ones as it may have, or if the one that is there has another model, budget,
        end or `recheck`.

        Args:
            topics: What to research each time.
            subject: Subject the facts belong to; any name.
            cron: When: minute, hour, day, month, weekday. "0 9 * * MON" is each Monday at 9:00.
            time_zone: Whose clock that is, such as Europe/Berlin. Default: UTC.
            role: Which agent works on the topics: one of Chiron, or of CHIRON_ROLES. Default: research.
            model: Model of the runs. Default: CHIRON_MODEL.
            budget_usd: What all topics together may cost each time. Default, and most: CHIRON_RUN_BUDGET_USD.
            ends_at: When it ends, such as 2026-12-31. Default: never.
            context: Background to the topics, in your words; each of their runs gets it.
            recheck: Also read the sources of the subject's facts again each time.
        """

    @Request("GET /v1/subscriptions/{id}")
    def subscription(self, subscription: Id | Subscription) -> Subscription:
        """When it is due next, what it started last, and why it is paused or passed a time over."""

    @Request("GET /v1/subscriptions/{id}/times", SubscriptionTimeList)
    def subscription_times(self, subscription: Id | Subscription, *, limit: int | None = None) -> list[SubscriptionTime]:
        """What each of its last occurrences changed, latest first.

        Args:
            limit: Times at most, the latest first. Default: 10.
        """

    @Pages("GET /v1/subscriptions", SubscriptionList)
    def subscriptions(self, subject: str | None = None) -> Iterable[Subscription]:
        """Subscriptions, newest first, in pages; `next` is null on the last one.

        Args:
            subject: Only those of this subject.
        """

    @Request("GET /v1/runs/{id}/timeline")
    def timeline(
        self, run: RunRef, *, rows: int | None = None, first: int | None = None, last: int | None = None
    ) -> RunTimeline:
        """The turns of a run, each with its time in the model, in tools and in waiting, its tokens and its cost.

        Where there are more turns than `rows`, neighbours are folded into one row.

        Args:
            rows: Default: 100.
            first: Default: 1.
            last: Default: 2147483647.
        """

    @Request("GET /v1/tools", ToolList)
    def tools(self) -> list[Tool]:
        """The tools that agents are offered, in the form that the Messages API takes."""

    @Request("GET /v1/webhooks/{id}")
    def webhook(self, webhook: Id | Webhook) -> Webhook:
        """A webhook without its secret, and why it is off if it is."""

    @Pages("GET /v1/webhooks", WebhookList)
    def webhooks(self) -> Iterable[Webhook]:
        """Webhooks, newest first, in pages; `next` is null on the last one."""

    @Request("POST /v1/facts/{id}/withdraw")
    def withdraw(self, fact: FactRef, reason: str | None = None) -> Fact:
        """Withdraw a fact: no search finds it, and it counts for and against nothing. The fact as it is now.

        Args:
            reason: Why; it is kept in the fact's history.
        """

    @Request("POST /v1/subjects/{id}/lessons", is_repeatable=True)
    def write_lesson(
        self, subject: str, node: str, *, model: str | None = None, budget_usd: Money | None = None,
        budget_tokens: int | None = None, again: bool = False
    ) -> WritingReceipt:
        """Have a run write a lesson on a node of a subject's map, from stored facts alone.

        It answers at once; once the batch has ended, the lessons of the subject have it. `is_new` is false where the same
        facts were taught from before.

        Args:
            node: The node of the map, by its title or its id.
            model: The model that writes. Default: CHIRON_MODEL.
            budget_usd: The most that the writing may cost. It pauses there, and a resume continues it.
            budget_tokens: How many tokens the writing may use.
            again: Write it again; the present lesson is kept as a version.
        """

    @Request("POST /v1/{folder}/{id}/report", is_repeatable=True)
    def write_report(
        self, batch: BatchRef | None = None, *, run: RunRef | None = None, subject: str | None = None,
        model: str | None = None, budget_usd: Money | None = None, budget_tokens: int | None = None, again: bool = False
    ) -> WritingReceipt:
        """Have a run write an answer from the facts of a batch. `is_new` is false where that was done before.

        Args:
            model: The model that writes. Default: CHIRON_MODEL.
            budget_usd: The most that the writing may cost. It pauses there, and a resume continues it.
            budget_tokens: How many tokens the writing may use.
            again: Write it again, although the facts are the same as the last time.
        """
