from typing import TypedDict

from chiron_workers.knowledge.coverage.subjects import Subject
from chiron_workers.store import Store
from chiron_workers.toolkit import tool


class NoSubject(TypedDict):
    """No subject is being worked on; the note says how to choose one."""

    subject_id: None
    note: str


@tool
async def get_active_subject(store: Store) -> Subject | NoSubject:
    """Learn which subject is being worked on. Within a run it is the run's own subject.

    Returns:
        subject_id, title, purpose_statement and target_depth; before one was chosen, subject_id
        null and a note.
    """
    subject = await store.subjects.active()
    if subject is None:
        return NoSubject(subject_id=None, note="No subject is active; set_active_subject chooses one.")
    return subject


@tool
async def set_active_subject(store: Store, *, subject_id: str) -> Subject:
    """Choose the subject to work on. A run keeps its own subject until it ends.

    Args:
        subject_id: The subject, by its id or its name; list_subjects shows all of them.

    Returns:
        subject_id, title, purpose_statement and target_depth.
    """
    return await store.subjects.activate(subject_id)


@tool
async def list_subjects(store: Store) -> list[Subject]:
    """List all subjects with their learning goals, by id.

    Returns:
        subject_id, title, purpose_statement (null before a goal is saved) and target_depth of each.
    """
    return await store.subjects.all()


@tool
async def get_learning_goal(store: Store, *, subject_id: str) -> Subject:
    """Read why a subject is learnt, and how deeply.

    Args:
        subject_id: The subject, by its id or its name.

    Returns:
        subject_id, title, purpose_statement (null before a goal is saved) and target_depth.
    """
    return await store.subjects.get(subject_id)


@tool
async def save_learning_goal(
    store: Store, *, subject_id: str, purpose_statement: str, target_depth: str = "practical"
) -> Subject:
    """Save why a subject is learnt and how deeply, in place of an earlier goal. A new subject is made.

    Args:
        subject_id: The subject, by its id or its name.
        purpose_statement: What the learner wants to be able to do, and what for.
        target_depth: How deeply, in a word or two, such as overview, practical or expert.

    Returns:
        subject_id, title, purpose_statement and target_depth as saved.
    """
    return await store.subjects.save_goal(
        subject_id, purpose_statement=purpose_statement, target_depth=target_depth
    )
