"""What prompts say of a run, whether it is played or only estimated."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from chiron_workers.runs.columns import Column


class Assignment(Protocol):
    """The parts of a run that its prompts use."""

    @property
    def role(self) -> str:
        """The name of its role."""

    @property
    def subject_id(self) -> str:
        """The slug of its subject."""

    @property
    def subject(self) -> str:
        """The title of its subject."""

    @property
    def topic(self) -> str:
        """Its question."""

    @property
    def context(self) -> str | None:
        """The user's background to the topic."""

    @property
    def columns(self) -> Sequence[Column]:
        """Those of the rows that it hands in; none: it answers in words alone."""

    @property
    def subscription_id(self) -> UUID | None:
        """The subscription that started it."""

    @property
    def since(self) -> datetime | None:
        """When that subscription last looked into the topic."""

    @property
    def found_before(self) -> str | None:
        """The answer of the run before it."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run that is not submitted yet."""

    role: str
    subject_id: str
    subject: str
    topic: str
    columns: tuple[Column, ...] = ()
    subscription_id: UUID | None = None
    since: datetime | None = None
    found_before: str | None = None
    context: str | None = None
