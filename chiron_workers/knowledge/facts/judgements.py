"""The model's verdict on two statements where the rules of `evidence.statements` reach none.

`matching` asks here; the prompt is `judgements.md`, the tool by which the model answers `judgements.json`.
"""

import asyncio
import hashlib
import json
from importlib.resources import files
from string import Template
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from chiron_workers.db.queries import load
from chiron_workers.db.validation import collapse_whitespace
from chiron_workers.errors import BudgetSpent, ModelUnavailable, MoneyReserved, RunFailed
from chiron_workers.evidence.statements.relation import RelationVerdict
from chiron_workers.evidence.statements.unsupported import find_unsupported
from chiron_workers.quotation import quoted
from chiron_workers.runs.entries import Reply, storable
from chiron_workers.runs.session import Session, SideModel
from chiron_workers.settings import OFFLINE_MODEL
from chiron_workers.states import Relation

SQL = load(__file__)
_PACKAGE = files("chiron_workers.knowledge.facts")
QUESTION = Template((_PACKAGE / "judgements.md").read_text(encoding="utf-8").rstrip("\n"))
ANSWER_TOOL: dict[str, Any] = json.loads((_PACKAGE / "judgements.json").read_text(encoding="utf-8"))
ANSWER: str = ANSWER_TOOL["name"]
ANSWER_TOKENS_MAX = 400
ANSWER_TIMEOUT_S = 30.0  # a fact is stored with or without an answer
REASON_CHARS_MAX = 300


class Answer(BaseModel):
    """The arguments with which the model calls the answer tool."""

    relation: Relation
    reason: Annotated[str, Field(min_length=1, max_length=10 * REASON_CHARS_MAX)]


class Judgements:
    """Verdicts of a model on pairs of statements, each pair asked about once and stored."""

    def __init__(self, session: Session, side_model: SideModel | None) -> None:
        self._session = session
        self._side_model = side_model

    async def decide(self, claim_text: str, fact_text: str) -> RelationVerdict:
        """How a claim stands to a stored fact; relation None where there is no model to ask, or its answer is no use.

        The answer is stored in a transaction of its own, so it is paid for once even if the call that asked fails.
        Call it before the session's first write: it waits for the model.

        Raises:
            LeaseLost: The run is no longer ours.
        """
        args = {"pair": _pair_hash(claim_text, fact_text), "reversed": _pair_hash(fact_text, claim_text)}
        row = await self._session.row(SQL["find"], args)
        if row is not None:
            return _without_false_merge(
                RelationVerdict(Relation(row["relation"]), row["reason"]), claim_text, fact_text
            )
        if self._side_model is None or self._side_model.model_name == OFFLINE_MODEL:
            return RelationVerdict(None, "There is no model to ask.")
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                reply = await self._side_model.ask(
                    _question(claim_text, fact_text), tools=[ANSWER_TOOL], max_tokens=ANSWER_TOKENS_MAX
                )
        except (RunFailed, ModelUnavailable, BudgetSpent, MoneyReserved, TimeoutError) as error:
            return RelationVerdict(None, f"The model does not answer: {error}")
        answer = parse_verdict(reply)
        if answer is None:
            return RelationVerdict(None, "The model gave no answer that can be used.")
        await self._store(args["pair"], answer, self._side_model.model_name)
        return _without_false_merge(answer, claim_text, fact_text)

    async def _store(self, pair: str, answer: RelationVerdict, model: str) -> None:
        args = {"pair": pair, "relation": answer.relation, "reason": answer.reason, "model": model}
        async with self._session.pool.connection() as connection:
            await connection.execute(SQL["store"], args | {"run_id": self._session.caller.run_id})


def parse_verdict(reply: Reply) -> RelationVerdict | None:
    """The verdict in a model's reply; None where the reply holds no usable one."""
    arguments = next((call.arguments for call in reply.calls if call.name == ANSWER), None)
    try:
        answer = Answer.model_validate(arguments)
    except ValidationError:
        return None
    reason = collapse_whitespace(storable(answer.reason))[:REASON_CHARS_MAX]
    return RelationVerdict(answer.relation, reason) if reason else None


def _pair_hash(claim_text: str, fact_text: str) -> str:
    pair = json.dumps([collapse_whitespace(claim_text), collapse_whitespace(fact_text)])
    return hashlib.sha256(pair.encode()).hexdigest()


def _question(claim_text: str, fact_text: str) -> str:
    passages = {"known": quoted("known", fact_text), "new": quoted("new", claim_text)}
    return QUESTION.substitute(passages, tool=ANSWER)


def _without_false_merge(answer: RelationVerdict, claim_text: str, fact_text: str) -> RelationVerdict:
    # What is merged is gone, so a slip of the model must not merge two figures that differ.
    if answer.relation is not Relation.SAME:
        return answer
    missing_in_fact, missing_in_claim = (
        find_unsupported(claim_text, fact_text),
        find_unsupported(fact_text, claim_text),
    )
    if missing_in_fact and missing_in_claim:
        return RelationVerdict(
            None, f"The model takes them for the same, but they differ in figures: {missing_in_fact[0]}"
        )
    return answer
