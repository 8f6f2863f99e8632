"""The model's verdict on two statements where the rules of `evidence.statements` reach none.

`matching` asks here; the prompt is `judgements.md`, the tool by which the model answers `judgements.json`.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from string import Template
from typing import Any

from chiron_workers.db.parameters import array
from chiron_workers.db.queries import load
from chiron_workers.db.validation import collapse_whitespace
from chiron_workers.errors import BudgetSpent, ModelUnavailable, MoneyReserved, RunFailed
from chiron_workers.evidence.statements.relation import RelationVerdict
from chiron_workers.evidence.statements.unsupported import find_unsupported
from chiron_workers.knowledge.facts.numbered_answers import NumberedAnswer, read_answers
from chiron_workers.quotation import quoted
from chiron_workers.runs.entries import Reply
from chiron_workers.runs.session import Session, SideModel
from chiron_workers.settings import OFFLINE_MODEL
from chiron_workers.states import Relation

SQL = load(__file__)
_PACKAGE = files("chiron_workers.knowledge.facts")
QUESTION = Template((_PACKAGE / "judgements.md").read_text(encoding="utf-8").rstrip("\n"))
ANSWER_TOOL: dict[str, Any] = json.loads((_PACKAGE / "judgements.json").read_text(encoding="utf-8"))
ANSWER: str = ANSWER_TOOL["name"]
FRAME_TOKENS = 200  # of an answer, beside its entries
ENTRY_TOKENS = 100
ANSWER_TIMEOUT_S = 60.0  # a fact is stored with or without an answer
Answer = RelationVerdict | None


class _Entry(NumberedAnswer):
    relation: Relation


class Judgements:
    """Verdicts of a model on pairs of statements, each pair asked about once and stored."""

    def __init__(self, session: Session, side_model: SideModel | None) -> None:
        self._session = session
        self._side_model = side_model

    async def decide(self, claim_text: str, fact_texts: Sequence[str]) -> list[RelationVerdict]:
        """How a claim stands to stored facts; relation None where there is no model to ask, or its answer is no use.

        One question for all that nobody has been asked about yet. Its answer is stored in a transaction of its own, so it is
        paid for once even if the call that asked fails. Call it before the session's first write: it waits for the model.

        Raises:
            LeaseLost: The run is no longer ours.
        """
        verdicts = await self._stored(claim_text, fact_texts)
        open_texts = [text for text in fact_texts if text not in verdicts]
        if open_texts:
            verdicts |= await self._ask(claim_text, open_texts)
        return [_without_false_merge(verdicts[text], claim_text, text) for text in fact_texts]

    async def _stored(self, claim_text: str, fact_texts: Sequence[str]) -> dict[str, RelationVerdict]:
        if not fact_texts:
            return {}
        args = {
            "pairs": array([_pair_hash(claim_text, text) for text in fact_texts]),
            "reversed": array([_pair_hash(text, claim_text) for text in fact_texts]),
        }
        rows = await self._session.rows(SQL["find"], args)
        return {
            fact_texts[row["n"] - 1]: RelationVerdict(Relation(row["relation"]), row["reason"])
            for row in rows
        }

    async def _ask(self, claim_text: str, fact_texts: Sequence[str]) -> dict[str, RelationVerdict]:
        if self._side_model is None or self._side_model.model_name == OFFLINE_MODEL:
            return dict.fromkeys(fact_texts, RelationVerdict(None, "There is no model to ask."))
        tokens_max = FRAME_TOKENS + ENTRY_TOKENS * len(fact_texts)
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                reply = await self._side_model.ask(
                    _question(claim_text, fact_texts), tools=[ANSWER_TOOL], max_tokens=tokens_max
                )
        except (RunFailed, ModelUnavailable, BudgetSpent, MoneyReserved, TimeoutError) as error:
            return dict.fromkeys(fact_texts, RelationVerdict(None, f"The model does not answer: {error}"))
        answers = parse_answers(reply, len(fact_texts))
        await self._store(claim_text, dict(zip(fact_texts, answers, strict=True)))
        useless = RelationVerdict(None, "The model gave no answer that can be used.")
        return {text: answer or useless for text, answer in zip(fact_texts, answers, strict=True)}

    async def _store(self, claim_text: str, answers: Mapping[str, Answer]) -> None:
        assert self._side_model is not None
        pairs = [(_pair_hash(claim_text, text), answer) for text, answer in answers.items() if answer]
        args = {
            "pairs": [pair for pair, _ in pairs],
            "relations": [answer.relation for _, answer in pairs],
            "reasons": [answer.reason for _, answer in pairs],
            "model": self._side_model.model_name,
            "run_id": self._session.caller.run_id,
        }
        async with self._session.pool.connection() as connection:
            await connection.execute(SQL["store"], args)


def parse_answers(reply: Reply, count: int) -> list[Answer]:
    """The verdicts in a model's reply, in the order of the question; None where the reply holds no usable one."""
    answers = read_answers(reply, ANSWER, "relations", _Entry, count)
    return [RelationVerdict(answer.relation, answer.reason) if answer else None for answer in answers]


def _pair_hash(claim_text: str, fact_text: str) -> str:
    pair = f"[{_json_of(claim_text)}, {_json_of(fact_text)}]"
    return hashlib.sha256(pair.encode()).hexdigest()


@lru_cache(maxsize=256)  # of at most 4,000 characters; a claim is one of a dozen pairs
def _json_of(text: str) -> str:
    return json.dumps(collapse_whitespace(text))


def _question(claim_text: str, fact_texts: Sequence[str]) -> str:
    known = "\n".join(
        f"Number {number}\n{quoted('known', text)}" for number, text in enumerate(fact_texts, start=1)
    )
    return QUESTION.substitute(new=quoted("new", claim_text), known=known, tool=ANSWER)


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
