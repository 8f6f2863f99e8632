"""Whether the quote of a fact, as a reader of its source sees it, supports it: a model is asked, doubts of rules are a hint.

Without a model to ask, a doubt of `evidence.statements.support` counts; all else is unchecked.
The prompt is `verdicts.md`, the tool by which the model answers `verdicts.json`.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from string import Template
from typing import Any, Literal

from chiron_workers.db.parameters import array
from chiron_workers.db.queries import load
from chiron_workers.db.validation import collapse_whitespace
from chiron_workers.errors import BudgetSpent, ModelUnavailable, MoneyReserved, RunFailed, ToolError
from chiron_workers.evidence.statements.support import Finding, judge_by_rules
from chiron_workers.knowledge.facts.numbered_answers import NumberedAnswer, read_answers
from chiron_workers.knowledge.facts.offload import offload_if_long
from chiron_workers.knowledge.facts.source_views import SourceView, share_pages
from chiron_workers.quotation import quoted
from chiron_workers.runs.entries import Reply
from chiron_workers.runs.session import Session, SideModel
from chiron_workers.runs.turns import Turn
from chiron_workers.settings import OFFLINE_MODEL, settings
from chiron_workers.states import Decider, Verdict

SQL = load(__file__)
_PACKAGE = files("chiron_workers.knowledge.facts")
QUESTION = Template((_PACKAGE / "verdicts.md").read_text(encoding="utf-8").rstrip("\n"))
ANSWER_TOOL: dict[str, Any] = json.loads((_PACKAGE / "verdicts.json").read_text(encoding="utf-8"))
ANSWER: str = ANSWER_TOOL["name"]
NOBODY = "none"  # as the name of the model to ask
NOBODY_ASKED = "No model was asked."
NO_ANSWER = "The question to the model came to nothing."
ITEMS_MAX = 20  # of one question
FRAME_TOKENS = 300  # of an answer, beside its entries
ENTRY_TOKENS = 120
ANSWER_TIMEOUT_S = 60.0  # a fact is stored with or without an answer


@dataclass(frozen=True, slots=True)
class Evidence:
    """A statement and what it rests on. `hint` tells a model what the rules doubt.

    `view` is what a reader of the source sees around the quote. Where there is none, as for what rests on several facts, a model
    is shown `context`, and `source` tells it where the quote is from.
    """

    statement: str
    quote: str
    context: str = ""
    source: str = ""
    hint: str = ""
    view: SourceView | None = None

    @property
    def digest(self) -> str:
        """The key of its verdict, hex: the same words get the same verdict at every address."""
        around = self.view.digest if self.view else self.context
        words = [collapse_whitespace(text) for text in (self.statement, self.quote, around)]
        return hashlib.sha256(json.dumps(words).encode()).hexdigest()


class _Entry(NumberedAnswer):
    verdict: Literal[Verdict.SUPPORTED, Verdict.PARTLY, Verdict.CONTRADICTED, Verdict.SILENT]


class Verdicts:
    """Verdicts on statements and their quotes: of a model, which is paid for once and stored, else the doubts of the rules.

    Args:
        turn: The calls that ask together with the session's own.
    """

    def __init__(self, session: Session, side_model: SideModel | None, turn: Turn | None = None) -> None:
        self._session = session
        self._side_model = side_model
        self._turn = turn

    async def judge(self, evidence: Evidence) -> Finding:
        """The verdict on one statement; where no model can be asked the doubt of the rules, else `unchecked`.

        Where one can be asked and does not answer now, the rules' doubt is `partly` at worst: it will be asked about.

        Call it before the session's first write: it waits for the model, and for the other calls of the turn.

        Raises:
            LeaseLost: The run is no longer ours.
        """
        doubt = await _doubt(evidence)
        if self._model_name():
            answer = await self._ask_with_turn(_with_hint(evidence, doubt)) or NO_ANSWER
            return _conclude(answer, _for_now(doubt))
        answer = (await self._find([evidence])).get(evidence.digest, NOBODY_ASKED)
        return _conclude(answer, doubt)

    async def judge_all(self, evidence: Sequence[Evidence], *, needs_answer: bool = False) -> list[Finding]:
        """The verdicts on several statements of one call, in their order, in one question.

        Args:
            needs_answer: A model that does not answer is an error; else the rules' doubt counts, or it stays `unchecked`.

        Raises:
            LeaseLost: The run is no longer ours.
            ToolError: The model does not answer now.
        """
        doubts = [await _doubt(item) for item in evidence]
        answers: Mapping[str, Finding | str]
        if self._model_name():
            items = {
                str(place): _with_hint(item, doubt)
                for place, (item, doubt) in enumerate(zip(evidence, doubts, strict=True))
            }
            answers = await self._ask(items, needs_answer=needs_answer)
            doubts = [_for_now(doubt) for doubt in doubts]
        else:
            findings = await self._find(evidence)
            answers = {
                str(place): findings.get(item.digest, NOBODY_ASKED) for place, item in enumerate(evidence)
            }
        return [_conclude(answers[str(place)], doubt) for place, doubt in enumerate(doubts)]

    async def _find(self, evidence: Sequence[Evidence]) -> dict[str, Finding]:
        """What a model once said of the same words, by their digest."""
        if not evidence:
            return {}
        rows = await self._session.rows(SQL["find"], {"evidence": array([item.digest for item in evidence])})
        return {
            row["evidence"]: Finding(Verdict(row["verdict"]), row["reason"], row["model"]) for row in rows
        }

    @property
    def session(self) -> Session:
        """On whose behalf verdicts are reached."""
        return self._session

    async def reply(self, words: str, *, tool: dict[str, Any], tokens_max: int) -> Reply | str:
        """The judging model's reply to a question of another kind; if there is none, a sentence that says why.

        Raises:
            LeaseLost: The run is no longer ours.
        """
        model = self._model_name()
        if self._side_model is None or not model:
            return NOBODY_ASKED
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                return await self._side_model.ask(words, tools=[tool], max_tokens=tokens_max, model=model)
        except (RunFailed, ModelUnavailable, BudgetSpent, MoneyReserved, TimeoutError) as error:
            return f"The model does not answer: {error}".strip()

    @property
    def judge_name(self) -> str:
        """Who is asked for verdicts: a model, or `rules`, which doubt and never confirm."""
        return self._model_name() or Decider.RULES

    def _model_name(self) -> str:
        """Who is asked; empty for nobody."""
        if self._side_model is None or self._side_model.model_name == OFFLINE_MODEL:
            return ""
        name = settings().verdict_model or self._side_model.model_name
        return "" if name in (NOBODY, OFFLINE_MODEL) else name

    async def _ask_with_turn(self, evidence: Evidence) -> "Finding | str | None":
        call_id = self._session.caller.call_id
        if self._turn is None or call_id is None:
            return (await self._ask({"": evidence})).get("")
        answer: Finding | str | None = await self._turn.ask_together(call_id, evidence, self._ask)
        return answer

    async def _ask(
        self, evidence: Mapping[str, Evidence], *, needs_answer: bool = False
    ) -> dict[str, Finding | str]:
        """For each key the model's finding, or in a sentence why there is none. The same words are asked about once."""
        answers: dict[str, Finding | str] = {**await self._find(list(evidence.values()))}
        items = {item.digest: item for item in evidence.values() if item.digest not in answers}
        digests = list(items)
        for start in range(0, len(digests), ITEMS_MAX):
            page = digests[start : start + ITEMS_MAX]
            findings = await self._ask_once([items[digest] for digest in page], needs_answer=needs_answer)
            answers |= dict(zip(page, findings, strict=True))
        return {key: answers[item.digest] for key, item in evidence.items()}

    async def _ask_once(self, evidence: Sequence[Evidence], *, needs_answer: bool) -> Sequence[Finding | str]:
        assert self._side_model is not None
        model = self._model_name()
        tokens_max = FRAME_TOKENS + ENTRY_TOKENS * len(evidence)
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                reply = await self._side_model.ask(
                    question(evidence), tools=[ANSWER_TOOL], max_tokens=tokens_max, model=model
                )
        except (RunFailed, ModelUnavailable, BudgetSpent, MoneyReserved, TimeoutError) as error:
            reason = f"The model does not answer: {error}".strip()
            if needs_answer:
                raise ToolError(reason) from None
            return [reason] * len(evidence)
        findings = parse_findings(reply, len(evidence))
        await self._store(evidence, findings, model)
        return [
            replace(finding, judge=model) if finding else "The model gave no answer that can be used."
            for finding in findings
        ]

    async def _store(
        self, evidence: Sequence[Evidence], findings: Sequence[Finding | None], model: str
    ) -> None:
        pairs = [(item.digest, finding) for item, finding in zip(evidence, findings, strict=True) if finding]
        args = {
            "evidence": [digest for digest, _ in pairs],
            "verdicts": [finding.verdict for _, finding in pairs],
            "reasons": [finding.reason for _, finding in pairs],
            "model": model,
            "run_id": self._session.caller.run_id,
        }
        # In a transaction of its own: it is paid for once even if the call that asked fails.
        async with self._session.pool.connection() as connection:
            await connection.execute(SQL["store"], args)


async def _doubt(evidence: Evidence) -> Finding | None:
    words = evidence.statement, evidence.quote, evidence.context
    doubt = await offload_if_long(partial(judge_by_rules, *words), *words)
    if doubt is None or evidence.view is None:
        return doubt
    window = evidence.view.text  # long, and read only where there is a doubt that it may settle
    return await offload_if_long(partial(judge_by_rules, *words, window), *words, window)


def _with_hint(evidence: Evidence, doubt: Finding | None) -> Evidence:
    return replace(evidence, hint=doubt.reason) if doubt else evidence


def _for_now(doubt: Finding | None) -> Finding | None:
    """A doubt of the rules until a model answers: they cannot tell a contradiction, so it makes no end of a fact."""
    is_final = doubt is not None and doubt.verdict is Verdict.CONTRADICTED
    return replace(doubt, verdict=Verdict.PARTLY) if doubt and is_final else doubt


def _conclude(answer: Finding | str, doubt: Finding | None) -> Finding:
    """The model's finding; without one (the answer says why) the doubt of the rules, or `unchecked`."""
    if isinstance(answer, Finding):
        return answer
    return doubt or Finding(Verdict.UNCHECKED, answer)


def parse_findings(reply: Reply, count: int) -> list[Finding | None]:
    """The findings in a model's reply, in the order of the question's items; None for an item without a usable one."""
    answers = read_answers(reply, ANSWER, "verdicts", _Entry, count)
    return [Finding(answer.verdict, answer.reason) if answer else None for answer in answers]


def question(evidence: Sequence[Evidence]) -> str:
    """The words that put statements to a model: pages first, each passage once, then statements with their quotes.

    All of them stand between marks that they cannot close.
    """
    pages, letters = share_pages([item.view for item in evidence], [item.quote for item in evidence])
    parts = [f"Page {page.letter}\n{quoted('page', page.text)}" for page in pages]
    parts += [
        _item(number, item, letter)
        for number, (item, letter) in enumerate(zip(evidence, letters, strict=True), start=1)
    ]
    return QUESTION.substitute(items="\n\n".join(parts), tool=ANSWER)


def _item(number: int, evidence: Evidence, letter: str) -> str:
    texts = {"statement": evidence.statement, "quote": evidence.quote}
    if not letter:
        texts |= {"source": evidence.source, "context": evidence.context}
    texts["hint"] = evidence.hint
    lines = [f"Number {number}", *([f"Its page: {letter}"] if letter else [])]
    return "\n".join([*lines, *(quoted(name, text) for name, text in texts.items() if text)])
