from collections.abc import Iterable, Sequence
from typing import TypedDict, cast
from uuid import UUID

from chiron_workers import ids
from chiron_workers.db.queries import load
from chiron_workers.db.validation import clean_text
from chiron_workers.errors import ToolError
from chiron_workers.knowledge.assessment.reviews import Answered, Reviews
from chiron_workers.knowledge.coverage.nodes import Nodes
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.runs.session import Session

SQL = load(__file__)

HASH_CHARS_MAX = 200
RESPONSE_CHARS_MAX = 20_000
LESSON_CHARS_MAX = 200
QUESTIONS_MAX = 100
HISTORY_MAX = 50
ANSWERS_MAX = 1_000  # of a node, the newest; what was answered before no longer moves its mastery
MARKING_ROLES = frozenset({"assessment"})  # of runs; a person may always

# Ours, within the bounds that keep the model sensible (guess <= 0.3, slip <= 0.1; Baker, Corbett & Aleven,
# 2008): three right answers in a row make a beginner a master, and one slip costs a master little.
INITIAL_PROBABILITY = 0.2
LEARNING_RATE = 0.15
GUESS = 0.2
SLIP = 0.1
MASTERY_MIN = 0.95


class Question(TypedDict):
    """How often a question was answered, how often rightly, and whether the last answer was right."""

    question_hash: str
    attempts: int
    correct: int
    last_correct: bool


class HistoryEntry(TypedDict):
    """An answer as it was given and marked; `at` is ISO 8601, `question` None where only its hash is known."""

    at: str
    question_hash: str
    question: str | None
    response: str
    mark: str
    marked_by: str | None
    reason: str


class Progress(TypedDict):
    """What a learner's answers say about a node; `mastery` is a probability, `last_answered_at` ISO 8601."""

    node_id: str
    attempts: int
    correct: int
    mastery: float
    mastered: bool
    last_answered_at: str | None


class Assessments:
    """Stored answers of learners, and the mastery computed from them. The learner is the caller's owner."""

    def __init__(self, session: Session) -> None:
        self.session = session

    async def add(
        self, node_id: UUID, *, question_hash: str, response: str, correct: bool, lesson_id: str | None
    ) -> None:
        """Store one answer, also when the same question is answered again.

        Raises:
            ToolError: A run whose role does not mark anybody asks for it.
            ToolValidationError: The node is of another subject than the run's.
        """
        await self._require_markable(node_id)
        node_id = await Nodes(self.session).hold(node_id)
        learner = self.session.caller.owner
        question_hash = clean_text(question_hash, field="question_hash", chars_max=HASH_CHARS_MAX)
        [row] = await self.session.write(
            SQL["add"],
            {
                "id": ids.new_id(),
                "learner": learner,
                "node_id": node_id,
                "question_hash": question_hash,
                # A blank answer is an answer.
                "response": response.strip()
                and clean_text(response, field="response", chars_max=RESPONSE_CHARS_MAX),
                "correct": correct,
                "lesson_id": clean_text(lesson_id, field="lesson_id", chars_max=LESSON_CHARS_MAX)
                if lesson_id
                else None,
                "run_id": self.session.caller.run_id,
            },
        )
        answer = Answered(learner, node_id, question_hash, is_right=correct, at=row["at"])
        await Reviews(self.session).schedule(answer)

    async def _require_markable(self, node_id: UUID) -> None:
        caller = self.session.caller
        if caller.run_id is None:
            return
        if caller.role not in MARKING_ROLES:
            raise ToolError(
                f"This is a {caller.role} run: it hears no learner, so it marks nobody. Leave mastery to the learner."
            )
        node = await Nodes(self.session).get(str(node_id))
        Subjects(self.session).require_writable(node["subject_id"], field="node_id")

    async def progress(self, node_id: UUID) -> Progress:
        """The caller's mastery of a node, from all answers so far."""
        args = {"learner": self.session.caller.owner, "node_id": node_id}
        [row] = await self.session.rows(SQL["answers"], args)
        probability = mastery(row["answers"])
        return Progress(
            node_id=str(node_id),
            attempts=row["attempts"],
            correct=row["right_ones"],
            mastery=round(probability, 4),
            mastered=probability >= MASTERY_MIN,
            last_answered_at=row["last_answered_at"].isoformat() if row["last_answered_at"] else None,
        )

    async def masteries(self, node_ids: Sequence[str]) -> dict[str, float]:
        """The caller's mastery of nodes, by their ids; those without an answer are left out."""
        args = {
            "learner": self.session.caller.owner,
            "node_ids": [UUID(node_id) for node_id in node_ids],
            "limit": ANSWERS_MAX,
        }
        rows = await self.session.rows(SQL["answers_by_node"], args)
        return {row["node_id"]: round(mastery(row["answers"]), 4) for row in rows}

    async def questions(self, node_id: UUID) -> list[Question]:
        """The questions of a node that the caller answered, the last one first; 100 at most."""
        args = {"learner": self.session.caller.owner, "node_id": node_id, "limit": QUESTIONS_MAX}
        return cast("list[Question]", await self.session.rows(SQL["questions"], args))

    async def history(self, node_id: UUID) -> list[HistoryEntry]:
        """The caller's last answers on a node, the latest first; 50 at most."""
        args = {"learner": self.session.caller.owner, "node_id": node_id, "limit": HISTORY_MAX}
        rows = await self.session.rows(SQL["history"], args)
        return [cast("HistoryEntry", row | {"at": row["at"].isoformat()}) for row in rows]


def mastery(answers: Iterable[bool]) -> float:
    """The probability, 0 to 1, that a learner who gave these answers, oldest first, knows the matter now.

    Bayesian Knowledge Tracing: Corbett, A. T. & Anderson, J. R. (1995), Knowledge tracing: modeling the
    acquisition of procedural knowledge, User Modeling and User-Adapted Interaction 4, 253-278,
    doi:10.1007/BF01099821. With p(L) known, p(T) learnt at each answer, p(G) guessed right and p(S) slipped,
    each answer first shifts what we believe:

        right: p(L | answer) = p(L) (1 - p(S)) / (p(L) (1 - p(S)) + (1 - p(L)) p(G))
        wrong: p(L | answer) = p(L) p(S)       / (p(L) p(S)       + (1 - p(L)) (1 - p(G)))

    and then counts as practice: p(L) = p(L | answer) + (1 - p(L | answer)) p(T). Here p(L) at first = 0.2,
    p(T) = 0.15, p(G) = 0.2, p(S) = 0.1; from 0.95 on, the paper's criterion, it counts as mastered.
    """
    probability = INITIAL_PROBABILITY
    for is_right in answers:
        if_mastered, if_not = (1 - SLIP, GUESS) if is_right else (SLIP, 1 - GUESS)
        posterior = probability * if_mastered / (probability * if_mastered + (1 - probability) * if_not)
        probability = posterior + (1 - posterior) * LEARNING_RATE
    return probability
