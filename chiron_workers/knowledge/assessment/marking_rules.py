"""What an answer is worth as far as rules can tell, and what of it speaks to whoever marks it."""

import re
import unicodedata
from dataclasses import dataclass

from chiron_workers.evidence.figures.figures import Figure, read_figures
from chiron_workers.evidence.figures.quantities import Agreement, Quantity
from chiron_workers.states import Mark, Marker

_ARTICLES = frozenset({"a", "an", "the"})
_WORD = re.compile(r"(?:(?<!\w)[-−](?=\d))?[^\W_]+(?:[.,][0-9]+)*")  # -5 is not 5
_SIGNS = re.compile(r"[^\w\s.,;:!?'\"()-]|_")  # `<`, `+`, `%`: C++ is not C
_BREAK = re.compile(r"(?<=[.!?;])\s+|\n+")
_RIGHT = r"(?:right|correct|true|valid|full|perfect|accepted?|pass(?:ed)?|100|top|best|wrong|doubtful)"
_ADDRESSES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:mark|grade|score|rate|judge|count|treat|consider|accept|evaluate|record|deem)\b.{{0,60}}\b(?:as\s+)?{_RIGHT}\b",
        r"\b(?:mark|grade|score|rate|judge|pass|accept)\s+(?:me|this|it|my|that|us)\b",
        r"\b(?:ignore|disregard|forget|override|skip|bypass)\b.{0,60}\b(?:instruction|key|prompt|rule|above|before|previous|prior|"
        r"everything|criteria|facts?)",
        r"\b(?:system|assistant|developer|user|human|admin(?:istrator)?|teacher|examiner|instructor|tool)\s*:",
        r"\byou\s+(?:are|must|should|shall|have\s+to|need\s+to|will|may|can)\b",
        r"\b(?:dear|hello|hi|hey|attention|note\s+to|message\s+(?:to|for))\s+(?:the\s+)?(?:ai|judge|marker|grader|examiner|model|"
        r"assistant|teacher|claude|system|llm|reviewer|evaluator)\b",
        r"\b(?:give_mark|tool_use|tool_result|function_call|jailbreak)\b",
        r"\b(?:the|my|this|your)\s+(?:mark|grade|score|verdict|judge?ment|answer)\s+(?:is|was|must|should|has|shall|will|counts?)\b",
        rf"[\"']?mark[\"']?\s*[:=]\s*[\"']?{_RIGHT}",
        r"</?\s*[a-z][\w-]*\s*/?>",
        r"\b(?:new|updated|real|actual|revised)\s+(?:instructions?|task|key|rules?|answer\s+key)\b",
        r"\b(?:as|since)\s+(?:the|an?|your)\s+(?:teacher|examiner|author|developer|administrator|owner)\b",
        r"\b(?:respond|reply|answer|output|print|return|say|call)\s+(?:only\s+)?(?:with\s+)?[\"'“]?(?:right|correct)\b",
    )
)
EMPTY = "The answer is empty."
SAME_WORDS = "It is the key in the same words."
SAME_FIGURE = "It gives the figure of the key."
OTHER_FIGURE = "The key gives {key}, the answer {answer}."
ADDRESS_ALONE = "It speaks to whoever marks it and says nothing else, so nobody is asked about it. Say yourself what it is worth."
ADDRESS_PASSED_OVER = "What speaks to whoever marks it was passed over."


@dataclass(frozen=True, slots=True)
class Marking:
    """A mark, the reason for it in a sentence, and who gave it; None where nobody has marked the answer yet."""

    mark: Mark
    reason: str
    marked_by: Marker | None


OPEN = Marking(Mark.DOUBTFUL, "Rules cannot tell whether it is right.", None)


def mark_by_rules(answer: str, key: str) -> Marking:
    """What rules say of an answer; `OPEN` where somebody who understands it has to be asked.

    The words of the key are right and so is its figure in another notation; an empty answer is wrong, and so is a figure
    alone that is not the key's. Sentences that speak to whoever marks are passed over, so that an answer gets the same mark
    with them and without.
    """
    if not answer.strip():
        return Marking(Mark.WRONG, EMPTY, Marker.RULE)
    if is_same_text(answer, key):
        return Marking(Mark.RIGHT, SAME_WORDS, Marker.RULE)
    text = without_addresses(answer)
    if text == answer.strip():
        return _mark_plain(text, key)
    if not text:
        return Marking(Mark.DOUBTFUL, ADDRESS_ALONE, Marker.RULE)
    decision = _mark_plain(text, key)
    return Marking(decision.mark, f"{decision.reason} {ADDRESS_PASSED_OVER}", decision.marked_by)


def without_addresses(answer: str) -> str:
    """The sentences of an answer that do not speak to whoever marks it; empty where all do."""
    plain = unicodedata.normalize("NFKC", answer)
    plain = "".join(sign for sign in plain if sign == "\n" or unicodedata.category(sign)[0] != "C")
    if not _is_address(plain):
        return answer.strip()
    pieces = [piece.strip() for piece in _BREAK.split(plain)]
    return " ".join(piece for piece in pieces if _WORD.search(piece) and not _is_address(piece))


def is_same_text(answer: str, key: str) -> bool:
    """Whether two texts have the same words and signs, whatever their case, articles and punctuation."""
    return bool(_words(key)) and (_words(answer), _signs(answer)) == (_words(key), _signs(key))


def _mark_plain(answer: str, key: str) -> Marking:
    if is_same_text(answer, key):
        return Marking(Mark.RIGHT, SAME_WORDS, Marker.RULE)
    key_figure, answer_figure = _figure_alone(key), _figure_alone(answer)
    if key_figure is None or answer_figure is None:
        return OPEN
    agreement = _agreement(key_figure, answer_figure)
    if agreement is Agreement.EQUAL:
        return Marking(Mark.RIGHT, SAME_FIGURE, Marker.RULE)
    if agreement is Agreement.DIFFERENT:
        reason = OTHER_FIGURE.format(key=key_figure.written, answer=answer_figure.written)
        return Marking(Mark.WRONG, reason, Marker.RULE)
    return OPEN


def _agreement(key: Figure, answer: Figure) -> Agreement | None:
    """How two figures stand to each other; None where they measure different things."""
    if isinstance(key, Quantity) and isinstance(answer, Quantity):
        return key.agreement(answer) if key.dimension == answer.dimension else None
    if isinstance(key, Quantity) or isinstance(answer, Quantity) or not (key.has_year and answer.has_year):
        return None
    if (key.first, key.last) == (answer.first, answer.last):
        return Agreement.EQUAL
    is_apart = key.last < answer.first or answer.last < key.first
    return Agreement.DIFFERENT if is_apart else Agreement.NEAR


def _figure_alone(text: str) -> Figure | None:
    """The number or date that a text consists of; None where it says anything else."""
    figures = read_figures(text)
    if len(figures.all) != 1:
        return None
    [figure] = figures.all
    remainder = figures.text[: figure.start] + " " + figures.text[figure.end :]
    return None if _words(remainder) else figure


def _is_address(text: str) -> bool:
    return any(pattern.search(text) for pattern in _ADDRESSES)


def _words(text: str) -> list[str]:
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return [word for word in words if word not in _ARTICLES] or words


def _signs(text: str) -> list[str]:
    return _SIGNS.findall(unicodedata.normalize("NFKC", text))
