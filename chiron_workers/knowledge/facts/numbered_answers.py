"""A model's answers about several numbered things, as one tool call hands them in."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, Field, ValidationError

from chiron_workers.db.validation import collapse_whitespace
from chiron_workers.runs.entries import Reply, storable

REASON_CHARS_MAX = 300


class NumberedAnswer(BaseModel):
    """An answer about the thing of this number, counted from 1, with its reason."""

    number: int
    reason: Annotated[str, Field(min_length=1, max_length=10 * REASON_CHARS_MAX)]


Entry = TypeVar("Entry", bound=NumberedAnswer)


def read_answers(reply: Reply, tool: str, member: str, model: type[Entry], count: int) -> list[Entry | None]:
    """The answers in the order of the question, each reason on one line and cut; None for a thing without a usable answer.

    The first usable answer about a thing counts.

    Args:
        tool: Whose call has the answers.
        member: The argument that lists them.
        count: How many things were asked about.
    """
    arguments: object = next((call.arguments for call in reply.calls if call.name == tool), None)
    entries = arguments.get(member) if isinstance(arguments, dict) else None
    answers: list[Entry | None] = [None] * count
    for entry in entries if isinstance(entries, list) else []:
        try:
            answer = model.model_validate(entry)
        except ValidationError:
            continue
        reason = collapse_whitespace(storable(answer.reason))[:REASON_CHARS_MAX]
        if 1 <= answer.number <= count and reason and answers[answer.number - 1] is None:
            answers[answer.number - 1] = answer.model_copy(update={"reason": reason})
    return answers
