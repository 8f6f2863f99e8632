from typing import Annotated, TypedDict

from pydantic import Field

from chiron_workers.knowledge.assessment.questions import KEY_CHARS_MAX, TEXT_CHARS_MAX, NewQuestion
from chiron_workers.knowledge.drafts.sentence_rules import FACTS_MAX
from chiron_workers.states import QuestionKind
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

TIMEOUT_S = 180.0  # the model may be asked whether the facts bear the statement out


class WrittenQuestion(TypedDict):
    """The receipt for a question."""

    question_id: str
    question_hash: str
    kind: str


class HandedInQuestions(TypedDict):
    """What the node can be asked now, and how many questions of the run were left out."""

    questions: list[str]
    left_out: int


@tool(needs_run=True, roles=("assessment",), timeout_s=TIMEOUT_S)
async def write_question(
    store: Store,
    *,
    kind: QuestionKind,
    question: Annotated[str, Field(min_length=1, max_length=TEXT_CHARS_MAX)],
    key: Annotated[str, Field(min_length=1, max_length=KEY_CHARS_MAX)],
    statement: Annotated[str, Field(min_length=1, max_length=TEXT_CHARS_MAX)],
    fact_ids: Annotated[list[str], Field(min_length=1, max_length=FACTS_MAX)],
) -> WrittenQuestion:
    """Write a question about the node of this run, with its key and the facts it rests on.

    The statement is held to its facts: what they do not bear out in full is refused with the reason, and nothing is kept.

    Args:
        kind: recall (remember a fact), application (use it on a case), transfer (carry it to something else).
        question: What the learner is asked; it does not say the key.
        key: The answer, as short as it can be, in the words in which the statement has it.
        statement: One sentence that answers the question and says the key, and nothing that its facts do not say.
        fact_ids: The facts that support the statement, each a part of it; none that another fact contradicts.

    Returns:
        question_id, question_hash (the same for the same words) and kind.
    """
    new = NewQuestion(kind, question, key, statement, tuple(fact_ids))
    receipt = await store.questions.write(new)
    return WrittenQuestion(
        question_id=str(receipt.id), question_hash=receipt.question_hash, kind=receipt.kind.value
    )


@tool(needs_run=True, roles=("assessment",))
async def hand_in_questions(store: Store) -> HandedInQuestions:
    """Hand in the questions that were written: from now on learners are asked them.

    Returns:
        questions: those of the node that can be asked; left_out: how many were not handed in, since their facts no longer
        stand.
    """
    receipt = await store.questions.hand_in()
    texts = [question.text for question in receipt.questions]
    return HandedInQuestions(questions=texts, left_out=receipt.left_out)
