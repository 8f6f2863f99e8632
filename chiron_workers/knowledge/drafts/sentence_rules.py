"""What keeps a sentence out of a draft without anybody being asked: the facts it names, and its form."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from chiron_workers.db.validation import collapse_whitespace
from chiron_workers.evidence.quotes.sentences import sentence_breaks
from chiron_workers.evidence.statements.support import repeats
from chiron_workers.evidence.statements.unsupported import missing_figures
from chiron_workers.knowledge.drafts.citable_facts import CitableFact, opposed_pairs
from chiron_workers.knowledge.drafts.reading import Sentence
from chiron_workers.states import FactStatus

SENTENCE_CHARS_MAX = 1_200
TITLE_CHARS_MAX = 120
FACTS_MAX = 12  # of one sentence
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
_ENDS = re.compile(r"[.!?…。！？][\"'”’)\]]*$")


def refuse_sentence(sentence: Sentence, facts: Mapping[str, CitableFact]) -> str | None:
    """Why a sentence cannot stand, from its form and the state of its facts; None where neither speaks against it.

    Args:
        facts: Those that are there, by id.
    """
    if not sentence.text:
        return "It is empty."
    if len(sentence.text) > SENTENCE_CHARS_MAX:
        return f"It has {len(sentence.text):,} characters; {SENTENCE_CHARS_MAX:,} are allowed."
    if not sentence.fact_ids:
        return "It names no fact. Each sentence rests on facts: name them, or drop it."
    if len(sentence.fact_ids) > FACTS_MAX:
        return f"It names {len(sentence.fact_ids)} facts; {FACTS_MAX} are enough. Say less in one sentence."
    return refuse_facts(sentence.fact_ids, facts)


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
    """Whether a sentence says in other notation at most what a fact says in so many words. Takes milliseconds."""
    return any(repeats(text, fact.content) for fact in facts)


def contradicts_itself(facts: Sequence[CitableFact]) -> bool:
    """Whether a sentence rests on both sides of a contradiction."""
    return bool(opposed_pairs(facts))


def tells_both_sides(text: str, facts: Sequence[CitableFact]) -> bool:
    """Whether a sentence gives each of its facts in the fact's own words, and besides only says that they disagree."""
    remainder = collapse_whitespace(text).casefold()
    for fact in facts:
        words = collapse_whitespace(fact.content).casefold().rstrip(".")
        if words not in remainder:
            return False
        remainder = remainder.replace(words, " ", 1)
    rest_words = _WORD.findall(remainder)
    return set(rest_words) <= CONNECTIVES and bool(set(rest_words) & OPPOSITIONS)


def unshown_figures(text: str, facts: Sequence[CitableFact]) -> list[str]:
    """The numbers and dates of a sentence that none of its facts shows."""
    passages = (f"{passage.context} {passage.quote}" for fact in facts for passage in fact.passages)
    return missing_figures(text, " ".join([*(fact.content for fact in facts), *passages]))
