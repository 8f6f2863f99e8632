"""Journeys: where a learner stands on the way through a subject."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from chiron_api.answers.basics import Answer, Usd

JourneyState = Literal[
    "idle",
    "initializing",
    "researching",
    "assessing",
    "generating_lesson",
    "delivering_lesson",
    "exercising",
]
JourneyEvent = Literal[
    "started",
    "mapped",
    "round_ended",
    "researched",
    "questions_written",
    "lesson_written",
    "lesson_stale",
    "lesson_read",
    "quiz_finished",
    "mastered",
    "review_due",
    "paused",
    "run_failed",
    "nothing_found",
    "node_skipped",
    "cancelled",
    "resumed",
]


class WayNode(Answer):
    """A node on the way to the goal, in the order of teaching, with the learner's mastery of it, 0 to 1."""

    node_id: UUID
    title: str
    mastery: float
    is_mastered: bool


class JourneyMove(Answer):
    """A move of a journey: the event, and the state it led to."""

    step: int
    event: JourneyEvent
    state: JourneyState
    at: datetime


class Journey(Answer):
    """A journey of its learner: its state since `since`, the event that led there, and what comes next as a sentence.

    `batches` are what it waits for, `way` what the goal needs, `moves` its last moves, the newest first. `held_state` is where
    an idle one goes on. `quiz_id` is the quiz that waits in the state exercising.
    """

    journey_id: UUID
    subject_id: str
    goal: str
    depth: str
    state: JourneyState
    event: JourneyEvent
    reason: str
    held_state: JourneyState | None
    since: datetime
    node_id: UUID | None
    node: str | None
    quiz_id: UUID | None
    batches: list[UUID]
    model: str
    spent_usd: Usd
    budget_usd: Usd | None
    way: list[WayNode]
    next_review_at: datetime | None
    next_step: str
    created_at: datetime
    moves: list[JourneyMove]


class JourneyList(Answer):
    """The journeys of a learner, the one that moved last first; 100 at most."""

    items: list[Journey]
