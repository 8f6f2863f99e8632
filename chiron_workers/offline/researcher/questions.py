"""Questions that facts allow without understanding them: a gap, a case that a fact decides, a word that two facts share."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, islice, zip_longest
from typing import Any

from chiron_workers.evidence.figures.figures import read_figures
from chiron_workers.offline.researcher.composition import Fact, clear_facts
from chiron_workers.offline.researcher.words import COMMON_WORDS

QUESTIONS_MIN, QUESTIONS_MAX = 3, 6
RECALLS_MAX, APPLICATIONS_MAX, TRANSFERS_MAX = 4, 2, 2
WORD_CHARS_MIN = 5
KEY_CHARS_MAX = 160  # of a case's answer
PAIR_CHARS_MAX = 600  # of two statements that share a word
PAIRS_MAX = 500
GAP = "____"
RECALL = "What belongs in the gap? {statement}"
APPLICATION = "Take this case: {case}. What follows?"
TRANSFER = "The same word is missing in two places; which is it? Here: {statement} And there: {other}"
_WORD = re.compile(rf"[^\W\d_][\w'-]{{{WORD_CHARS_MIN - 1},}}")
_NAME = re.compile(r"[a-z][A-Z]|_")  # of a program: UnboundLocalError
_BLAND = re.compile(r"(?:ly|ing|ed|sel(?:f|ves))$", re.IGNORECASE)
_CASE_FIRST = re.compile(r"^(?:If|When|Whenever|Once|Where) (?P<case>.+), (?:then )?(?P<key>[^,]+)\.$")
_CASE_LAST = re.compile(r"^(?P<key>[^,]+?) (?:if|when|whenever) (?P<case>[^,]+)\.$")
# How a part of a sentence begins that is not understood without the other one; of whole sentences it is DEPENDENT_START.
_DEPENDENT_PART = re.compile(
    r"(?:just|it|its|they|their|this|that|these|those|such|and|or|but|which|who|as|so|even|not|only|then)\b",
    re.IGNORECASE,
)

Question = dict[str, Any]


def new_questions(facts: Sequence[Fact]) -> list[Question]:
    """Questions of all kinds that the facts allow, one of each in turn; none about what is contradicted.

    No word is asked for twice, and where there are enough facts no fact, as one question would give the other away.
    """
    askable_facts = [_cleaned(fact) for fact in clear_facts(facts) if not fact.get("contradicted_by")]
    keys: set[str] = set()
    applications = list(islice(_applications(askable_facts), APPLICATIONS_MAX))
    transfers = list(islice(_transfers(_without(askable_facts, applications), keys), TRANSFERS_MAX))
    past_questions = [*applications, *transfers]
    recalls = list(islice(_recalls(_without(askable_facts, past_questions), keys), RECALLS_MAX))
    missing = max(QUESTIONS_MIN - len(past_questions) - len(recalls), 0)
    recalls += islice(_recalls(_without(askable_facts, recalls), keys), missing)
    turns = zip_longest(recalls, applications, transfers)
    questions = [question for turn in turns for question in turn if question]
    return list({question["question"]: question for question in questions}.values())[:QUESTIONS_MAX]


def _without(facts: Sequence[Fact], questions: Sequence[Question]) -> list[Fact]:
    """The facts that none of these questions rests on."""
    fact_ids = {fact_id for question in questions for fact_id in question["fact_ids"]}
    return [fact for fact in facts if fact["fact_id"] not in fact_ids]


def _cleaned(fact: Fact) -> Fact:
    return fact | {"statement": " ".join(str(fact["statement"]).split())}


def _recalls(facts: Sequence[Fact], past_keys: set[str]) -> Iterator[Question]:
    """A number of a fact is asked for, else the word that tells most."""
    counts = Counter(word for fact in facts for word in {*_words(fact["statement"])})
    for fact in facts:
        statement = fact["statement"]
        keys = [*_numbers(statement), *_telling_words(fact, counts)]
        new_keys = (key for key in keys if _is_once(key, statement) and key.casefold() not in past_keys)
        if key := next(new_keys, None):
            past_keys.add(key.casefold())
            yield _question("recall", RECALL.format(statement=_with_gap(statement, key)), key, [fact])


def _applications(facts: Sequence[Fact]) -> Iterator[Question]:
    """What a fact says of a case is asked of that case."""
    for fact in facts:
        match = _CASE_FIRST.match(fact["statement"]) or _CASE_LAST.match(fact["statement"])
        if not match or len(match["key"]) > KEY_CHARS_MAX:
            continue
        case, key = match["case"], match["key"]
        is_clear = all(not _DEPENDENT_PART.match(part) and len(part.split()) > 2 for part in (case, key))
        if is_clear and not _places(key, case):
            yield _question("application", APPLICATION.format(case=case), key, [fact])


def _transfers(facts: Sequence[Fact], past_keys: set[str]) -> Iterator[Question]:
    """A word that facts of two sources share is asked for in both; each fact once."""
    past_ids: set[str] = set()
    for pair in islice(combinations(facts, 2), PAIRS_MAX):
        ids = {fact["fact_id"] for fact in pair}
        key = next((word for word in _shared_words(*pair) if word.casefold() not in past_keys), None)
        if key and not ids & past_ids:
            past_ids |= ids
            past_keys.add(key.casefold())
            here, there = (_with_gap(fact["statement"], key) for fact in pair)
            question = _question("transfer", TRANSFER.format(statement=here, other=there), key, pair)
            yield question | {"statement": _side_by_side(*(fact["statement"] for fact in pair))}


def _side_by_side(statement: str, second: str) -> str:
    """Two statements as one that says what each fact says, since a fact that says nothing of its statement is refused."""
    first_word, space, rest = second.partition(" ")
    is_common = first_word.istitle() and first_word != "I" and first_word.casefold() in COMMON_WORDS
    return f"{statement.rstrip('.')}; {first_word.lower() if is_common else first_word}{space}{rest}"


def _shared_words(fact: Fact, second: Fact) -> list[str]:
    """The words of a fact that one of another source has too, each once; not those of their topic."""
    statements = fact["statement"], second["statement"]
    is_one_source = bool({*fact.get("sources", [])} & {*second.get("sources", [])})
    if is_one_source or len("".join(statements)) > PAIR_CHARS_MAX:
        return []
    counts = Counter(word for word in _words(statements[0]) if word in _words(statements[1]))
    return [
        word
        for word in _telling_words(fact, counts)
        if word.casefold() in counts and not _is_of_topic(word, fact)
        if all(_is_once(word, statement) for statement in statements)
    ]


def _question(kind: str, text: str, key: str, facts: Sequence[Fact]) -> Question:
    return {
        "kind": kind,
        "question": text,
        "key": key,
        "statement": facts[0]["statement"],
        "fact_ids": [fact["fact_id"] for fact in facts],
    }


def _numbers(statement: str) -> list[str]:
    numbers = (statement[figure.start : figure.end] for figure in read_figures(statement).all)
    return [number for number in numbers if any(sign.isdecimal() for sign in number)]


def _telling_words(fact: Fact, counts: Counter[str]) -> list[str]:
    """The words of a fact that can be asked for, names and words of several facts first, then long ones."""

    def rank(word: str) -> tuple[float, int]:
        points = 3 * bool(_NAME.search(word)) + min(counts[word.casefold()], 3)
        return -(points - 4 * _is_of_topic(word, fact) - 2 * bool(_BLAND.search(word))), -len(word)

    words = dict.fromkeys(_WORD.findall(fact["statement"]))
    return sorted((word for word in words if word.casefold() not in COMMON_WORDS), key=rank)


def _is_of_topic(word: str, fact: Fact) -> bool:
    return word.casefold() in str(fact.get("topic_path", "")).casefold()


def _words(statement: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(statement)]


def _with_gap(statement: str, key: str) -> str:
    return _pattern(key).sub(GAP, statement, count=1)


def _is_once(key: str, statement: str) -> bool:
    return _places(key, statement) == 1


def _places(key: str, text: str) -> int:
    return len(_pattern(key).findall(text))


def _pattern(key: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(key)}(?!\w)", re.IGNORECASE)
