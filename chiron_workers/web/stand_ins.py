"""Pages that stand in for others: a check for robots, a question for consent, an empty shell, a page that is not there."""

import re
from dataclasses import dataclass
from itertools import islice
from typing import Any

from chiron_workers.documents.document import Document, one_line
from chiron_workers.documents.html_blocks import tree_blocks
from chiron_workers.web.stand_in_words import (
    AGREEMENT,
    CHALLENGE_MARKUP,
    CHALLENGE_TITLE,
    CHALLENGE_WORDS,
    CONSENT_TITLE,
    CONSENT_WORDS,
    LOADING,
    MISSING_TITLE,
    POLICY_TITLE,
    SCRIPTS_WANTED,
    SHELL_ROOT,
)

CHARS_MAX = 3_000  # of the main text of a stand-in; pages with more are read, whatever they speak of
SHORT_CHARS_MAX = 700  # of one that is known by a phrase alone
SHELL_CHARS_MAX = 20  # of what a page says that scripts fill
REQUEST_CHARS_MAX = 80  # of what it says beside a request for scripts
AROUND_CHARS_MAX = 80  # of what stands around a question for consent
CONSENT_TERMS_MIN = 2  # different words of which such a question has
CONSENT_SHARE_MIN = 0.5  # of the text of such a question, in lines that speak of it
MARKUP_CHARS_MAX = 300_000
TITLES_MAX = 6
TITLE_CHARS_MAX = 300
CONTROLS_MAX = 200
PIECE_BREAK = re.compile(r"\s+[-–—:·•/]\s+|\s*[|»«•]\s*|:\s|\.{3}|…")
SENTENCE_BREAK = re.compile(r"(?<=[.!?。])\s*(?=\S)")
UNSEEN = ("script", "style", "noscript", "template", "head", "svg")
AROUND = ("nav", "header", "footer")


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a page shows: its titles and their pieces, and the lines of its text without navigation."""

    titles: tuple[str, ...]
    lines: tuple[str, ...]
    text: str
    without_scripts: str  # what it says to browsers without scripts
    has_scripts: bool
    has_empty_root: bool  # which scripts fill

    def is_called(self, pattern: re.Pattern[str]) -> bool:
        """Whether a title, or a piece of one, is of this kind."""
        return any(map(pattern.fullmatch, self.titles))


def stand_in(source: str, document: Document) -> str:
    """What a page is, where it stands in for another one; empty where it is a page of its own.

    Only pages with little text are looked at, so that one that speaks of such pages is read.

    Returns:
        The end of the sentence `It cannot be read: ...`.
    """
    import trafilatura

    if len(document.text) > CHARS_MAX or (tree := trafilatura.load_html(source)) is None:
        return ""
    shown = _shown(tree)
    if title := next(filter(MISSING_TITLE.fullmatch, shown.titles), ""):
        return (
            f"it says “{title}”: it is an error page, though its server answers as for a page that is there"
        )
    if _is_challenge(shown, source[:MARKUP_CHARS_MAX]):
        return "it is a check for robots, which stands in for the page"
    if _is_consent(tree, shown):
        return "it is a question for consent, which stands in for the page"
    if _is_shell(shown):
        return "it holds no readable text: it is an empty shell, which scripts fill"
    return ""


def _is_challenge(shown: _Shown, markup: str) -> bool:
    if len(shown.text) > CHARS_MAX:
        return False
    is_short = len(shown.text) <= SHORT_CHARS_MAX
    has_words = bool(CHALLENGE_WORDS.search(f"{shown.text} {shown.without_scripts}"))
    has_markup = bool(CHALLENGE_MARKUP.search(markup))
    if shown.is_called(CHALLENGE_TITLE):
        return is_short or has_words or has_markup
    return is_short and (has_words or (has_markup and _own_chars(shown) <= SHELL_CHARS_MAX))


def _is_consent(tree: Any, shown: _Shown) -> bool:
    """Whether all that a page shows is a question for consent; a banner stands beside other text."""
    controls = islice(tree.iter("button", "a", "input"), CONTROLS_MAX)
    control = next(filter(_agrees, controls), None)
    if control is None or shown.is_called(POLICY_TITLE):
        return False
    if shown.is_called(CONSENT_TITLE) and len(shown.text) <= CHARS_MAX:
        return True
    form = next(filter(_speaks_of_consent, control.iterancestors()), None)
    if form is None:
        return False
    lines = [one_line(block.text) for block in tree_blocks(form)]
    around = sum(map(len, shown.lines)) - sum(len(line) for line in lines if line in shown.lines)
    consent = sum(len(line) for line in lines if CONSENT_WORDS.search(line))
    terms = {word.lower()[:6] for line in lines for word in CONSENT_WORDS.findall(line)}
    if len(terms) < CONSENT_TERMS_MIN:
        return False
    return around <= AROUND_CHARS_MAX and consent >= CONSENT_SHARE_MIN * sum(map(len, lines))


def _agrees(control: Any) -> bool:
    words = control.get("value", "") if control.tag == "input" else "".join(control.itertext())
    return bool(AGREEMENT.fullmatch(one_line(words[:TITLE_CHARS_MAX])))


def _speaks_of_consent(element: Any) -> bool:
    return bool(CONSENT_WORDS.search(" ".join(element.itertext())))


def _is_shell(shown: _Shown) -> bool:
    own_chars = _own_chars(shown)
    if SCRIPTS_WANTED.search(shown.text):
        return own_chars <= REQUEST_CHARS_MAX
    if own_chars > SHELL_CHARS_MAX:
        return False
    if SCRIPTS_WANTED.search(shown.without_scripts):
        return True
    return shown.has_scripts and (
        shown.has_empty_root or not shown.lines or all(map(LOADING.fullmatch, shown.lines))
    )


def _own_chars(shown: _Shown) -> int:
    """The letters of sentences that are neither a title nor a request for scripts."""
    lines = (line for line in shown.lines if line not in shown.titles)
    sentences = (sentence for line in lines for sentence in SENTENCE_BREAK.split(line))
    return sum(len(sentence) for sentence in sentences if not SCRIPTS_WANTED.search(sentence))


def _shown(tree: Any) -> _Shown:
    tag = "h2" if next(tree.iter("h1"), None) is None else "h1"
    headings = islice(tree.iter("title", tag), TITLES_MAX)
    titles = [one_line("".join(heading.itertext()))[:TITLE_CHARS_MAX] for heading in headings]
    pieces = [piece.strip() for title in titles for piece in PIECE_BREAK.split(title)]
    without_scripts = one_line(" ".join(" ".join(part.itertext()) for part in tree.iter("noscript")))
    has_scripts = next(tree.iter("script"), None) is not None
    body = tree.find("body")
    root = tree if body is None else body
    for element in list(root.iter(*UNSEEN)):
        element.clear(keep_tail=True)
    around = {one_line(block.text) for part in root.iter(*AROUND) for block in tree_blocks(part)}
    lines = [one_line(block.text) for block in tree_blocks(root)]
    return _Shown(
        tuple(filter(None, [*titles, *pieces])),
        tuple(line for line in lines if line and line not in around),
        one_line(" ".join(root.itertext())),
        without_scripts,
        has_scripts,
        any(map(_is_empty_root, root)),
    )


def _is_empty_root(element: Any) -> bool:
    return bool(SHELL_ROOT.fullmatch(element.get("id") or "")) and not "".join(element.itertext()).strip()
