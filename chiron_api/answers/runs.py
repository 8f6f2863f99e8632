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
