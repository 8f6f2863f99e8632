from collections.abc import Mapping
from typing import TypedDict

from chiron_workers.errors import ToolError
from chiron_workers.states import Mark
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

TIMEOUT_S = 300.0  # a model is asked four questions in turn


class MarkedAnswers(TypedDict, total=False):
    """How many answers got which mark, and how many are left; a note where the model did not answer for all."""

    right: int
    wrong: int
    doubtful: int
    left: int
    note: str


@tool(needs_run=True, roles=("judge",), timeout_s=TIMEOUT_S)
async def mark_answers(store: Store) -> MarkedAnswers:
    """Have the next answers of the quiz marked that rules leave open, four at most. Call it until none is left.

    Each is compared with its key in a context of its own, which sees nothing but question, key and answer. You mark none
    yourself, and you see no answer.

    Returns:
        right, wrong and doubtful (what the learner has to settle), left, and a note where there is more to know.
    """
    page = await store.judging.mark_page()
    counts = _counts(page.marks, answers_left=page.answers_left)
    if page.problem:
        counts["note"] = f"Some of them are left. {page.problem}"
    return counts


@tool(needs_run=True, roles=("judge",))
async def hand_in_marks(store: Store) -> MarkedAnswers:
    """Hand in the marks once mark_answers says that none is left.

    Returns:
        How many answers of the quiz are right, wrong and doubtful.
    """
    open_answers = await store.judging.count_unmarked()
    if open_answers:
        raise ToolError(f"{open_answers:,} answers are left: call mark_answers until none is.")
    return _counts(await store.judging.marks(), answers_left=0)


def _counts(marks: Mapping[Mark, int], *, answers_left: int) -> MarkedAnswers:
    return MarkedAnswers(
        right=marks.get(Mark.RIGHT, 0),
        wrong=marks.get(Mark.WRONG, 0),
        doubtful=marks.get(Mark.DOUBTFUL, 0),
        left=answers_left,
    )
