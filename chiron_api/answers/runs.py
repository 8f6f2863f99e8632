"""Batches and runs."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from chiron_api.answers.basics import Answer, Failure, Hold, Receipt, Remedy, RunState, Usage, Usd
from chiron_api.answers.differences import Difference


class StopReason(Answer):
    """Why runs of a batch failed or paused, and how many: `message` is that of one of them, `remedies` help all of them."""

    state: RunState
    kind: str | None
    message: str | None
    runs: int
    remedies: list[Remedy] = Field(default_factory=list)


class CostToFinish(Answer):
    """The budget in all that lets what is open finish, of the batch or run `target`, and what that amount rests on.

    `usd` and `tokens` are null where no such budget binds it. `run_usd` and `run_tokens` are what each open run of a batch
    needs of its own, where runs met their own budgets. It rests on what `similar_runs` completed runs have cost together,
    of the same role and model: `basis` says whether of the same `subject`, too, or of all of that `model`; `assumption` where
    none has completed.
    """

    target: UUID
    budget: Literal["batch", "run"]
    open_runs: int
    usd: Usd | None
    tokens: int | None
    basis: Literal["subject", "model", "assumption"]
    similar_runs: int
    similar_usd: Usd | None
    similar_tokens: int
    run_usd: Usd | None = None
    run_tokens: int | None = None
    words: str


class Batch(Usage):
    """A batch with the sums of its runs, `runs` by state.

    `facts` are those stored first by its runs; `confirmed` counts how often they met one that was there, `cited` how often
    they cite a further one, and `nothing_found` the runs that completed without any of these. `reserved_usd` is
    what calls in flight may cost, `pruned` counts the runs whose journal is gone, `silent` those that found nothing new.
    `held` are its models that are held. Of a batch that a subscription started, once it is finished, `difference` says
    what it has brought. Where runs of it have paused at its budget, `cost_to_finish` says which budget lets them finish.
    """

    id: UUID
    name: str
    subject_id: str
    state: RunState
    runs: dict[RunState, int]
    facts: int
    confirmed: int
    cited: int
    nothing_found: int
    turns: int
    budget_usd: Usd | None
    budget_tokens: int | None
    reserved_usd: Usd
    concurrency: int | None
    created_at: datetime
    ready_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    pruned: int
    silent: int
    held: list[Hold]
    reasons: list[StopReason]
    difference: Difference | None = None
    cost_to_finish: CostToFinish | None = None


class BatchList(Answer):
    """A page of batches, newest first; `next` is the `after` of the next page, null on the last."""

    items: list[Batch]
    next: UUID | None


class Score(Answer):
    """How a text does by one criterion, 1 to 5, with the words that the score rests on."""

    criterion: str
    weight: float
    score: int
    reason: str
    quote: str


class Evaluation(Answer):
    """A text that a run had judged: `overall` is the mean of its scores by weight, `text` its first 2,000 characters."""

    id: UUID
    at: datetime
    model: str
    question: str
    text: str
    text_chars: int
    overall: float
    scores: list[Score]


class Run(Usage):
    """A run: `answer` is null until it has completed once, `error` unless it failed; what was pruned has no journal.

    `number` is its place among the topics of its batch, from 1, and never changes. `facts` it stored first, `confirmed` and
    `cited` count others that it found again and cites; `nothing_found` is true where it completed without any. Where it has
    paused at a budget, its own or its batch's, `cost_to_finish` says which budget lets it finish.
    """

    id: UUID
    batch_id: UUID
    number: int
    role: str
    subject_id: str
    topic: str
    context: str | None
    model: str
    state: RunState
    attempt: int
    turns: int
    facts: int
    confirmed: int
    cited: int
    nothing_found: bool
    budget_usd: Usd | None
    budget_tokens: int | None
    reserved_usd: Usd
    error: Failure | None
    answer: str | None
    ready_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    pruned_at: datetime | None
    silent: bool
    held: Hold | None
    evaluations: list[Evaluation]
    cost_to_finish: CostToFinish | None = None


class RunList(Answer):
    """A page of runs, newest first; `next` is the `after` of the next page, null on the last."""

    items: list[Run]
    next: UUID | None


class Waits(Answer):
    """Seconds that a run waited.

    `queue_s` for a worker; `cooldown_s` for the model: rate limits, cool-downs, tries that failed, money that other calls had
    reserved; `pause_s` while it was paused; `handover_s` for another worker, after the one before handed it back or was lost.
    """

    queue_s: float
    cooldown_s: float
    pause_s: float
    handover_s: float


class TimedCall(Answer):
    """A call of a tool: it began `after_s` its turn's reply, and took `seconds`."""

    call_id: str
    name: str
    is_error: bool
    after_s: float
    seconds: float


class TimedTurns(Answer):
    """The turns of a run from `first_turn` to `last_turn`, with sums of their times, tokens and costs.

    Turns count from 1 through all attempts; the last may have no reply yet. `seq` is the event of the last reply, and `at` when
    the first turn began, with what it waited for. Calls that ran side by side count once in `tools_s`. `context_tokens` is the
    most that a request and its reply had together. `cost_usd` includes what tools asked models and services, and is null where
    a price is not known. Of a single turn, `calls` are the twelve that took longest.
    """

    first_turn: int
    last_turn: int
    replies: int
    seq: int | None
    at: datetime
    model_s: float
    tools_s: float
    waits: Waits
    input_tokens: int
    output_tokens: int
    cache_write_tokens: int
    cache_read_tokens: int
    context_tokens: int
    cost_usd: Usd | None
    tool_calls: int
    tool_errors: int
    calls: list[TimedCall] = Field(default_factory=list)


class UnderWay(Answer):
    """What a run does now, and since when; no sum has it yet. `tools` are the names of the tools that run."""

    activity: Literal["model", "tools", "queue", "cooldown", "pause", "handover"]
    since: datetime
    tools: list[str]


class RunTimeline(Answer):
    """Where the time of a run went: its turns in their order, `fold` of them in each of `steps`, and the sums of all in `total`.

    `window_tokens` are those of the model's context window, as its setting says; 200,000 without one. Of a run that was pruned,
    or has not begun, there are no steps, and `total` is null.
    """

    run_id: UUID
    window_tokens: int
    fold: int
    steps: list[TimedTurns]
    total: TimedTurns | None
    under_way: UnderWay | None


class RunResult(Usage):
    """A run as far as it has come: a line of the results of a batch."""

    id: UUID
    batch_id: UUID
    number: int
    topic: str
    context: str | None
    role: str
    subject_id: str
    state: RunState
    answer: str | None
    silent: bool
    error: Failure | None
    facts: int
    confirmed: int
    cited: int
    nothing_found: bool
    finished_at: datetime | None


class RunId(Answer):
    """The run that got a message; `is_woken` if it had ended and was restarted; a running one reads the message next."""

    run_id: UUID
    is_woken: bool


class SimilarSubject(Answer):
    """A subject whose name is near to that of a new one."""

    subject_id: str
    documents: int


class NewSubject(Answer):
    """A subject that there was not before; it has no documents, and may be a misspelling of one of `similar`."""

    subject_id: str
    similar: list[SimilarSubject]


class RepeatedTopic(Answer):
    """A topic that a batch has more than once; `numbers` are its places there, from 1."""

    topic: str
    numbers: list[int]


class EarlierAnswer(Answer):
    """A topic of a batch by its number, and a run that has answered it, or a similar one, in its subject before.

    `earlier_topic` is how that one reads, `run_number` the number of the run in its batch, whose name is `batch`.
    """

    number: int
    topic: str
    earlier_topic: str
    run_id: UUID
    run_number: int
    batch_id: UUID
    batch: str
    finished_at: datetime


class SubmitReceipt(Receipt):
    """What was stored: a batch and its runs, in the order of its topics, which is that of their numbers.

    What else there is to know of it comes with it, each list with its first 100: `new_subjects` that it has made,
    `repetitions` of topics in it, `earlier_answers` to topics in their subject, and `similar_answers` to similar ones.
    `warnings` say it in sentences. The same key gets the same receipt.
    """

    new_subjects: list[NewSubject] = Field(default_factory=list)
    repetitions: list[RepeatedTopic] = Field(default_factory=list)
    earlier_answers: list[EarlierAnswer] = Field(default_factory=list)
    similar_answers: list[EarlierAnswer] = Field(default_factory=list)


class RunReceipt(Answer):
    """The run that was stored, and its batch, which has no other; the rest as a batch's receipt has it."""

    batch_id: UUID
    run_id: UUID
    warnings: list[str] = Field(default_factory=list)
    new_subjects: list[NewSubject] = Field(default_factory=list)
    earlier_answers: list[EarlierAnswer] = Field(default_factory=list)
    similar_answers: list[EarlierAnswer] = Field(default_factory=list)


class Steering(Answer):
    """What a command came to: `changed` runs stopped or go on at once, `asked` are those that a worker plays.

    `lifted` names the models that were held and are tried again.
    """

    changed: int
    asked: int
    lifted: list[str]


class WritingReceipt(Receipt):
    """The batch whose run writes; `is_new` is false where that was ordered before, from the same facts."""

    is_new: bool
