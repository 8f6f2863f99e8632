"""Answers that rules leave open are put to a model, each in a context of its own, as a quotation.

The prompt is `marks.md`, the tool by which the model answers `marks.json`.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import Annotated, Any, Literal
from uuid import UUID

from psycopg.rows import DictRow
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chiron_workers.db.queries import load
from chiron_workers.db.validation import collapse_whitespace, parse_id_or_none
from chiron_workers.errors import BudgetSpent, ModelUnavailable, MoneyReserved, RunFailed, ToolError
from chiron_workers.knowledge.assessment.marking_rules import Marking, mark_by_rules, without_addresses
from chiron_workers.knowledge.assessment.reviews import Answered, Reviews
from chiron_workers.knowledge.coverage.nodes import Nodes
from chiron_workers.quotation import quoted
from chiron_workers.runs.entries import Reply, storable
from chiron_workers.runs.session import Session, SideModel
from chiron_workers.settings import OFFLINE_MODEL
from chiron_workers.states import Mark, Marker

SQL = load(__file__)
_PACKAGE = files("chiron_workers.knowledge.assessment")
QUESTION = Template((_PACKAGE / "marks.md").read_text(encoding="utf-8").rstrip("\n"))
ANSWER_TOOL: dict[str, Any] = json.loads((_PACKAGE / "marks.json").read_text(encoding="utf-8"))
ANSWER: str = ANSWER_TOOL["name"]
ROLE = "judge"
PAGE_ANSWERS = 4  # of one call of the judge
ANSWER_TIMEOUT_S = 60.0
TOKENS_MAX = 600
REASON_CHARS_MAX = 300
NO_JUDGE = "Answers are marked by a run of the role judge on a quiz, and this is none."
NOBODY_ASKED = "Rules cannot tell whether it is right, and no model is configured. Say yourself."
NOTHING_USABLE = "The model gave no mark that can be used. Say yourself."
NO_WORDS = "The model held it to be right and named no words of the answer that say so. Say yourself."


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    mark: Literal[Mark.RIGHT, Mark.WRONG, Mark.DOUBTFUL]
    reason: Annotated[str, Field(min_length=1, max_length=10 * REASON_CHARS_MAX)]
    quote: Annotated[str, Field(max_length=20_000)] = ""


@dataclass(frozen=True, slots=True)
class MarkedPage:
    """How many answers got which mark, and how many are left; `problem` says why the model did not answer for the rest."""

    marks: Counter[Mark]
    answers_left: int
    problem: str = ""


class Judging:
    """The marking of the open answers of a quiz, whose learner ordered the run."""

    def __init__(self, session: Session, side_model: SideModel | None, reviews: Reviews) -> None:
        self._session = session
        self._side_model = side_model
        self._reviews = reviews

    async def count_unmarked(self) -> int:
        """How many answers nobody has marked."""
        row = await self._session.row(SQL["left"], self._args())
        return int(row["answers"]) if row else 0

    async def marks(self) -> Counter[Mark]:
        """How many answers of the quiz have which mark."""
        rows = await self._session.rows(SQL["marks"], self._args())
        return Counter({Mark(row["mark"]): row["answers"] for row in rows})

    async def mark_page(self) -> MarkedPage:
        """Have the next answers marked, and store the marks with their reasons.

        An answer that its learner has settled meanwhile keeps that mark.

        Raises:
            ToolError: The model does not answer now, and nothing was marked.
        """
        args = self._args()
        rows = await self._session.rows(SQL["page"], args | {"limit": PAGE_ANSWERS})
        markings, problem = await self._mark_all(rows)
        marks: Counter[Mark] = Counter()
        for node_id in sorted({row["node_id"] for row in rows}):
            await Nodes(self._session).hold(node_id)
        for row, decision in zip(rows, markings, strict=False):
            columns = {"mark": decision.mark, "reason": decision.reason, "marked_by": decision.marked_by}
            rows_stored = await self._session.write(SQL["store"], args | {"id": row["id"]} | columns)
            if rows_stored and decision.mark is not Mark.DOUBTFUL:
                await self._reviews.schedule(Answered(**rows_stored[0]))
            marks[decision.mark] += len(rows_stored)
        return MarkedPage(marks, await self.count_unmarked(), problem)

    async def _mark_all(self, rows: Sequence[DictRow]) -> tuple[list[Marking], str]:
        markings: list[Marking] = []
        for row in rows:
            try:
                markings.append(await self._mark(row["text"], row["key"], row["response"]))
            except ToolError as error:
                if not markings:
                    raise
                return markings, str(error)
        return markings, ""

    async def _mark(self, question: str, key: str, response: str) -> Marking:
        decision = await asyncio.to_thread(mark_by_rules, response, key)
        if decision.marked_by is not None:
            return decision
        if self._side_model is None or self._side_model.model_name == OFFLINE_MODEL:
            return Marking(Mark.DOUBTFUL, NOBODY_ASKED, Marker.RULE)
        answer = without_addresses(response)
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                reply = await self._side_model.ask(
                    prompt(question, key, answer), tools=[ANSWER_TOOL], max_tokens=TOKENS_MAX
                )
        except (RunFailed, ModelUnavailable, BudgetSpent, MoneyReserved, TimeoutError) as error:
            raise ToolError(f"The model does not answer: {error}".strip()) from None
        return read_marking(reply, answer)

    def _args(self) -> dict[str, object]:
        caller = self._session.caller
        quiz_id: UUID | None = parse_id_or_none(caller.scope or "")
        if caller.run_id is None or caller.role != ROLE or quiz_id is None:
            raise ToolError(NO_JUDGE)
        return {"quiz_id": quiz_id, "learner": caller.owner}


def prompt(question: str, key: str, answer: str) -> str:
    """The words that put an answer to a model: question, key and answer between marks that none of them can close."""
    return QUESTION.substitute(
        tool=ANSWER,
        question=quoted("question", question),
        key=quoted("key", key),
        answer=quoted("answer", answer),
    )


def read_marking(reply: Reply, answer: str) -> Marking:
    """The mark of a model's reply; doubtful where it is of no use, or where a right one rests on no words of the answer."""
    arguments = [call.arguments for call in reply.calls if call.name == ANSWER]
    try:
        fields = _Answer.model_validate(arguments[0]) if len(arguments) == 1 else None
    except ValidationError:
        fields = None
    if fields is None:
        return Marking(Mark.DOUBTFUL, NOTHING_USABLE, Marker.MODEL)
    quote = collapse_whitespace(fields.quote)
    if fields.mark is Mark.RIGHT and not (quote and quote in collapse_whitespace(answer)):
        return Marking(Mark.DOUBTFUL, NO_WORDS, Marker.MODEL)
    reason = collapse_whitespace(storable(fields.reason))[:REASON_CHARS_MAX]
    return Marking(fields.mark, reason or NOTHING_USABLE, Marker.MODEL)
