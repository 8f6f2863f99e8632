"""Pages that stand in for others: a check for robots, a question for consent, an empty shell, a page that is not there."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from chiron_workers.documents.document import Document, one_line
from chiron_workers.documents.html_blocks import tree_blocks
from chiron_workers.web.stand_in_words import (
    ADDRESS,
    AGREEMENT,
    AMBIGUOUS_TITLE,
    BARE_CONSENT,
    BLOCK_WORDS,
    CHALLENGE_MARKUP,
    CHALLENGE_TITLE,
    CHALLENGE_WORDS,
    CONSENT_TITLE,
    CONSENT_WORDS,
    LOADING,
    LOGIN_TITLE,
    MISSING_TITLE,
    MISSING_WORDS,
    OUTAGE_TITLE,
    OUTAGE_WORDS,
    POLICY_TITLE,
    RIGHTS,
    SCRIPTS_WANTED,
    SENTENCE,
    SHELL_ROOT,
)

CHARS_MAX = 3_000  # of the main text of a stand-in; pages with more are read, whatever they speak of
SHORT_CHARS_MAX = 700  # of one that is known by a phrase alone
SHELL_CHARS_MAX = 20  # of what a page says that scripts fill
SAYING_CHARS_MAX = 300  # beside a title or words that only stand-ins have
ERROR_CHARS_MAX = 40  # beside a title that may be that of a film
REQUEST_CHARS_MAX = 80  # of what it says beside a request for scripts
AROUND_CHARS_MAX = 80  # of what stands around a question for consent
CONSENT_TERMS_MIN = 2  # different words of which such a question has
CONSENT_SHARE_MIN = 0.5  # of the text of such a question, in lines that speak of it
MARKUP_CHARS_MAX = 300_000
TITLES_MAX = 6
TITLE_CHARS_MAX = 300
CONTROLS_MAX = 200
PIECE_BREAK = re.compile(r"\s+[-–—·•/]\s+|\s*[|»«•]\s*|\.{3}|…")
COLON = re.compile(r"\s*:\s+")
SENTENCE_BREAK = re.compile(r"(?<=[.!?。])\s*(?=\S)")
ADDRESS_YOU = re.compile(
    r"\b(?:you|your|please)\b|^\s*(?:enable|turn on|activate|allow|switch on)", re.IGNORECASE
)
CHALLENGE = "it is a check for robots, which stands in for the page"
UNSEEN = ("script", "style", "noscript", "template", "head", "svg")
AROUND = ("nav", "header", "footer")


@dataclass(frozen=True, slots=True)
class _View:
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

    if (tree := trafilatura.load_html(source)) is None:
        return ""
    if len(document.text) > CHARS_MAX:
        return _missing(title) if (title := _agreed_title(tree)) else ""
    has_password = bool(tree.xpath("//input[@type='password']"))
    view = _view(tree)
    if title := _missing_title(view):
        return _missing(title)
    if _is_challenge(view, source[:MARKUP_CHARS_MAX]):
        return CHALLENGE
    if _is_outage(view):
        return "it is a message of its server, which stands in for the page"
    if has_password and view.is_called(LOGIN_TITLE) and _own_chars(view) <= SAYING_CHARS_MAX:
        return "it is a log-in page, which stands in for the page"
    if _is_consent(tree, view):
        return "it is a question for consent, which stands in for the page"
    if _is_shell(view):
        return "it holds no readable text: it is an empty shell, which scripts fill"
    return ""


def text_stand_in(text: str) -> str:
    """What a plain text is, where it is a check for robots; empty where it is a text of its own.

    Returns:
        The end of the sentence `It cannot be read: ...`.
    """
    if len(text) > SHORT_CHARS_MAX:
        return ""
    lines = tuple(line for line in map(one_line, text.split("\n")) if line)
    titles = (lines[0], *_pieces(lines[0])) if lines else ()
    view = _View(titles, lines, one_line(text), "", has_scripts=False, has_empty_root=False)
    return CHALLENGE if _is_challenge(view, "") else ""


def _missing(title: str) -> str:
    return f"it says “{title}”: it is an error page, though its server answers as for a page that is there"


def _agreed_title(tree: Any) -> str:
    """The title of an error page where the page and its heading both have one; such a page may list others at length."""
    title = ""
    for tag in ("title", "h1"):
        heading = next(tree.iter(tag), None)
        pieces = [] if heading is None else _pieces("".join(heading.itertext())[:TITLE_CHARS_MAX])
        title = next(filter(_says_missing, pieces), "")
        if not title:
            break
    return title


def _says_missing(title: str) -> bool:
    return bool(MISSING_TITLE.fullmatch(title)) and not AMBIGUOUS_TITLE.fullmatch(title)


def _missing_title(view: _View) -> str:
    """What an error page says; other pages of the same title have more to say, and say nothing of pages."""
    own_chars = _own_chars(view)
    has_words = bool(MISSING_WORDS.search(_body(view)))
    for title in filter(MISSING_TITLE.fullmatch, view.titles):
        chars_max = SAYING_CHARS_MAX if _says_missing(title) else ERROR_CHARS_MAX
        if has_words or own_chars <= chars_max:
            return title
    if own_chars <= SAYING_CHARS_MAX:
        return next(filter(_says_missing, view.lines[:2]), "")
    return ""


def _is_challenge(view: _View, markup: str) -> bool:
    if len(view.text) > CHARS_MAX:
        return False
    is_short = len(view.text) <= SHORT_CHARS_MAX
    words = f"{view.text} {view.without_scripts}"
    has_words = bool(CHALLENGE_WORDS.search(words))
    has_own_words = bool(BLOCK_WORDS.search(words))
    has_markup = bool(CHALLENGE_MARKUP.search(markup))
    own_chars = _own_chars(view)
    if view.is_called(CHALLENGE_TITLE):
        is_address = is_short and (own_chars <= SHELL_CHARS_MAX or bool(ADDRESS.search(_body(view))))
        return is_address or has_words or has_own_words or has_markup
    if not is_short:
        return False
    if has_own_words:
        return own_chars <= SAYING_CHARS_MAX
    if has_markup:
        return has_words or own_chars <= SHELL_CHARS_MAX
    return has_words and _other_chars(view, CHALLENGE_WORDS) <= REQUEST_CHARS_MAX


def _body(view: _View) -> str:
    return " ".join(line for line in view.lines if line not in view.titles)


def _is_outage(view: _View) -> bool:
    if not view.is_called(OUTAGE_TITLE) or _own_chars(view) > SAYING_CHARS_MAX:
        return False
    return _own_chars(view) <= SHELL_CHARS_MAX or bool(OUTAGE_WORDS.search(_body(view)))


def _is_consent(tree: Any, view: _View) -> bool:
    """Whether all that a page shows is a question for consent; a banner stands beside other text."""
    controls = islice(tree.iter("button", "a", "input"), CONTROLS_MAX)
    control = next(filter(_agrees, controls), None)
    if control is None or view.is_called(POLICY_TITLE):
        return False
    has_terms = len({word.lower()[:6] for word in CONSENT_WORDS.findall(view.text)}) >= CONSENT_TERMS_MIN
    titles = filter(CONSENT_TITLE.fullmatch, view.titles)
    if any(has_terms or not BARE_CONSENT.fullmatch(title) for title in titles):
        return len(view.text) <= CHARS_MAX
    form = next(filter(_speaks_of_consent, control.iterancestors()), None)
    if form is None:
        return False
    lines = [one_line(block.text) for block in tree_blocks(form)]
    around = sum(map(len, view.lines)) - sum(len(line) for line in lines if line in view.lines)
    if any(map(_is_sentence, set(view.lines).difference(lines, view.titles))):
        return False
    consent = sum(len(line) for line in lines if CONSENT_WORDS.search(line))
    terms = {word.lower()[:6] for line in lines for word in CONSENT_WORDS.findall(line)}
    if len(terms) < CONSENT_TERMS_MIN:
        return False
    return around <= AROUND_CHARS_MAX and consent >= CONSENT_SHARE_MIN * sum(map(len, lines))


def _is_sentence(line: str) -> bool:
    return bool(SENTENCE.search(line)) and not CONSENT_WORDS.search(line) and not RIGHTS.search(line)


def _agrees(control: Any) -> bool:
    words = control.get("value", "") if control.tag == "input" else "".join(control.itertext())
    return bool(AGREEMENT.fullmatch(one_line(words[:TITLE_CHARS_MAX])))


def _speaks_of_consent(element: Any) -> bool:
    return bool(CONSENT_WORDS.search(" ".join(element.itertext())))


def _is_shell(view: _View) -> bool:
    own_chars = _own_chars(view)
    if SCRIPTS_WANTED.search(view.text):
        return own_chars <= REQUEST_CHARS_MAX and (view.has_scripts or bool(ADDRESS_YOU.search(view.text)))
    if own_chars > SHELL_CHARS_MAX:
        return False
    if SCRIPTS_WANTED.search(view.without_scripts):
        return True
    return view.has_scripts and (
        view.has_empty_root or not view.lines or all(map(LOADING.fullmatch, view.lines))
    )


def _own_chars(view: _View) -> int:
    """The letters of sentences that are neither a title nor a request for scripts."""
    return _other_chars(view, SCRIPTS_WANTED)


def _other_chars(view: _View, pattern: re.Pattern[str]) -> int:
    """The letters of sentences that are neither a title nor of this kind."""
    lines = (line for line in view.lines if line not in view.titles)
    sentences = (sentence for line in lines for sentence in SENTENCE_BREAK.split(line))
    return sum(len(sentence) for sentence in sentences if not pattern.search(sentence))


def _pieces(title: str) -> Iterator[str]:
    """The parts of a title; of one with a colon the last: `Exampleton: Page not found`."""
    for piece in PIECE_BREAK.split(one_line(title)):
        yield piece.strip()
        if COLON.search(piece):
            yield COLON.split(piece)[-1].strip()


def _view(tree: Any) -> _View:
    tag = "h2" if next(tree.iter("h1"), None) is None else "h1"
    headings = islice(tree.iter("title", tag), TITLES_MAX)
    titles = [one_line("".join(heading.itertext()))[:TITLE_CHARS_MAX] for heading in headings]
    pieces = [piece for title in titles for piece in _pieces(title)]
    without_scripts = one_line(" ".join(" ".join(part.itertext()) for part in tree.iter("noscript")))
    has_scripts = next(tree.iter("script"), None) is not None
    body = tree.find("body")
    root = tree if body is None else body
    for element in list(root.iter(*UNSEEN)):
        element.clear(keep_tail=True)
    around = {one_line(block.text) for part in root.iter(*AROUND) for block in tree_blocks(part)}
    lines = [one_line(block.text) for block in tree_blocks(root)]
    return _View(
        tuple(filter(None, [*titles, *pieces])),
        tuple(line for line in lines if line and line not in around),
        one_line(" ".join(root.itertext())),
        without_scripts,
        has_scripts,
        any(map(_is_empty_root, root)),
    )


def _is_empty_root(element: Any) -> bool:
    return bool(SHELL_ROOT.fullmatch(element.get("id") or "")) and not "".join(element.itertext()).strip()
