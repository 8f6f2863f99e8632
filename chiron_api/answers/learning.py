"""Learning: coverage maps, what is proposed for them, rounds of research, and what a learner knows."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal
from uuid import UUID

from chiron_api.answers.basics import Answer
from chiron_api.answers.runs import WritingReceipt

ProposalState = Literal["open", "accepted", "rejected"]


class CurriculumReceipt(WritingReceipt):
    """The batch with the run that maps a goal; `is_new` is false where the same goal was mapped before."""

    subject_id: str


class MapNode(Answer):
    """A node of a coverage map with those below it; `prerequisites` are ids of the nodes to know first."""

    node_id: UUID
    subject_id: str
    title: str
    description: str
    parent_id: UUID | None
    depth: int
    is_goal_critical: bool
    prerequisites: list[UUID]
    shared_with_subjects: list[str]
    children: list["MapNode"]


class CoverageMap(Answer):
    """The nodes of a subject, nested, how many facts belong to each, by its id, and those that gained nothing twice.

    `is_cut` where there are more than the 2,000 that are read.
    """

    subject_id: str
    tops: list[MapNode]
    facts: Mapping[UUID, int]
    exhausted_ids: list[UUID]
    is_cut: bool


class NodeProgress(Answer):
    """What a learner knows of a node: `mastery` is a probability, and from 0.95 on it is `mastered`.

    `questions` can be asked about it, `due` of them are due for review, and `next_review` is when the next one is.
    """

    node_id: UUID
    title: str
    attempts: int
    correct: int
    mastery: float
    mastered: bool
    last_answered_at: datetime | None
    questions: int
    due: int
    next_review: datetime | None


class ProgressList(Answer):
    """What a learner knows of the nodes of a subject, in the order of its map."""

    items: list[NodeProgress]


class Proposal(Answer):
    """What research proposes to change in a map, and what was decided: `decided_by` is empty while it is open.

    `title` is of the node it is about, `other_title` of its prerequisite or of the node to merge it into.
    """

    proposal_id: UUID
    subject_id: str
    kind: Literal["add", "prerequisite", "merge", "remove"]
    node_id: UUID | None
    title: str
    other_node_id: UUID | None
    other_title: str | None
    reason: str
    state: ProposalState
    decision_reason: str
    decided_by: str
    decided_at: datetime | None
    run_id: UUID | None
    created_at: datetime


class ProposalList(Answer):
    """What is proposed for the map of a subject, newest first; 200 at most."""

    items: list[Proposal]


class ResearchRound(Answer):
    """How research on a map stands.

    `submitted`: a round begins with `batches`. `running`: one is under way. `covered`: what the goal needs has its facts.
    `exhausted`: what is missing gained nothing twice. `unmapped`: there is no map to a goal. `topics` are the nodes that are
    researched now, `gaps` those that the goal still lacks; `open_batches` research nodes of the subject, whoever began them.
    """

    subject_id: str
    state: Literal["submitted", "running", "covered", "exhausted", "unmapped"]
    batches: list[WritingReceipt]
    topics: list[str]
    gaps: list[str]
    exhausted: list[str]
    open_batches: list[UUID]
