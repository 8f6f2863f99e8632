"""Batches and runs."""

from datetime import datetime
from uuid import UUID

from chiron_api.answers.basics import Answer, Failure, Hold, Receipt, RunState, Usage, Usd
from chiron_api.answers.differences import Difference


class StopReason(Answer):
    """Why runs of a batch failed or paused, and how many: `message` is that of one of them."""

    state: RunState
    kind: str | None
    message: str | None
    runs: int


class Batch(Usage):
    """A batch with the sums of its runs, `runs` by state.

    `facts` are those stored first by its runs; `confirmed` counts how often they met one that was there. `reserved_usd` is
    what calls in flight may cost, `pruned` counts the runs whose journal is gone, `silent` those that found nothing new.
    `held` are its models that are held. Of a batch that a subscription started, once it is finished, `difference` says
    what it has brought.
    """

    id: UUID
    name: str
    subject_id: str
    state: RunState
    runs: dict[RunState, int]
    facts: int
    confirmed: int
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
    """A run: `answer` is null until it has completed once, `error` unless it failed; what was pruned has no journal."""

    id: UUID
    batch_id: UUID
    role: str
    subject_id: str
    topic: str
    model: str
    state: RunState
    attempt: int
    turns: int
    facts: int
    confirmed: int
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


class RunList(Answer):
    """A page of runs, newest first; `next` is the `after` of the next page, null on the last."""

    items: list[Run]
    next: UUID | None


class RunResult(Usage):
    """A run as far as it has come: a line of the results of a batch."""

    id: UUID
    batch_id: UUID
    topic: str
    role: str
    subject_id: str
    state: RunState
    answer: str | None
    silent: bool
    error: Failure | None
    facts: int
    confirmed: int
    finished_at: datetime | None


class RunId(Answer):
    """The run that got a message; `is_woken` if it had ended and was restarted; a running one reads the message next."""

    run_id: UUID
    is_woken: bool


class RunReceipt(Answer):
    """The run that was stored, and its batch, which has no other."""

    batch_id: UUID
    run_id: UUID


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
