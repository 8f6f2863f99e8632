"""The question whether statements say what the facts that they name say: sentences, headings, cells, and facts side by side.

The prompt is `cited_statements.md`, the tool by which the model answers `cited_statements.json`.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from itertools import chain
from string import Template
from typing import Any, Literal

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb
from pydantic import Field

from chiron_workers.db.queries import load
from chiron_workers.db.validation import collapse_whitespace
from chiron_workers.evidence.statements.support import Finding
from chiron_workers.knowledge.drafts.citable_facts import CitableFact
from chiron_workers.knowledge.drafts.fact_texts import chars_of, pages_of, shown, texts_of
from chiron_workers.knowledge.facts.numbered_answers import NumberedAnswer, read_answers
from chiron_workers.knowledge.facts.verdicts import (
    ENTRY_TOKENS,
    FRAME_TOKENS,
    ITEMS_MAX,
    Verdicts,
)
from chiron_workers.quotation import quoted
from chiron_workers.runs.entries import Reply
from chiron_workers.states import Verdict

SQL = load(__file__)
_PACKAGE = files("chiron_workers.knowledge.drafts")
QUESTION = Template((_PACKAGE / "cited_statements.md").read_text(encoding="utf-8").rstrip("\n"))
ANSWER_TOOL: dict[str, Any] = json.loads((_PACKAGE / "cited_statements.json").read_text(encoding="utf-8"))
ANSWER: str = ANSWER_TOOL["name"]
FACTS_CHARS_MAX = 60_000  # of one question
NO_ANSWER = "The model gave no answer that can be used."


class Kind(StrEnum):
    """What is judged: each kind is asked something else."""

    SENTENCE = "sentence"
    HEADING = "heading"
    CELL = "cell"
    FACTS = "facts"  # whether they can be true together


@dataclass(frozen=True, slots=True)
class CitedStatement:
    """A statement with the facts that it names.

    `before` is the sentence before it, where it may need that to be understood. `doubts` are what rules noticed: they are
    told to the judge and are not part of the key. Which of the facts are known to contradict each other is part of it.
    """

    kind: Kind
    text: str
    facts: tuple[CitableFact, ...]
    before: str = ""
    doubts: tuple[str, ...] = ()

    @property
    def has_passages(self) -> bool:
        """Whether the judge sees what its facts rest on; of a heading it sees their statements."""
        return self.kind in (Kind.SENTENCE, Kind.CELL)

    @property
    def digest(self) -> str:
        """The key of its verdict, hex: the same words about the same facts get the same verdict in every draft."""
        facts = [
            [
                (name, collapse_whitespace(text))
                for name, text in texts_of(fact, with_passages=self.has_passages)
            ]
            for fact in self.facts
        ]
        words = [self.kind, collapse_whitespace(self.text), collapse_whitespace(self.before), facts]
        places = {fact.fact_id: place for place, fact in enumerate(self.facts, start=1)}
        if pairs := _linked_pairs(self, places):
            words.append(pairs)
        return hashlib.sha256(json.dumps(words).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class CitedFinding:
    """A verdict on a statement. `named_facts` are those that say nothing of it; of the kind `facts`, two by two, those that
    contradict each other."""

    finding: Finding
    named_facts: tuple[str, ...] = ()

    @property
    def pairs(self) -> list[frozenset[str]]:
        """The facts that it names, two by two."""
        return [frozenset(pair) for pair in zip(self.named_facts[::2], self.named_facts[1::2], strict=False)]


class _Entry(NumberedAnswer):
    verdict: Literal[Verdict.SUPPORTED, Verdict.PARTLY, Verdict.CONTRADICTED, Verdict.SILENT]
    idle_facts: list[Any] = Field(default_factory=list)
    opposed_facts: list[Any] = Field(default_factory=list)


async def judge_statements(statements: Sequence[CitedStatement], verdicts: Verdicts) -> list[CitedFinding]:
    """The verdicts on statements, in their order: stored ones, else those of the model, in as few questions as have room.

    Without a model to ask they are `unchecked`, and the reason says why.

    Raises:
        LeaseLost: The run is no longer ours.
    """
    digests = [statement.digest for statement in statements]
    rows = await verdicts.session.rows(SQL["find"], {"evidence": digests}) if statements else []
    findings = {row["evidence"]: row for row in rows}
    answers = {
        digest: _stored(statement, findings[digest])
        for digest, statement in zip(digests, statements, strict=True)
        if digest in findings
    }
    open_statements = {
        digest: statement
        for digest, statement in zip(digests, statements, strict=True)
        if digest not in answers
    }
    for page in _pages(open_statements):
        answers |= await _ask(page, verdicts)
    return [answers[digest] for digest in digests]


async def _ask(
    page: Mapping[str, CitedStatement], verdicts: Verdicts, *, is_repetition: bool = False
) -> dict[str, CitedFinding]:
    statements = list(page.values())
    tokens_max = FRAME_TOKENS + ENTRY_TOKENS * len(statements)
    reply = await verdicts.reply(question(statements), tool=ANSWER_TOOL, tokens_max=tokens_max)
    if isinstance(reply, str):
        return dict.fromkeys(page, CitedFinding(Finding(Verdict.UNCHECKED, reply)))
    answers = dict(zip(page, parse_answers(reply, statements, judge=verdicts.judge_name), strict=True))
    vague_answers = {
        digest: answer for digest, answer in answers.items() if answer and names_no_pair(page[digest], answer)
    }
    await _store({key: answer for key, answer in answers.items() if key not in vague_answers}, page, verdicts)
    useless = CitedFinding(Finding(Verdict.UNCHECKED, NO_ANSWER))
    findings = {digest: answer or useless for digest, answer in answers.items()}
    if vague_answers and not is_repetition:
        vague_page = {digest: page[digest] for digest in vague_answers}
        second_findings = await _ask(vague_page, verdicts, is_repetition=True)
        # A second reply that says nothing takes nothing back.
        findings |= {
            digest: finding
            for digest, finding in second_findings.items()
            if finding.finding.verdict is not Verdict.UNCHECKED
        }
    return findings


def names_no_pair(statement: CitedStatement, answer: CitedFinding) -> bool:
    """Whether an answer says that facts contradict each other and not which of them. That of two facts needs no numbers."""
    is_contradiction = (
        statement.kind is Kind.FACTS and answer.finding.verdict is Verdict.CONTRADICTED and not answer.pairs
    )
    return is_contradiction and len(statement.facts) != 2


async def _store(
    answers: Mapping[str, CitedFinding | None], page: Mapping[str, CitedStatement], verdicts: Verdicts
) -> None:
    entries = []
    for digest, answer in answers.items():
        if answer is not None:
            places = {fact.fact_id: place for place, fact in enumerate(page[digest].facts, start=1)}
            entries.append(
                {
                    "evidence": digest,
                    "verdict": answer.finding.verdict,
                    "reason": answer.finding.reason,
                    "named_facts": [places[fact_id] for fact_id in answer.named_facts],
                }
            )
    args = {
        "answers": Jsonb(entries),
        "model": verdicts.judge_name,
        "run_id": verdicts.session.caller.run_id,
    }
    # In a transaction of its own: it is paid for once even if the call that asked fails.
    async with verdicts.session.pool.connection() as connection:
        await connection.execute(SQL["store"], args)


def _stored(statement: CitedStatement, row: DictRow) -> CitedFinding:
    named_facts = (statement.facts[place - 1].fact_id for place in row["named_facts"])
    return CitedFinding(Finding(Verdict(row["verdict"]), row["reason"], row["model"]), tuple(named_facts))


def _pages(statements: Mapping[str, CitedStatement]) -> Iterator[dict[str, CitedStatement]]:
    """Statements in questions that have room for them and for all of their facts, each of which is shown once."""
    page: dict[str, CitedStatement] = {}
    for digest, statement in statements.items():
        is_full = len(page) == ITEMS_MAX or _facts_chars([*page.values(), statement]) > FACTS_CHARS_MAX
        if page and is_full:
            yield page
            page = {}
        page[digest] = statement
    if page:
        yield page


def _facts_chars(statements: Sequence[CitedStatement]) -> int:
    return sum(
        chars_of(fact, with_passages=with_passages) for fact, with_passages in _facts(statements).values()
    )


def _facts(statements: Sequence[CitedStatement]) -> dict[str, tuple[CitableFact, bool]]:
    """The facts of statements by id, each with whether its passages are shown."""
    facts: dict[str, tuple[CitableFact, bool]] = {}
    for statement in statements:
        for fact in statement.facts:
            _, with_passages = facts.get(fact.fact_id, (fact, False))
            facts[fact.fact_id] = fact, with_passages or statement.has_passages
    return facts


def question(statements: Sequence[CitedStatement]) -> str:
    """The words that put statements to a model: pages and facts, each once, then each statement with the numbers of its facts."""
    facts = _facts(statements)
    numbers = {fact_id: number for number, fact_id in enumerate(facts, start=1)}
    pages, letters = pages_of(fact for fact, with_passages in facts.values() if with_passages)
    parts = [f"Page {page.letter}\n{quoted('page', page.text)}" for page in pages]
    parts += [
        f"Fact {numbers[fact_id]}\n{shown(fact, letters, with_passages=with_passages)}"
        for fact_id, (fact, with_passages) in facts.items()
    ]
    items = (_item(number, statement, numbers) for number, statement in enumerate(statements, start=1))
    return QUESTION.substitute(facts="\n\n".join(parts), statements="\n\n".join(items), tool=ANSWER)


def _item(number: int, statement: CitedStatement, numbers: Mapping[str, int]) -> str:
    texts = [("statement", statement.text), ("before", statement.before)]
    texts += [("doubt", doubt) for doubt in statement.doubts]
    lines = [f"Number {number}", f"kind: {statement.kind}"]
    lines.append(f"facts: {', '.join(str(numbers[fact.fact_id]) for fact in statement.facts)}")
    if pairs := _linked_pairs(statement, numbers):
        lines.append(f"known: {'; '.join(pairs)}")
    return "\n".join([*lines, *(quoted(name, text) for name, text in texts if text)])


def _linked_pairs(statement: CitedStatement, numbers: Mapping[str, int]) -> list[str]:
    """The facts of a statement that are known to contradict each other, as "1 against 2"."""
    ids = {fact.fact_id for fact in statement.facts}
    pairs = {
        tuple(sorted((numbers[fact.fact_id], numbers[opponent])))
        for fact in statement.facts
        for opponent in fact.opponents
        if opponent in ids
    }
    return [f"{first} against {second}" for first, second in sorted(pairs)]


def parse_answers(
    reply: Reply, statements: Sequence[CitedStatement], *, judge: str
) -> list[CitedFinding | None]:
    """The findings in a model's reply, in the order of the question's statements; None for one without a usable entry."""
    fact_ids = list(_facts(statements))
    answers = read_answers(reply, ANSWER, "verdicts", _Entry, len(statements))
    return [
        CitedFinding(Finding(answer.verdict, answer.reason, judge), _named_facts(answer, statement, fact_ids))
        if answer
        else None
        for answer, statement in zip(answers, statements, strict=True)
    ]


def _named_facts(answer: _Entry, statement: CitedStatement, fact_ids: Sequence[str]) -> tuple[str, ...]:
    """The ids of the facts that an answer names by their numbers in the question; numbers of no fact of the statement are
    passed over."""
    own_ids = {fact.fact_id for fact in statement.facts}

    def id_of(number: object) -> str:
        is_number = isinstance(number, int) and 1 <= number <= len(fact_ids)
        return fact_ids[number - 1] if is_number and fact_ids[number - 1] in own_ids else ""  # type: ignore[operator]

    if statement.kind is not Kind.FACTS:
        return tuple(dict.fromkeys(filter(None, map(id_of, answer.idle_facts))))
    pairs = [
        tuple(map(id_of, pair)) for pair in answer.opposed_facts if isinstance(pair, list) and len(pair) == 2
    ]
    return tuple(chain.from_iterable(pair for pair in pairs if all(pair) and len(set(pair)) == 2))
