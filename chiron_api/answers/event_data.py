"""What each kind of event says."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from chiron_api.answers.basics import Answer, RunState, Usage, Usd
from chiron_api.answers.facts import FactStatus, QuoteState, Verdict


class EventData(Answer):
    """What an event says; a field is left out where it has nothing to say."""


class RunQueuedData(EventData):
    """A run that waits for a worker."""

    role: str
    topic: str
    reason: str | None = None
    continued: bool = False


class RunStartedData(EventData):
    """A worker that plays the run."""

    worker: str
    attempt: int


class ModelThoughtData(EventData):
    """What the model shows of its thinking."""

    turn: int
    text: str


class ReportedCostData(EventData):
    """What a server reports for a call, where that is more than was charged."""

    usd: Usd | None
    tokens: int


class ModelRepliedData(EventData):
    """A reply of the model, with what it used."""

    turn: int
    stop: str
    input_tokens: int
    output_tokens: int
    cache_write_tokens: int
    cache_read_tokens: int
    cost_usd: Usd | None
    text: str
    waited_ms: int | None = None
    folds: bool = False
    usage_unknown: bool = False
    reported: ReportedCostData | None = None


class ToolCalledData(EventData):
    """A call that the model makes."""

    call_id: str
    name: str
    arguments: dict[str, Any]


class ToolReturnedData(EventData):
    """What came of a call."""

    call_id: str
    name: str
    is_error: bool
    ms: int
    chars: int
    error: str | None = None
    confirmed: int = 0
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    cost_usd: Usd | None = None
    service_calls: int = 0
    services_usd: Usd | None = None


class FactStoredData(EventData):
    """A fact that the run stored."""

    fact_id: UUID
    content: str
    source_url: str
    confidence: float
    topic_path: str
    status: FactStatus
    quote_state: QuoteState
    verdict: Verdict
    contradicts: list[UUID]


class NodeSavedData(EventData):
    """A node of the coverage map."""

    status: Literal["saved", "updated"]
    node_id: str
    subject_id: str
    title: str
    depth: int
    is_goal_critical: bool


class EventRemedy(Answer):
    """A remedy: an action, its target (empty for the run) and its arguments."""

    action: str
    noun: str
    target: str = ""
    arguments: dict[str, str] = Field(default_factory=dict)


class StopData(EventData):
    """Why it stopped."""

    reason: str | None = None


class PauseData(StopData):
    """Why it paused, and what helps."""

    remedies: list[EventRemedy] = Field(default_factory=list)


class RunHandedBackData(EventData):
    """A run that another worker takes up, or the same one later."""

    reason: str
    worker: str | None = None
    waits_for: str | None = None
    ready_in_s: float | None = None


class RunCompletedData(EventData):
    """The end of a run that has an answer."""

    answer: str
    silent: bool = False
    cited: int = 0
    nothing_found: bool = False


class RunFailedData(EventData):
    """The end of a run that failed."""

    kind: str
    message: str
    remedies: list[EventRemedy] = Field(default_factory=list)


class BatchCompletedData(EventData):
    """The end of a batch."""

    runs: dict[RunState, int]
    silent: int
    nothing_found: int = 0


class TextDeltaData(EventData):
    """Words of a reply as they come; published only, never stored."""

    text: str


class SnapshotData(Usage):
    """Where a stream begins: `runs` by state, `events` that there are so far, and those `left_out` before the next one."""

    runs: dict[RunState, int]
    facts: int
    confirmed: int
    cited: int
    nothing_found: int
    turns: int
    reserved_usd: Usd
    started_at: datetime | None
    events: int
    left_out: int
