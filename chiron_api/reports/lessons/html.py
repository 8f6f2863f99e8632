"""A lesson as one HTML file that loads nothing, and its parts for the page."""

import re
from collections.abc import Callable, Iterator
from html import escape

from chiron_api.reports.formats.html import policy, style
from chiron_api.reports.lessons.document import (
    DELETED,
    FACTS_HEADING,
    NOT_KNOWN_HEADING,
    STALE,
    LessonDocument,
    sources_of,
)
from chiron_api.reports.links import link
from chiron_api.reports.phrasing import one_line
from chiron_workers.knowledge.lessons.reading import LessonSentence

Address = Callable[[str, int], str]  # the attributes of a link to a fact, by its id and number
FACT_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
HEADERS = {"Content-Security-Policy": policy(), "X-Content-Type-Options": "nosniff"}


def _anchor(fact_id: str, number: int) -> str:
    return f'href="#f{number}"'


def fact_page(fact_id: str, number: int) -> str:
    """The attributes of a link to the page of a fact, which opens in a panel."""
    return f'href="/facts/{escape(fact_id)}" data-panel'


def render(document: LessonDocument) -> Iterator[str]:
    """The file, piece by piece."""
    title = escape(document.title)
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy()}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="generator" content="Chiron">\n'
        f"<title>{title}</title>\n<style>{style()}</style>\n</head>\n<body>\n"
        f'<header>\n<h1 dir="auto">{title}</h1>\n<p class="soft">{escape(document.origin)}</p>\n</header>\n<main>\n'
    )
    yield from body(document, _anchor)
    yield "</main>\n</body>\n</html>\n"


def body(document: LessonDocument, address: Address = fact_page) -> Iterator[str]:
    """Notices, sections, what is not known, and the facts; citations lead where `address` says."""
    yield from _notice(document, address)
    for section in document.lesson.sections:
        sentences = " ".join(_sentence(sentence, document, address) for sentence in section.sentences)
        mark = f' <span class="mark">({escape(section.title_mark)})</span>' if section.title_mark else ""
        title = f"{escape(one_line(section.title))}{mark}"
        yield f'<section id="s{section.place}">\n<h2 dir="auto">{title}</h2>\n<p>{sentences}</p>\n</section>\n'
    if document.lesson.line.not_known:
        lines = "".join(
            f'<li dir="auto">{escape(one_line(line))}</li>' for line in document.lesson.line.not_known
        )
        yield f'<section id="not-known">\n<h2>{NOT_KNOWN_HEADING}</h2>\n<ul>{lines}</ul>\n</section>\n'
    if document.numbers:
        facts = "".join(_facts(document, address))
        yield f'<section id="facts">\n<h2>{FACTS_HEADING}</h2>\n<ol class="cited">{facts}</ol>\n</section>\n'


def _notice(document: LessonDocument, address: Address) -> Iterator[str]:
    """What a reader must know first; the facts that it names lead to themselves."""
    stale_sentences = document.lesson.stale_sentences
    lines = [
        f"<bdi>{escape(one_line(stale.section))}</bdi>, sentence {stale.number}: "
        f"{_linked(stale.reason, document, address)}"
        for stale in stale_sentences
    ]
    parts = [f"<p><strong>{STALE}</strong></p>"] if stale_sentences else []
    parts += [f"<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>"] if lines else []
    parts += ["<p>There is a newer version of this lesson.</p>"] if document.has_newer_version else []
    if parts:
        yield f'<section id="stale" class="notice">\n{"".join(parts)}\n</section>\n'


def _linked(words: str, document: LessonDocument, address: Address) -> str:
    """Words about facts, whose ids become links: a number where the lesson cites the fact."""

    def link_of(match: re.Match[str]) -> str:
        fact_id = match[0]
        number = document.numbers.get(fact_id, 0)
        if number or address is not _anchor:
            text = f"[{number}]" if number else f"{fact_id[:13]}…"
            return f'<a class="cite" {address(fact_id, number)}>{text}</a>'
        return fact_id

    return FACT_ID.sub(link_of, escape(words))


def _sentence(sentence: LessonSentence, document: LessonDocument, address: Address) -> str:
    cites = " ".join(
        f'<a class="cite" {address(fact_id, number)} aria-label="Fact {number}">[{number}]</a>'
        for fact_id in sentence.fact_ids
        if (number := document.numbers[fact_id])
    )
    marks = "".join(
        f' <span class="mark">({_linked(mark, document, address)})</span>'
        for mark in (sentence.mark, *sentence.changes)
        if mark
    )
    # No line begins with a number in brackets.
    return f"<bdi>{escape(one_line(sentence.text))}</bdi>&nbsp;{cites}{marks}"


def _facts(document: LessonDocument, address: Address) -> Iterator[str]:
    for number, fact_id, fact in document.facts():
        if fact is None:
            yield f'<li id="f{number}"><span class="mark">{DELETED}</span></li>'
            continue
        words = f"<bdi>{escape(one_line(fact.content))}</bdi>"
        if address is not _anchor:
            words = f'<a class="quiet" {address(fact_id, number)}>{words}</a>'
        state = "" if fact.is_shown else f' <span class="mark">({fact.status})</span>'
        sources = " · ".join(map(_source, sources_of(fact)))
        yield f'<li id="f{number}">{words}{state}<span class="soft origin">{sources}</span></li>'


def _source(url: str) -> str:
    target = link(url)
    text = escape(one_line(url))
    return f'<a href="{escape(target)}" rel="noreferrer">{text}</a>' if target else text
