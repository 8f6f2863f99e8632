"""Runs: start one, list them and show them, say something to one."""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from pydantic import Field

from chiron_api.acts.act import Noun
from chiron_api.acts.batches import (
    COLUMN_WORDS,
    PRECEDENTS,
    BatchRequest,
    Columns,
    TopicRequest,
    submit_batch,
)
from chiron_api.acts.inputs import Input, Moment, Name, Page
from chiron_api.acts.moments import Side
from chiron_api.acts.remedies import with_remedies
from chiron_api.acts.research import BATCH, RUN
from chiron_api.answers.runs import Run, RunId, RunList, RunReceipt, RunTimeline
from chiron_api.services import Services
from chiron_workers.batches.summaries import RunFilter, newest_runs, run_summary
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.runs.leases import MESSAGE_CHARS, say
from chiron_workers.states import RunState

RUNS = Noun("Runs", RUN)
WORDS_CHARS_MAX = 200
TURNS_MAX = 2**31 - 1


class RunRequest(TopicRequest):
    """A topic to research in a run of its own."""

    subject: Name
    columns: Annotated[Columns | None, Field(description=COLUMN_WORDS)] = None


class RunPage(Page):
    """A page of the runs; each filter that is named narrows it."""

    batch: Annotated[UUID | None, BATCH] = None
    state: Annotated[RunState | None, Field(description="Only runs in this state.")] = None
    subject: Annotated[
        Name | None, Field(description="Only runs of this subject, by its id or its name.")
    ] = None
    nothing_found: Annotated[
        bool | None, Field(description="Those that completed without a fact, or all others.")
    ] = None
    model: Annotated[Name | None, Field(description="Only runs of this model.")] = None
    owner: Annotated[
        Name | None, Field(description="Whose batches: the owner of the key that submitted them.")
    ] = None
    since: Annotated[
        Moment | None,
        Field(description=f"Submitted since then: {Side.PAST.forms}. A word is a time of the server's zone."),
    ] = None
    topic: Annotated[
        str | None,
        Field(min_length=1, max_length=WORDS_CHARS_MAX, description="Words that are in the topic, in a row."),
    ] = None

    def filter_for(self, owner: str | None) -> RunFilter:
        """The filter for a caller who sees the batches of `owner`; None: of all."""
        return RunFilter(
            batch_id=self.batch,
            state=self.state,
            subject_id=slug(self.subject) if self.subject else None,
            owner=owner,
            nothing_found=self.nothing_found,
            model=self.model,
            owner_name=self.owner,
            since=self.since,
            topic=self.topic,
        )


class Turns(Input):
    """Which turns of a run, and in how many rows at most."""

    rows: Annotated[int, Field(ge=1, le=200)] = 100
    first: Annotated[int, Field(ge=1, le=TURNS_MAX)] = 1
    last: Annotated[int, Field(ge=1, le=TURNS_MAX)] = TURNS_MAX


class Message(Input):
    """Words for a run."""

    text: Annotated[str, Field(min_length=1, max_length=MESSAGE_CHARS, description="What to tell the agent.")]


@RUNS.act(
    "runs.submit",
    "POST /v1/runs",
    "Start a run",
    client="start",
    status=HTTPStatus.ACCEPTED,
    location="/v1/runs/{run_id}",
    problems=(HTTPStatus.PAYMENT_REQUIRED,),
    costs_money=True,
)
async def start_run(services: Services, body: RunRequest, idempotency_key: str | None = None) -> RunReceipt:
    """Start a single run, in a batch of its own. The same idempotency key with the same request gives the same run."""
    batch = BatchRequest(topics=[body], subject=body.subject, columns=body.columns)
    receipt = (await submit_batch(services, batch, idempotency_key)).answer
    notes = {name: entries for name in ("warnings", *PRECEDENTS) if (entries := getattr(receipt, name))}
    return RunReceipt(batch_id=receipt.batch_id, run_id=receipt.run_ids[0], **notes)


@RUNS.act("runs.list", "GET /v1/runs", "List the runs", client="runs", faces=("GET /runs", "GET /live/runs"))
async def list_runs(services: Services, page: RunPage) -> RunList:
    """Runs, newest first, in pages; `next` is null on the last one. Their evaluations are left out."""
    which = page.filter_for(services.principal.visible_owner)
    runs = await newest_runs(services.pool, which, limit=page.limit + 1, before=page.after)
    return RunList.model_validate(page.of([with_remedies(run) for run in runs]))


@RUNS.act(
    "runs.read",
    "GET /v1/runs/{id}",
    "Show a run",
    client="run",
    faces=(
        "GET /runs/{id}",
        "GET /v1/runs/{id}/events",
        "GET /runs/{id}/live",
        "GET /runs/{id}/calls/{call_id}",
        "GET /runs/{id}/calls/{call_id}/result",
        "mcp get_run",
        "resource chiron://runs/{id}",
    ),
    problems=(HTTPStatus.NOT_FOUND,),
    is_owned=True,
)
async def show_run(services: Services, id: UUID) -> Run:
    """One run with its answer or its error, and the newest 20 `evaluations` of texts, newest first.

    Of each text the first 2,000 of `text_chars` characters are there.
    """
    from chiron_api.views.batches import cost_to_finish_of, summary_fields  # which showing help does without

    run = await run_summary(services.pool, id)
    cost = await cost_to_finish_of(services.pool, run)
    return Run.model_validate(summary_fields(with_remedies(run, cost), cost_to_finish=cost))


@RUNS.act(
    "runs.timeline",
    "GET /v1/runs/{id}/timeline",
    "Show where the time of a run went",
    client="timeline",
    problems=(HTTPStatus.NOT_FOUND,),
    is_owned=True,
)
async def show_timeline(services: Services, id: UUID, turns: Turns) -> RunTimeline:
    """The turns of a run, each with its time in the model, in tools and in waiting, its tokens and its cost.

    Where there are more turns than `rows`, neighbours are folded into one row.
    """
    from chiron_workers.estimates.first_calls import context_tokens_of
    from chiron_workers.runs.timeline import load_timeline

    run = await run_summary(services.pool, id)
    is_over = run.state.is_final
    options = {"rows": turns.rows, "first": turns.first, "last": turns.last}
    timeline = await load_timeline(services.pool, id, is_over=is_over, **options)
    fields = {
        "run_id": id,
        "window_tokens": context_tokens_of(run.model),
        "fold": timeline.fold,
        "steps": timeline.steps,
        "total": timeline.total,
        "under_way": timeline.under_way,
    }
    return RunTimeline.model_validate(fields)


@RUNS.act(
    "runs.say",
    "POST /v1/runs/{id}/messages",
    "Say something to a run",
    client="say",
    faces=("POST /runs/{id}/say",),
    status=HTTPStatus.ACCEPTED,
    location="/v1/runs/{id}",
    problems=(HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
    is_owned=True,
    costs_money=True,
)
async def send_message(services: Services, id: UUID, message: Message) -> RunId:
    """Continue the conversation with a run; 409 if the run was cancelled."""
    is_woken = await say(services.pool, id, message.text, principal=services.principal)
    if is_woken:
        await services.notify(id)
    return RunId(run_id=id, is_woken=is_woken)
