"""The events of runs: a class for each kind."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, TypeAdapter

from chiron_api.answers.basics import Answer
from chiron_api.answers.event_data import (
    BatchCompletedData,
    FactStoredData,
    ModelRepliedData,
    ModelThoughtData,
    NodeSavedData,
    PauseData,
    RunCompletedData,
    RunFailedData,
    RunHandedBackData,
    RunQueuedData,
    RunStartedData,
    SnapshotData,
    StopData,
    TextDeltaData,
    ToolCalledData,
    ToolReturnedData,
)


class Event(Answer):
    """Something that happened to a run. `seq` counts the events of the run from 1 without a gap."""

    batch_id: UUID
    run_id: UUID
    seq: int | None
    at: datetime


class RunQueued(Event):
    """A run waits for a worker."""

    kind: Literal["run.queued"]
    data: RunQueuedData


class RunStarted(Event):
    """A worker plays a run."""

    kind: Literal["run.started"]
    data: RunStartedData


class RunResumed(Event):
    """A worker goes on with a run."""

    kind: Literal["run.resumed"]
    data: RunStartedData


class ModelThought(Event):
    """The model thought."""

    kind: Literal["model.thought"]
    data: ModelThoughtData


class ModelReplied(Event):
    """The model replied."""

    kind: Literal["model.replied"]
    data: ModelRepliedData


class ToolCalled(Event):
    """The model called a tool."""

    kind: Literal["tool.called"]
    data: ToolCalledData


class ToolReturned(Event):
    """A tool gave back something."""

    kind: Literal["tool.returned"]
    data: ToolReturnedData


class FactStored(Event):
    """A fact was stored."""

    kind: Literal["fact.stored"]
    data: FactStoredData


class NodeSaved(Event):
    """A node of the coverage map was saved."""

    kind: Literal["node.saved"]
    data: NodeSavedData


class RunPaused(Event):
    """A run was put aside."""

    kind: Literal["run.paused"]
    data: PauseData


class RunHandedBack(Event):
    """A run was put back into the queue."""

    kind: Literal["run.handed_back"]
    data: RunHandedBackData


class RunCompleted(Event):
    """A run has its answer."""

    kind: Literal["run.completed"]
    data: RunCompletedData


class RunFailed(Event):
    """A run failed."""

    kind: Literal["run.failed"]
    data: RunFailedData


class RunCancelled(Event):
    """A run was cancelled."""

    kind: Literal["run.cancelled"]
    data: StopData


class BatchCompleted(Event):
    """Nothing of a batch is open any more."""

    kind: Literal["batch.completed"]
    data: BatchCompletedData


class BudgetReached(Event):
    """A budget is spent."""

    kind: Literal["budget.reached"]
    data: StopData


class TextDelta(Event):
    """Words of a reply."""

    kind: Literal["text.delta"]
    data: TextDeltaData


class Snapshot(Answer):
    """What a batch, or a run, had come to when a stream began: of a batch `run_id` is null. `seq` always is."""

    batch_id: UUID | None
    run_id: UUID | None
    seq: None
    at: datetime
    kind: Literal["snapshot"]
    data: SnapshotData


AnyEvent = Annotated[
    RunQueued
    | RunStarted
    | RunResumed
    | ModelThought
    | ModelReplied
    | ToolCalled
    | ToolReturned
    | FactStored
    | NodeSaved
    | RunPaused
    | RunHandedBack
    | RunCompleted
    | RunFailed
    | RunCancelled
    | BatchCompleted
    | BudgetReached
    | TextDelta
    | Snapshot,
    Field(discriminator="kind"),
]
ANY_EVENT: TypeAdapter[AnyEvent] = TypeAdapter(AnyEvent)
