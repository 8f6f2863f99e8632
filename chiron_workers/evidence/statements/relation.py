"""How a new statement relates to a prior one that is near in meaning, as far as figures, negations and names decide it."""

import re
from dataclasses import dataclass
from itertools import starmap
from operator import attrgetter
from typing import TypeGuard

from chiron_workers.evidence.figures.dates import DateSpan
from chiron_workers.evidence.figures.figures import Figure
from chiron_workers.evidence.figures.quantities import Agreement, Quantity
from chiron_workers.evidence.statements import contradictions, novelties
from chiron_workers.evidence.statements.comparison import Comparison, compare
from chiron_workers.evidence.statements.statement import Statement, parse, spelling_of
from chiron_workers.evidence.statements.stems import stem_of
from chiron_workers.evidence.statements.tokens import DENIAL
from chiron_workers.evidence.validity import read_validity
from chiron_workers.states import Relation

SIZE_MAX = 120  # content words and figures of a statement
_STATED_PARTS = attrgetter("dimension", "low", "high", "is_about", "is_limit")
_PASSIVE_VERB = re.compile(r"\b(?:is|are|was|were|be|been)\s+(?:\w+ly\s+)?(\w+ed)\b", re.I)
REPEATED_SHARE = 0.6  # of the prior statement's content words, that the one which limits it repeats


@dataclass(frozen=True, slots=True)
class RelationVerdict:
    """How a new statement relates to a prior one, and what decided it; None: it is not decided."""

    relation: Relation | None
    reason: str


def relate(new: str, prior: str) -> RelationVerdict:
    """Decide how `new` relates to `prior`, as far as rules can tell; they see no more of the world than these words.

    `same` needs the same words in the same order, and figures that differ in notation alone: 5 km, 5,000 metres.
    `contradicts` needs one slot that the two fill differently, and that neither is over before the other begins. What is not
    plain stays undecided.
    """
    verdict = _relate(new, prior)
    if verdict.relation is Relation.CONTRADICTS and speak_of_different_times(new, prior):
        return RelationVerdict(Relation.NEW, "One is over before the other begins.")
    return verdict


def speak_of_different_times(new: str, prior: str) -> bool:
    """Whether one statement is over, by its own words, before the other begins, so that both may be true."""
    return read_validity(new).is_apart_from(read_validity(prior))


def _relate(new: str, prior: str) -> RelationVerdict:
    if _has_same_words(new, prior):
        return RelationVerdict(Relation.SAME, "The words are the same.")
    new_statement, prior_statement = parse(new), parse(prior)
    if not (new_statement.is_english and prior_statement.is_english):
        return _relate_in_any_language(new_statement, prior_statement)
    if max(len(new_statement.order), len(prior_statement.order)) > SIZE_MAX:
        return RelationVerdict(None, "They are too long for rules that compare single statements.")
    figures = zip(new_statement.figures.all, prior_statement.figures.all, strict=False)
    if new_statement.masked_text == prior_statement.masked_text and all(starmap(_is_same_figure, figures)):
        return RelationVerdict(Relation.SAME, "Figures, names and words agree.")
    comparison = compare(new_statement, prior_statement)
    for answer, rule in _RULES:
        if reason := rule(comparison):
            return RelationVerdict(answer, f"{reason}.")
    return RelationVerdict(None, "The words differ in ways that rules cannot judge.")


def _has_same_words(new: str, prior: str) -> bool:
    """Whether two statements are the same but for an emoji around one of them; two emoji may say different things."""
    ours, theirs = spelling_of(new), spelling_of(prior)
    return theirs.plain in (ours.plain, ours.bare) or ours.plain == theirs.bare


def _relate_in_any_language(new: Statement, prior: Statement) -> RelationVerdict:
    """`contradicts` where all words are the same and one measure differs: "330 m hoch" and "324 m hoch".

    `same` where no figure differs: 4人 and 四人.
    """
    pairs = list(zip(new.figures.all, prior.figures.all, strict=False))
    differences = [(ours, theirs) for ours, theirs in pairs if not _is_same_figure(ours, theirs)]
    if new.masked_text != prior.masked_text:
        differences = []
    elif not differences and all(map(_is_plain, (*new.figures.all, *prior.figures.all))):
        return RelationVerdict(Relation.SAME, "Figures, names and words agree.")
    if len(differences) == 1:
        [(ours, theirs)] = differences
        if _is_measure(ours) and _is_measure(theirs) and ours.agreement(theirs) is Agreement.DIFFERENT:
            return RelationVerdict(Relation.CONTRADICTS, f"{ours.written} against {theirs.written}.")
    return RelationVerdict(None, "The rules read English, and measures in any language.")


def _is_plain(figure: Figure) -> bool:
    return not {".", ","} & set(figure.written)  # 1.234 may be either number


def _is_measure(figure: Figure) -> TypeGuard[Quantity]:
    # A bare number or a date may say which one is spoken of: Apollo 11, im Jahr 2020.
    return (
        isinstance(figure, Quantity)
        and _is_plain(figure)
        and figure.dimension not in {"count", "name", "rank"}
    )


def limit(comparison: Comparison) -> str:
    """The word by which the new statement limits the prior one: "works only if given early" and "works"."""
    cues = comparison.new.cues - comparison.prior.cues
    if not cues or comparison.different_slots:
        return ""
    if len(comparison.common_stems) < REPEATED_SHARE * len(comparison.prior.stems):
        return ""
    if _passive_verbs(comparison.prior) - comparison.new.stems:
        return ""  # "is taken up when" limits nothing of "were stained"
    cue, place = next((word, place) for word, place in comparison.new.marks if word in cues)
    negations_before = sum(at < place for word, at in comparison.new.marks if word == DENIAL)
    if negations_before != len(comparison.prior.negations):
        return ""  # "not A but B" limits nothing
    return f'The new one says "{cue}"'


def _passive_verbs(statement: Statement) -> set[str]:
    """The stems of what is said to be done, as far as its form shows it: "were stained"."""
    return {stem_of(verb.casefold()) for verb in _PASSIVE_VERB.findall(statement.masked_text)}


# The first that finds something decides.
_RULES = (
    (Relation.NEW, novelties.other_time),
    (Relation.NEW, novelties.other_subject),
    (Relation.CONTRADICTS, contradictions.different_figures),
    (Relation.CONTRADICTS, contradictions.opposite_words),
    (Relation.CONTRADICTS, contradictions.opposite_directions),
    (Relation.CONTRADICTS, contradictions.negation),
    (Relation.CONTRADICTS, contradictions.different_names),
    (Relation.QUALIFIES, limit),
)


def _is_same_figure(figure: Figure, rival: Figure) -> bool:
    if isinstance(figure, DateSpan):
        return isinstance(rival, DateSpan) and figure.agreement(rival) is Agreement.EQUAL
    if isinstance(rival, DateSpan):
        return False
    if {figure.dimension, rival.dimension} & {"count", "name"} and "." in figure.written + rival.written:
        return figure.written == rival.written  # 3.1 and 3.10 are one number and two versions
    return _STATED_PARTS(figure) == _STATED_PARTS(rival)
