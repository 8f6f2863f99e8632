"""What keeps a sentence out of a draft without anybody being asked: the facts it names, and its form; and what rules doubt.

Rules refuse or doubt, and confirm nothing: that a sentence has a fact's words says nothing of what both mean.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import combinations, pairwise

from chiron_workers.db.validation import collapse_whitespace
from chiron_workers.evidence.quotes.sentences import sentence_breaks
from chiron_workers.evidence.standing_alone import open_reference
from chiron_workers.evidence.statements.comparison import compare
from chiron_workers.evidence.statements.headings import claiming_word
from chiron_workers.evidence.statements.relation import relate
from chiron_workers.evidence.statements.statement import parse
from chiron_workers.evidence.statements.support import judge_by_rules
from chiron_workers.evidence.statements.unsupported import missing_figures
from chiron_workers.knowledge.drafts.citable_facts import CitableFact, opposed_pairs
from chiron_workers.knowledge.drafts.expiry import is_expired, states_time
from chiron_workers.knowledge.drafts.reading import Sentence
from chiron_workers.states import FactStatus, Relation, Verdict

SENTENCE_CHARS_MAX = 1_200
TITLE_CHARS_MAX = 120
FACTS_MAX = 12  # of one sentence
SAME_TOPIC_SHARE = 0.7  # of the content words of two facts
DOUBT_CHARS_MAX = 200  # of a fact's words
REPEATED_SENTENCES_MAX = 20  # of a fact that are compared
COMPARED_FACTS_MAX = 60  # of a section, whose pairs the rules compare
STATUS_REASONS = {
    FactStatus.CANDIDATE: "is a candidate, not sure enough to be told",
    FactStatus.SUPERSEDED: "is superseded: none of its sources says so any more",
    FactStatus.WITHDRAWN: "was withdrawn",
}
# What may stand around both sides of a contradiction where nobody is asked about the sentence.
CONNECTIVES = frozenset(
    {
        "against",
        "and",
        "another",
        "but",
        "contradict",
        "contradicts",
        "disagree",
        "disagrees",
        "each",
        "one",
        "other",
        "others",
    }
    | {"say", "says", "source", "sources", "that", "the", "these", "two", "whereas", "while"}
)
OPPOSITIONS = frozenset(
    {"against", "but", "contradict", "contradicts", "disagree", "disagrees", "whereas", "while"}
)
_WORD = re.compile(r"[^\W_]+")
_FACT_MARK = " \0 "  # no stored text has it
_SIDE_BY_SIDE = re.compile(r" *\0(?: *; *\0)+ *\.? *")
_ENDS = re.compile(r"[.!?…。！？][\"'”’)\]]*$")


def refuse_sentence(sentence: Sentence, facts: Mapping[str, CitableFact], *, today: date) -> str | None:
    """Why a sentence cannot stand, from its form and the state of its facts; None where neither speaks against it.

    Args:
        facts: Those that are there, by id.
        today: On which a fact may have expired.
    """
    if not sentence.text:
        return "It is empty."
    if len(sentence.text) > SENTENCE_CHARS_MAX:
        return f"It has {len(sentence.text):,} characters; {SENTENCE_CHARS_MAX:,} are allowed."
    if not sentence.fact_ids:
        return "It names no fact. Each sentence rests on facts: name them, or drop it."
    if len(sentence.fact_ids) > FACTS_MAX:
        return f"It names {len(sentence.fact_ids)} facts; {FACTS_MAX} are enough. Say less in one sentence."
    return refuse_facts(sentence.fact_ids, facts) or _refuse_expired(
        sentence.text, [facts[fact_id] for fact_id in sentence.fact_ids], today
    )


def _refuse_expired(text: str, facts: Sequence[CitableFact], today: date) -> str | None:
    for fact in facts:
        if is_expired(fact.valid_until, today) and not states_time(text, fact.valid_from, fact.valid_until):
            return (
                f"Fact {fact.fact_id} was so until {fact.valid_until} and no longer is. Say the time in the sentence, such as "
                f'"until {fact.valid_until}", or drop it.'
            )
    return None


def refuse_facts(fact_ids: Sequence[str], facts: Mapping[str, CitableFact]) -> str | None:
    """Why a sentence cannot rest on these facts as they stand now; None where it can."""
    for fact_id in fact_ids:
        fact = facts.get(fact_id)
        if fact is None:
            return f"There is no fact {fact_id}."
        if not fact.is_shown:
            return f"Fact {fact_id} {STATUS_REASONS.get(fact.status, f'is {fact.status}')}; rest on others, or drop it."
        is_opponent = any(fact_id in facts[key].opponents for key in fact_ids if key in facts)
        if not (fact.is_in_scope or is_opponent):
            return f"Fact {fact_id} is none of those that this draft is made of; list_facts shows them."
        if fact.opponents and not set(fact.opponents) & set(fact_ids):
            return (
                f"Fact {fact_id} is contradicted by fact {fact.opponents[0]}. Tell both in one sentence that names both and "
                "says that they contradict each other, or neither."
            )
    return None


def refuse_title(title: str, facts: Sequence[CitableFact]) -> str | None:
    """Why a heading cannot stand: it names a topic, and says nothing that would need a fact; None where it can."""
    if not 0 < len(title) <= TITLE_CHARS_MAX:
        return f"title: must have between 1 and {TITLE_CHARS_MAX} characters."
    if _ENDS.search(title):
        return "title: is a sentence. Name what the section is about in a few words."
    material = " ".join([fact.content for fact in facts] + [fact.topic_path for fact in facts])
    if figures := missing_figures(title, material):
        return f"title: {', '.join(figures)} stands in no fact of the section."
    return None


def is_one_sentence(text: str) -> bool:
    """Whether a text is no more than one sentence."""
    breaks = sentence_breaks(text)
    return sum(bool(text[start:end].strip()) for start, end in pairwise(breaks)) == 1


def is_repeated(text: str, facts: Sequence[CitableFact]) -> bool:
    """Whether a sentence has in other notation at most the words of each of its facts. Takes milliseconds.

    The time until which a fact was so may be added to them.
    """
    return all(_has_words_of(text, fact) or _has_words_of(_without_time(text, fact), fact) for fact in facts)


def _has_words_of(text: str, fact: CitableFact) -> bool:
    sentences = _sentences(fact.content)
    return bool(text) and all(
        any(relate(ours, theirs).relation is Relation.SAME for theirs in sentences)
        for ours in _sentences(text)
    )


def _without_time(text: str, fact: CitableFact) -> str:
    """A sentence without the words that give the validity of its fact: "Until 2019, ", " (from 2010 until 2019)"."""
    first, last = (re.escape(day or "") for day in (fact.valid_from, fact.valid_until))
    if not last:
        return ""
    span = (
        rf"(?:(?:from|between|since) {first} )?(?:until|to|till|and) {last}"
        if first
        else rf"(?:until|till) {last}"
    )
    bare = re.sub(rf"^{span}[,:]? | \({span}\)|,? {span}(?=[.!]?$)", "", text, flags=re.IGNORECASE)
    return "" if bare == text else bare


def _sentences(text: str) -> list[str]:
    pieces = (
        [text[start:end].strip() for start, end in pairwise(sentence_breaks(text))] if text.strip() else []
    )
    return [piece for piece in pieces if piece][:REPEATED_SENTENCES_MAX]


def contradicts_itself(facts: Sequence[CitableFact]) -> bool:
    """Whether a sentence rests on both sides of a contradiction."""
    return bool(opposed_pairs(facts))


def tells_both_sides(text: str, facts: Sequence[CitableFact]) -> bool:
    """Whether a sentence gives each of its facts in the fact's own words, and besides only says that they disagree."""
    words = set(_WORD.findall(_with_facts_marked(text, facts)))
    return words <= CONNECTIVES and bool(words & OPPOSITIONS)


def stands_side_by_side(text: str, facts: Sequence[CitableFact]) -> bool:
    """Whether a sentence gives each of several facts in the fact's own words, with a semicolon between them and nothing else.

    A semicolon connects nothing: behind "and" a fact would share the condition or the time of the one before. What begins
    with "it" would mean another thing behind another fact.
    """
    is_alone = not any(open_reference(fact.content) for fact in facts)
    return (
        len(facts) > 1 and is_alone and _SIDE_BY_SIDE.fullmatch(_with_facts_marked(text, facts)) is not None
    )


def _with_facts_marked(text: str, facts: Sequence[CitableFact]) -> str:
    """A sentence in lower case with a mark for the own words of each fact; empty where those of one are missing."""
    remainder = collapse_whitespace(text).casefold()
    for fact in facts:
        words = collapse_whitespace(fact.content).casefold().rstrip(".")
        if words not in remainder:
            return ""
        remainder = remainder.replace(words, _FACT_MARK, 1)
    return remainder


def unshown_figures(text: str, facts: Sequence[CitableFact]) -> list[str]:
    """The numbers and dates of a sentence that none of its facts shows."""
    passages = (f"{passage.context} {passage.quote}" for fact in facts for passage in fact.passages)
    spans = (f"{fact.valid_from or ''} {fact.valid_until or ''}" for fact in facts)
    return missing_figures(text, " ".join([*(fact.content for fact in facts), *passages, *spans]))


def sentence_doubts(text: str, facts: Sequence[CitableFact]) -> tuple[str, ...]:
    """What rules doubt of a sentence, for its judge to look at. Takes dozens of milliseconds for long quotes."""
    doubts = []
    if word := open_reference(text):
        doubts.append(f'It may be unclear by itself what "{word}" refers to.')
    words = " ".join(
        [*(fact.content for fact in facts), *(part.quote for fact in facts for part in fact.passages)]
    )
    finding = judge_by_rules(text, words)
    if finding is not None and finding.verdict is not Verdict.SUPPORTED:
        doubts.append(finding.reason)
    stems = parse(text).stems
    idle_facts = [fact for fact in facts if len(facts) > 1 and not stems & parse(fact.content).stems]
    doubts += [f"No word of it stands in the fact: {fact.content[:DOUBT_CHARS_MAX]}" for fact in idle_facts]
    return tuple(doubts)


def heading_doubts(title: str) -> tuple[str, ...]:
    """What rules doubt of a heading."""
    word = claiming_word(title)
    return (f'It may claim something, by its word "{word}".',) if word else ()


@dataclass(frozen=True, slots=True)
class Clash:
    """Why rules read two facts as contradicting each other; `is_plain` where most of their words are the same as well."""

    reason: str
    is_plain: bool = True


def clashing_pairs(facts: Sequence[CitableFact]) -> dict[frozenset[str], Clash]:
    """The facts that contradict each other by the rules and are not linked, two by two.

    Takes a tenth of a second: the first 60 facts are compared.
    """
    pairs = {}
    for first, second in combinations(facts[:COMPARED_FACTS_MAX], 2):
        is_linked = second.fact_id in first.opponents or first.fact_id in second.opponents
        comparison = compare(parse(first.content), parse(second.content))
        if is_linked or not comparison.common_stems:
            continue
        verdict = relate(first.content, second.content)
        if verdict.relation is Relation.CONTRADICTS:
            # "A museum since 1971" and "18,000 visitors of the museum in 2018" may both be true.
            has_other_date = any(slot.is_date for slot in comparison.different_slots)
            is_plain = not has_other_date or comparison.overlap >= SAME_TOPIC_SHARE
            pairs[frozenset((first.fact_id, second.fact_id))] = Clash(verdict.reason, is_plain)
    return pairs
