from chiron_workers.knowledge.assessment.marking import ROLE as JUDGE
from chiron_workers.knowledge.assessment.questions import ROLE as ASSESSMENT
from chiron_workers.knowledge.coverage.assessments import HistoryEntry, Progress, Question
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

ANSWER_ROLES = frozenset({ASSESSMENT, JUDGE})  # of runs that read what a learner answered


class UserProgress(Progress):
    """Progress with the questions it rests on, when the next of them is due, and the answers themselves."""

    next_review: str | None
    questions: list[Question]
    history: list[HistoryEntry]


@tool
async def get_user_progress(store: Store, *, node_id: str) -> UserProgress:
    """See how well the learner knows a node of the coverage map, computed from every answer recorded for it.

    Args:
        node_id: The node's id, as get_knowledge_tree gives it.

    Returns:
        attempts, correct, mastery (the probability that the learner knows the matter, 0 to 1), mastered (true
        from 0.95 on), last_answered_at, next_review (when the first question is due again; null before any answer),
        questions (attempts, correct and last_correct for each question_hash, the latest first), and history: the
        last 50 answers with their marks, the latest first; empty in a run, unless it asks or marks. A doubtful answer
        counts only once it is settled.
    """
    node = await store.nodes.require(node_id)
    progress = await store.assessments.progress(node)
    caller = store.session.caller
    may_read_answers = caller.run_id is None or caller.role in ANSWER_ROLES
    due_at = await store.reviews.next_review(node)
    return UserProgress(
        **progress,
        next_review=due_at.isoformat() if due_at else None,
        questions=await store.assessments.questions(node),
        history=await store.assessments.history(node) if may_read_answers else [],
    )


@tool
async def record_assessment(
    store: Store,
    *,
    node_id: str,
    question_hash: str,
    response: str,
    correct: bool,
    lesson_id: str | None = None,
) -> Progress:
    """Record the learner's answer to one question about a node, and get the mastery that follows from it.

    Call it once for every answer, right or wrong, after marking it. A question asked again is recorded again. Answers
    are the learner's: a research run has none to record.

    Args:
        node_id: The node the question is about.
        question_hash: The same short text each time the same question is asked, such as a hash of its words.
        response: What the learner answered, word for word.
        correct: Whether the answer is right.
        lesson_id: The lesson the question belongs to, if there is one.

    Returns:
        attempts, correct, mastery (0 to 1), mastered and last_answered_at of the node, this answer included.
    """
    node = await store.nodes.require(node_id)
    await store.assessments.add(
        node, question_hash=question_hash, response=response, correct=correct, lesson_id=lesson_id
    )
    return await store.assessments.progress(node)
