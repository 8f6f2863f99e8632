"""What rules alone say of a cell: whether its value occurs in its facts, in words or as a figure; never what it means there."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import inf
from urllib.parse import urlsplit

from chiron_workers.db.validation import collapse_whitespace
from chiron_workers.evidence.figures.figures import plain
from chiron_workers.evidence.quotes.sentences import sentence_breaks
from chiron_workers.evidence.statements.statement import parse
from chiron_workers.evidence.statements.unsupported import missing_figures
from chiron_workers.knowledge.drafts.citable_facts import CitableFact
from chiron_workers.knowledge.drafts.sentence_rules import FACTS_MAX, contradicts_itself, unshown_figures
from chiron_workers.knowledge.rows.calculations import Calculation
from chiron_workers.knowledge.rows.values import Value, written
from chiron_workers.runs.columns import Column
from chiron_workers.states import ColumnType, FactStatus

GONE_REASONS = {
    FactStatus.WITHDRAWN: "was withdrawn",
    FactStatus.SUPERSEDED: "is superseded: no source of it says so any more",
}
EMPTY_INSTEAD = "or leave the cell empty with a reason"
_NUMBER = re.compile(r"(?<![\w.,])[+-]?\d+(?:\.\d+)?(?![\w,]|\.\d)")


@dataclass(frozen=True, slots=True)
class FilledCell:
    """A cell with a value of its column's type and the ids of the facts it rests on.

    `label` names the subject of its row, `topic` the question of its table. `calculation` computed its value from its facts.
    """

    column: Column
    value: Value
    fact_ids: tuple[str, ...]
    label: str = ""
    topic: str = ""
    calculation: Calculation | None = None

    @property
    def statement(self) -> str:
        """What is judged, a line each: topic of the table, what the row tells of, column with description and type, value, and
        how that was calculated.
        """
        parts = {
            "table": self.topic,
            "row": self.label,
            "column": self.column.name,
            "description": self.column.description,
            "type": self.column.type,
            "value": written(self.value),
            "calculation": self.calculation.formula if self.calculation else "",
        }
        lines = {name: collapse_whitespace(text) for name, text in parts.items()}
        return "\n".join(f"{name}: {text}" for name, text in lines.items() if text)


@dataclass(frozen=True, slots=True)
class CellRuling:
    """What the rules say: why the cell is refused, or what they doubt of it.

    `has_value`: its value occurs in its facts, though perhaps of something else; that is enough without a model to ask.
    """

    refusal: str = ""
    has_value: bool = False
    doubts: tuple[str, ...] = ()


def rule(cell: FilledCell, facts: Mapping[str, CitableFact]) -> CellRuling:
    """What the rules say of a cell. Takes dozens of milliseconds for facts with long quotes.

    Args:
        facts: Those that are there, by id.
    """
    if refusal := _refuse_facts(cell.fact_ids, facts):
        return CellRuling(refusal)
    cited_facts = [facts[fact_id] for fact_id in cell.fact_ids]
    if contradicts_itself(cited_facts):
        return CellRuling(
            "Its facts contradict each other. Name those that say so alone, or leave the cell empty and say in its "
            "reason that sources disagree."
        )
    ruling = _rule_value(cell, cited_facts)
    doubts = () if ruling.refusal else _label_doubts(cell.label, cited_facts)
    return replace(ruling, doubts=(*ruling.doubts, *doubts))


def _rule_value(cell: FilledCell, facts: Sequence[CitableFact]) -> CellRuling:
    match cell.column.type:
        case ColumnType.BOOL:
            return CellRuling()
        case ColumnType.INT | ColumnType.FLOAT:
            return _rule_number(cell, facts)
        case ColumnType.DATE:
            return _rule_day(cell, facts)
        case ColumnType.URL:
            return _rule_address(str(cell.value), facts)
    return _rule_text(str(cell.value), facts)


def _label_doubts(label: str, facts: Sequence[CitableFact]) -> tuple[str, ...]:
    """Whether no fact has a word of what the row tells of."""
    stems = parse(label).stems
    is_named = any(stems & parse(text).stems for text in _words(facts))
    return () if is_named or not stems else (f"No fact of it names the thing of the row: {label}",)


def _refuse_facts(fact_ids: Sequence[str], facts: Mapping[str, CitableFact]) -> str:
    if not fact_ids:
        return (
            f"It names no fact. Store what a source says with store_knowledge and name it, {EMPTY_INSTEAD}."
        )
    if len(fact_ids) > FACTS_MAX:
        return f"It names {len(fact_ids)} facts; {FACTS_MAX} are enough."
    refusals = (
        refuse_fact(fact_id, facts.get(fact_id), otherwise=f", {EMPTY_INSTEAD}") for fact_id in fact_ids
    )
    return next(filter(None, refusals), "")


def refuse_fact(
    fact_id: str, fact: CitableFact | None, *, otherwise: str = "", has_scope: bool = True
) -> str:
    """Why nothing may rest on a fact; empty where it may.

    Args:
        otherwise: What else can be done, after "Name another".
        has_scope: Whether it must be of a subject.
    """
    if fact is None:
        return f"There is no fact {fact_id[:60]}. A fact is stored before a cell may name it; take the id that came back."
    if has_scope and not fact.is_in_scope:
        return f"Fact {fact_id} belongs to another subject."
    if fact.status in GONE_REASONS:
        return f"Fact {fact_id} {GONE_REASONS[fact.status]}. Name another{otherwise}."
    return ""


def shows_number(facts: Sequence[CitableFact], number: Fraction) -> bool:
    """Whether facts show a number in any way, in their words, quotes or around these."""
    return any(number in _numbers(text) for text in _words(facts, with_context=True))


def _rule_number(cell: FilledCell, facts: Sequence[CitableFact]) -> CellRuling:
    if not shows_number(facts, Fraction(str(cell.value))):
        if cell.calculation:
            return _rule_calculation(cell.calculation)
        return CellRuling(
            refusal=f"Its facts do not say {written(cell.value)}. Give the number as they have it, have calculate make it of "
            f"their numbers, {EMPTY_INSTEAD}."
        )
    is_plain = len({number for fact in facts for number in _figures(fact.content)}) == 1
    return CellRuling(has_value=True, doubts=() if is_plain else ("Its facts have other numbers too.",))


def _rule_calculation(calculation: Calculation) -> CellRuling:
    """A number that a tool made of the facts' numbers; without a model to ask, one with further numbers is not enough."""
    own_numbers = ", ".join(calculation.own_numbers)
    doubts = (f"The calculation has numbers that are from no fact: {own_numbers}.",) if own_numbers else ()
    return CellRuling(has_value=not own_numbers, doubts=doubts)


def _rule_day(cell: FilledCell, facts: Sequence[CitableFact]) -> CellRuling:
    day = str(cell.value)
    if missing_figures(day, " ".join(_words(facts, with_context=True))):
        return CellRuling(
            refusal=f"Its facts do not name the day {day}. Name the fact that does, {EMPTY_INSTEAD}."
        )
    days = {(date.first, date.last) for fact in facts for date in parse(fact.content).figures.dates}
    return CellRuling(has_value=True, doubts=() if len(days) == 1 else ("Its facts have other dates too.",))


def _rule_address(value: str, facts: Sequence[CitableFact]) -> CellRuling:
    if _address(value) in {_address(url) for url in _source_urls(facts)}:
        return CellRuling(has_value=True)
    if any(_has_address(text, value) for text in _words(facts, with_context=True)):
        return CellRuling(has_value=True)
    return CellRuling(
        refusal=f"No fact of it is from this address or has it in its words. Take the address of a source, {EMPTY_INSTEAD}."
    )


def _rule_text(value: str, facts: Sequence[CitableFact]) -> CellRuling:
    urls = _source_urls(facts)
    if value.casefold() in map(_host, urls) or _address(value) in map(_address, urls):
        return CellRuling(has_value=True)
    words = " ".join(_words(facts, with_context=True))
    if figures := unshown_figures(value, facts) or missing_figures(value, words, with_identifiers=True):
        return CellRuling(
            refusal=f"Its facts do not say {', '.join(figures)}. Say what they say, {EMPTY_INSTEAD}."
        )
    has_negation = bool(parse(value).negations)

    def negates(words: str) -> bool:
        return not has_negation and bool(parse(words).negations)

    showings = [sentence for text in _words(facts) for sentence in _showings(text, value)]
    is_denied = bool(showings) and all(negates(whole) for whole, _ in showings)
    return CellRuling(
        has_value=any(not negates(start) for _, start in showings),
        doubts=("Where its facts have the value, they deny something.",) if is_denied else (),
    )


def _words(facts: Sequence[CitableFact], *, with_context: bool = False) -> list[str]:
    """The statements and the quotes of facts, and what stands around these."""
    texts = [fact.content for fact in facts] + [passage.quote for fact in facts for passage in fact.passages]
    contexts = [passage.context for fact in facts for passage in fact.passages] if with_context else []
    return list(dict.fromkeys(text for text in texts + contexts if text))


def _figures(text: str) -> set[Fraction | float]:
    """The numbers and the years that a text says; "first" and "second" count nothing in most sentences."""
    figures = parse(text).figures
    counts = [quantity for quantity in figures.quantities if quantity.dimension != "rank" or quantity.low > 2]
    ends = {end for quantity in counts for end in (quantity.low, quantity.high)}
    return ends | {Fraction(date.first[0]) for date in figures.dates}


def _numbers(text: str) -> set[Fraction | float]:
    """The numbers that a text shows in any way: as it writes them, in base units, and as years."""
    figures = parse(text).figures
    digits = (figures.text[quantity.start : quantity.number_end] for quantity in figures.quantities)
    written_numbers = (number.replace(",", "") for number in digits)
    texts = [
        *(number for number in written_numbers if _NUMBER.fullmatch(number)),
        *_NUMBER.findall(figures.text),
    ]
    return _figures(text) - {inf, -inf} | {Fraction(number) for number in texts}


def _source_urls(facts: Sequence[CitableFact]) -> Collection[str]:
    return {passage.source_url for fact in facts for passage in fact.passages}


def _address(url: str) -> str:
    return url.partition("#")[0].rstrip("/")


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _has_address(text: str, url: str) -> bool:
    return re.search(rf"(?<!\S)\W{{0,3}}{re.escape(url.rstrip('/'))}/?(?![\w/?=&%-]|[.]\w)", text) is not None


def _showings(text: str, value: str) -> Iterator[tuple[str, str]]:
    """Each sentence that has a value's words one after the other, and how it begins before them."""
    words = collapse_whitespace(plain(value)).casefold().rstrip(".")
    pattern = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)")
    line = collapse_whitespace(plain(text))
    for first, last in pairwise(sentence_breaks(line)) if words else ():
        if match := pattern.search(sentence := line[first:last].casefold()):
            yield sentence, sentence[: match.start()]
