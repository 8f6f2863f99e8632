"""A subject with a node, facts of it, and questions as an assessment run leaves them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from chiron_workers.ids import new_id
from chiron_workers.knowledge.assessment.questions import question_hash
from chiron_workers.store import Store
from support.research_rows import Shelf

MEAN = "In winter 2023 Arctic sea ice was 1.9 m thick on average."
FREEBOARD = "Satellites measure the freeboard of sea ice."
AGE = "Ice that is older than four years is thicker than young ice."
ASKED = (
    ("How thick was it in winter 2023?", "1.9 m"),
    ("What do satellites measure?", "the freeboard of sea ice"),
    ("Which ice is thicker than young ice?", "Ice that is older than four years"),
)
AsLearner = Callable[[str], Store]  # a store of a learner, for one request


@dataclass(frozen=True)
class Course:
    """A node with three facts and a question about each."""

    node: UUID
    facts: tuple[UUID, ...]
    questions: tuple[UUID, ...]


def node_with_facts(shelf: Shelf) -> tuple[UUID, tuple[UUID, ...]]:
    """A node and the ids of its three facts."""
    shelf.subject("sea-ice", "Sea ice")
    node = shelf.node("sea-ice", "Thickness")
    facts = tuple(
        shelf.fact("sea-ice", words, f"https://example.org/{n}", "thickness", quote=words, text=f"{words} More.")
        for n, words in enumerate((MEAN, FREEBOARD, AGE))
    )  # fmt: skip
    return node, facts


def course_of_three(shelf: Shelf) -> Course:
    """A node with its facts and a question about each."""
    node, facts = node_with_facts(shelf)
    questions = []
    for (text, key), statement, fact in zip(ASKED, (MEAN, FREEBOARD, AGE), facts, strict=True):
        questions.append(new_id())
        shelf.insert(
            "questions", id=questions[-1], node_id=node, subject_id="sea-ice", kind="recall", text=text, key=key,
            statement=statement, fact_ids=[fact], question_hash=question_hash(text), handed_in_at=datetime.now(UTC),
        )  # fmt: skip
    return Course(node, facts, tuple(questions))
