"""Whether a quote stands in a text, word for word."""

import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice

from chiron_workers.evidence.quotes.closest_passage import find_closest_passage
from chiron_workers.evidence.quotes.equivalents import LINE_BREAK
from chiron_workers.evidence.quotes.marks import spanned_mark, without_pictures
from chiron_workers.evidence.quotes.normalise import normalise
from chiron_workers.evidence.quotes.offsets import NormalisedText
from chiron_workers.evidence.quotes.omissions import SUPERSCRIPTS, ReducedText, may_be_reduced, reduce_text
from chiron_workers.evidence.quotes.sentences import whole_sentences
from chiron_workers.evidence.quotes.typesetting import RELATIONS
from chiron_workers.evidence.quotes.windows import Window, windows

QUOTE_CHARS_MAX = 4_000
LETTERS_MIN = 10  # fewer stand in too many places of a text to point to one of them
TRIES_MAX = 2_000  # places that hold a quote's letters but not its words
# In one spelling, as several quotes of a page are looked for one after the other; 2 MB each at most.
KEPT_PAGES_MAX = 8
WORD = re.compile(r"[^\W_]+")
# Scripts without spaces between words: each character counts for two letters, and a quote may begin at any.
SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
JOINERS = "-'./·@&" + LINE_BREAK
NUMBER_JOINERS = ",:"
OMISSION = re.compile(r"\[\s*(?:…|\.\.\.)\s*\]|…|\.\.\.")


# For each reading of a quote, how many more places of a text are tried, as they are and across line ends.
Tries = dict[str, tuple[Iterator[int], Iterator[int]]]


@dataclass(frozen=True, slots=True)
class QuoteMatch:
    """Whole sentences of a text that hold a quote: `quote` is `text[start:end]`, offsets in characters."""

    quote: str
    start: int
    end: int


def locate(quote: str, text: str, *, has_marks: bool = True) -> QuoteMatch | None:
    """The whole sentences of a text in which a quote stands word for word, at its first place; None where it does not.

    A place counts only if none of these words is a mark that stands for something the reader could not write. Pass False as
    `has_marks` for a quote that was taken before, from a text that may have such words of its own.

    Alike are what typesetting, copying from a PDF and HTML entities change, and the case of the quote's first letter.
    A quote begins and ends between words and numbers, never inside one. A text of millions of characters takes a second
    or more, so call it in a thread; it lets others run.
    """
    if unfit_reason(quote):
        return None
    tries = {words: (iter(range(TRIES_MAX)), iter(range(TRIES_MAX))) for words in _readings(quote)}
    for window in windows(text, passage_chars_max=QUOTE_CHARS_MAX):
        for span in _spans(tries, window):
            start, end = whole_sentences(text, *span, chars_max=QUOTE_CHARS_MAX)
            if has_marks:
                start, end = without_pictures(text, span, (start, end))
            if not (has_marks and spanned_mark(text, span, (start, end))):
                return QuoteMatch(text[start:end], start, end)
    return None


def _spans(tries: Tries, window: Window) -> Iterator[tuple[int, int]]:
    """The offsets in the whole text of the places of a quote in a piece of it, in order for each of its readings."""
    page = _Page(window.text, _normalise_page(window.text))
    for words, (places, places_with_omissions) in tries.items():
        for span in chain(page.spans(words, places), page.spans_with_omissions(words, places_with_omissions)):
            start, end = page.normalised_text.span(*span)
            if end - start <= QUOTE_CHARS_MAX and window.holds(start, end):
                yield window.start + start, window.start + end


@lru_cache(maxsize=KEPT_PAGES_MAX)
def _normalise_page(text: str) -> NormalisedText:
    return normalise(text)


def refusal_reason(quote: str, text: str) -> str:
    """Why a quote does not stand in a text, in a sentence that shows the nearest passage, so that it can be mended."""
    if problem := unfit_reason(quote):
        return problem
    if OMISSION.search(html.unescape(quote)):
        return "the quote leaves words out; give one continuous passage, without an ellipsis."
    if match := locate(quote, text, has_marks=False):
        mark = spanned_mark(text, (match.start, match.end), (match.start, match.end))
        return (
            f"its passage holds {mark!r}, which stands in the place of something that could not be read, so what the source "
            "says there is not known; quote a sentence without it, or another source that gives these words in full. This "
            f"holds also where the source itself writes {mark!r}."
        )
    closest = find_closest_passage(quote, text)
    if closest is None:
        return "these words do not stand in the page, and nothing there is like them."
    why = closest.differences or "they differ from it in several places"
    return f"these words do not stand in the page: {why}; the nearest passage there is {closest.passage!r}."


def unfit_reason(quote: str) -> str:
    """Why a quote could prove nothing wherever it stood, in a sentence; empty for a fit one."""
    if len(quote) > QUOTE_CHARS_MAX:
        limit = f"{QUOTE_CHARS_MAX:,}"
        return f"the quote has {len(quote):,} characters; give the passage itself, at most {limit}."
    words = [word for word in quote.split() if WORD.search(word)]
    spaceless = len(SPACELESS.findall(quote))
    letters = sum(1 for _ in islice(filter(_is_word, quote), LETTERS_MIN))
    if letters + spaceless < LETTERS_MIN or len(words) + spaceless < 2:
        return (
            f"the quote is too short to point to one place; give at least two words and {LETTERS_MIN} letters "
            "or digits, better the whole sentence."
        )
    return ""


def _readings(quote: str) -> Iterator[str]:
    """The folded quote, as it is, without HTML entities and the marks around it, each also with its first letter's other case."""
    plain = html.unescape(quote)
    for spelling in dict.fromkeys((quote, plain, plain.strip().strip("\"'“”„‟‘’«»"))):
        words = normalise(spelling).text.strip()
        yield words
        if words[1:2].islower():
            yield words[0].swapcase() + words[1:]


@dataclass(slots=True)
class _Page:
    source: str
    normalised_text: NormalisedText
    reduced_text: ReducedText | None = None

    def spans(self, words: str, tries: Iterator[int]) -> Iterator[tuple[int, int]]:
        """Where words stand in the folded text as they are."""
        for at, _ in zip(find_places(words, self.normalised_text.text, most=TRIES_MAX), tries, strict=False):
            if self._is_whole(at, at + len(words)):
                yield at, at + len(words)

    def spans_with_omissions(self, words: str, tries: Iterator[int]) -> Iterator[tuple[int, int]]:
        """Where words stand in the folded text if line ends broke some of them, or marks of citations are left out."""
        text = self.normalised_text.text
        if LINE_BREAK not in words and not may_be_reduced(text):
            return
        self.reduced_text = self.reduced_text or reduce_text(text)
        quote = reduce_text(words)
        key, reduced_text = quote.text.text, self.reduced_text.text
        for at, _ in zip(find_places(key, reduced_text.text, most=TRIES_MAX), tries, strict=False):
            start, end = reduced_text.span(at, at + len(key))
            if self._is_whole(start, end) and self.reduced_text.agrees(quote, at):
                yield start, end

    def _is_whole(self, start: int, end: int) -> bool:
        return self._is_edge(start) and self._is_edge(end)

    def _is_edge(self, at: int) -> bool:
        text = self.normalised_text
        if _is_edge(text.text, at):
            return True
        # A gap around a relation was closed for comparison, and parts two words as it stands in the page.
        return (
            (text.text[at - 1] in RELATIONS or text.text[at] in RELATIONS)
            and self.source[int(text.ends[at - 1]) : int(text.begins[at])].strip() == ""
            and text.ends[at - 1] < text.begins[at]
        )


def find_places(words: str, page: str, *, most: int) -> Iterator[int]:
    """The first places of a text at which words stand."""
    at = page.find(words)
    for _ in range(most):
        if at < 0:
            return
        yield at
        at = page.find(words, at + 1)


def _is_edge(page: str, at: int) -> bool:
    """Whether a place of a folded text lies between two of its words or numbers."""
    if not 0 < at < len(page):
        return True
    before, after = page[at - 1], page[at]
    first, last = page[at - 2 : at - 1], page[at + 1 : at + 2]
    if _is_word(before) and _is_word(after):
        is_number = before.isnumeric() and after.isnumeric()
        return not is_number and bool(SPACELESS.match(before) or SPACELESS.match(after))
    if (after == "^" and _is_word(before)) or (before == "^" and (_is_word(after) or after in "({")):
        return False  # xⁿ, written x^n
    if _is_word(after) and (before == "-" or (after.isnumeric() and _is_sign(before))):
        return False
    if after.isnumeric() and before == "." and not (first == "." or (first and _is_word(first))):
        return False  # .5
    if before.isnumeric() and (after in "%‰‱" or _is_sign(after)):
        return False
    return not (_joins(first, before, after) or _joins(before, after, last))


def _joins(previous: str, middle: str, following: str) -> bool:
    """Whether three characters belong to one word or number."""
    if not (previous and following and _is_word(previous) and _is_word(following)):
        return False
    if middle == "." and previous.islower() and following.isupper():
        return False  # a space was lost between two sentences
    if middle == "." and previous.isalpha() and following in SUPERSCRIPTS:
        return False  # the mark of a citation behind a sentence
    return middle in JOINERS or (middle in NUMBER_JOINERS and previous.isnumeric() and following.isnumeric())


def _is_word(letter: str) -> bool:
    return unicodedata.category(letter)[0] in "LMN" or letter == "_"


def _is_sign(letter: str) -> bool:
    return unicodedata.category(letter)[0] == "S"
