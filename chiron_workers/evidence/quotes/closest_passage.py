"""The passage of a text that is most like a quote, and what differs between the two."""

import re
from dataclasses import dataclass
from itertools import islice

from chiron_workers.evidence.quotes.equivalents import LINE_BREAK
from chiron_workers.evidence.quotes.normalise import normalise
from chiron_workers.evidence.quotes.offsets import NormalisedText
from chiron_workers.evidence.quotes.sentences import whole_sentences
from chiron_workers.evidence.quotes.windows import windows
from chiron_workers.evidence.quotes.word_diff import describe, diff_words

SHOWN_CHARS_MAX = 300
LEAD_CHARS = 80  # shown before the first difference of a long passage
WORDS_MAX = 40  # of a quote, looked up in the text
PLACES_MAX = 200  # of one word
ALIKE_MIN = 0.4  # share of the quote's words that a passage has to hold
END_CHARS = 400  # of a quote's beginning and of its end, by which a passage is measured out
EDGES_MAX = 300  # of a passage that are tried
WORD_CHARS = 40
GAP = re.compile(r"\s+")
WORD = re.compile(r"\w[\w.,'-]*")


@dataclass(frozen=True, slots=True)
class ClosestPassage:
    """Up to 300 characters of a text, and how they differ from a quote, in words; empty where in too many ways."""

    passage: str
    differences: str


def find_closest_passage(quote: str, text: str) -> ClosestPassage | None:
    """What stands in a text in place of a quote; None where it has nothing alike.

    Looks up some of the quote's rarer words and compares letters only around the place where most of them meet.
    """
    words = normalise(quote).text.strip()
    votes = (_vote(words, window.text) for window in windows(text, passage_chars_max=len(quote)))
    weight, at, page, text = max(votes, key=lambda vote: vote[0])
    if not weight:
        return None
    start, end = _align(words, page.text, at)
    if start == end or _word_share(words, page.text[start:end]) < ALIKE_MIN:
        return None
    differences = list(diff_words(_words(page.text[slice(*_widen(page.text, start, end))]), _words(words)))
    begin, finish = page.span(start, end)
    if finish - begin > SHOWN_CHARS_MAX:
        first = start
        if differences:
            first = page.text.find(differences[0].page_words or differences[0].previous_word, start, end)
        shown_from = page.text.rfind(" ", start, max(start, first - LEAD_CHARS) + 1) + 1
        begin = page.span(max(start, shown_from), end)[0]
        finish = max(begin, text.rfind(" ", begin, min(finish, begin + SHOWN_CHARS_MAX)))
    begin, finish = whole_sentences(text, begin, finish, chars_max=SHOWN_CHARS_MAX)
    return ClosestPassage(" ".join(text[begin:finish].split()), describe(differences))


def _vote(words: str, text: str) -> tuple[float, int, NormalisedText, str]:
    """A piece of a text in one spelling, where in it a quote is likeliest to begin, and the weight of what says so."""
    page = normalise(text)
    return *_likeliest_start(words, page.text), page, text


def _likeliest_start(quote: str, page: str) -> tuple[float, int]:
    """Where the quote would begin if most of its rarer words stood in their places, after the weight of these; 0 if none does."""
    lower_page, lower_quote = _lower(page), _lower(quote)
    words = {match[0]: match.start() for match in WORD.finditer(lower_quote)}
    longest = sorted(words, key=lambda word: (any(map(str.isdigit, word)), len(word)), reverse=True)[
        :WORDS_MAX
    ]
    counts = {word: count for word in longest if (count := lower_page.count(word))}
    votes = sorted(
        (place.start() - words[word], 1 / counts[word])
        for word in sorted(counts, key=counts.__getitem__)[:12]
        for place in islice(re.finditer(re.escape(word), lower_page), PLACES_MAX)
    )
    best, at, weight, low = 0.0, 0, 0.0, 0
    for place, worth in votes:
        weight += worth
        while place - votes[low][0] > len(quote) // 2 + 20:
            weight -= votes[low][1]
            low += 1
        if weight > best:
            best, at = weight, votes[low][0]
    return best, at


def _words(text: str) -> list[str]:
    return text.replace(LINE_BREAK, "").split(" ")


def _lower(text: str) -> str:
    lower_text = text.lower()
    return lower_text if len(lower_text) == len(text) else text


def _align(quote: str, page: str, at: int) -> tuple[int, int]:
    """The offsets of the words of a page, near a place, that begin and end most like a quote."""
    lower_quote, lower_page = _lower(quote), _lower(page)
    slack = min(len(lower_quote) // 2 + 20, END_CHARS)
    head, tail = lower_quote[:END_CHARS], lower_quote[-END_CHARS:]
    starts = _edges(page, at - slack, at + slack)
    start = max(starts, key=lambda low: _ratio(head, lower_page[low : low + len(head)]), default=0)
    due = start + len(lower_quote)
    ends = [end for end in _edges(page, due - slack, due + slack) if end > start]
    end = max(
        ends, key=lambda high: _ratio(tail, lower_page[max(start, high - len(tail)) : high]), default=start
    )
    passage = page[start:end]
    return end - len(passage.lstrip()), start + len(passage.rstrip())


def _widen(page: str, start: int, end: int) -> tuple[int, int]:
    """With two words more on each side, as an end of the quote that differs is not aligned."""
    for _ in range(2):
        start = page.rfind(" ", max(0, start - WORD_CHARS), max(0, start - 1)) + 1 or start
        end = max(end, page.find(" ", end + 1, end + WORD_CHARS))
    return start, end


def _edges(page: str, low: int, high: int) -> list[int]:
    """Some of the places between two where a passage may begin or end."""
    low, high = max(0, low), min(len(page), high)
    spaces = [low, *(match.end() for match in GAP.finditer(page, low, high)), high]
    places = spaces if len(spaces) > (high - low) // 20 else list(range(low, high + 1))
    return places[:: len(places) // EDGES_MAX + 1]


def _ratio(text: str, rival: str) -> float:
    from rapidfuzz import fuzz

    return fuzz.ratio(text, rival)


def _word_share(quote: str, passage: str) -> float:
    words = set(WORD.findall(_lower(quote)))
    return len(words.intersection(WORD.findall(_lower(passage)))) / max(1, len(words))
