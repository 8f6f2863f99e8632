"""Statements that a careful reader of a page rejects although its words are there, and true ones on the same pages.

`misreadings/handed.jsonl`, `denials.json` and `siblings.jsonl` hold the former, each with the decisive words of its page;
`readings.jsonl` the latter, by the number of their page in `handed.jsonl` and what is replaced there.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from aiohttp import web

from support.scripted_model import Says, call, calls, page_of, says, turn, verdict_entries
from support.scripted_sites import Site

FOLDER = Path(__file__).parent / "misreadings"
CALLS_MAX = 20  # of a reply
STATEMENT = re.compile(r"<(statement-[0-9a-f]+)>\n(.*?)\n</\1>", re.DOTALL)
MINE = "The mine in the north employs 2,400 people."
FILLER = "<p>" + "The report describes methods, data and limits in separate chapters. " * 4 + "</p>"


@dataclass(frozen=True, slots=True)
class Reading:
    """A statement and its quote on a page. A judge who sees the decisive words accepts it only if it has them."""

    kind: str
    html: str
    quote: str
    statement: str
    decisive_words: str


def handed_misreadings() -> list[Reading]:
    return [_reading(line) for line in _lines("handed.jsonl")]


def sibling_misreadings() -> list[Reading]:
    """The same faults on other pages: other languages, lists, tables, captions, notes, banners, posts, far headings."""
    return [_reading(line) for line in _lines("siblings.jsonl")]


def true_readings() -> list[Reading]:
    """Two for each handed page: one that has its decisive words, and as a rule one on the page without them."""
    pages = handed_misreadings()
    readings = []
    for line in _lines("readings.jsonl"):
        page = pages[line["page"]]
        html = page.html
        for words, others in line["replace"]:
            assert words in html
            html = html.replace(words, others)
        readings.append(Reading(page.kind, html, line["quote"], line["statement"], page.decisive_words))
    return readings


def denied_readings() -> list[Reading]:
    """A quote that a denial follows: in its paragraph, in the next one, and in a remark further down."""
    denials: list[str] = json.loads((FOLDER / "denials.json").read_text(encoding="utf-8"))
    pages = ("<p>{mine} {denial}</p>", "<p>{mine}</p><p>{denial}</p>", "<p>{mine}</p>{filler}<p>{denial}</p>")
    readings = []
    for number, (denial, page) in enumerate(product(denials, pages), start=1):
        mine = f"The mine in valley {number} employs 2,400 people."
        words = page.format(mine=mine, denial=denial, filler=FILLER)
        html = f"<!doctype html><title>A page</title><article><h1>A page</h1>{words}{FILLER}</article>"
        readings.append(Reading("denied", html, mine, mine, denial))
    return readings


def serve_pages(site: Site, readings: Sequence[Reading]) -> dict[str, str]:
    """Serve the page of each reading; the addresses by statement."""

    def page(html: str, request: web.Request) -> web.Response:
        return web.Response(text=html, content_type="text/html")

    for number, reading in enumerate(readings):
        site.answers[f"/page-{number}"] = partial(page, reading.html)
    return {reading.statement: f"{site.url}/page-{number}" for number, reading in enumerate(readings)}


def fact_of(reading: Reading, url: str) -> dict[str, Any]:
    """The arguments that store a statement with its quote."""
    return {
        "content": reading.statement, "quote": reading.quote, "subject_id": "physics", "source_url": url,
        "source_score": 0.9, "topic_path": f"readings/{reading.kind}", "confidence": 0.9,
    }  # fmt: skip


def storing(readings: Sequence[Reading], urls: dict[str, str]) -> Callable[[dict[str, Any]], Says]:
    """A model that reads all pages, then stores all statements."""
    reads = [call("web_fetch", url=urls[reading.statement]) for reading in readings]
    stores = [call("store_knowledge", **fact_of(reading, urls[reading.statement])) for reading in readings]
    replies = [
        blocks[start : start + CALLS_MAX]
        for blocks in (reads, stores)
        for start in range(0, len(blocks), CALLS_MAX)
    ]

    def answer(request: dict[str, Any]) -> Says:
        if [tool["name"] for tool in request["tools"]] == ["give_relations"]:
            return says("They are about different things.")
        place = turn(request)
        return calls(*replies[place]) if place < len(replies) else says("Done.")

    return answer


def careful_judge(readings: Iterable[Reading]) -> Callable[[dict[str, Any]], Says]:
    """A judge that is always right about what it is shown: it doubts a statement that leaves out decisive words it sees."""
    words_by_statement = {reading.statement: reading.decisive_words.casefold() for reading in readings}

    def judge(request: dict[str, Any]) -> Says:
        def verdict_on(item: str) -> tuple[str, str]:
            statement = STATEMENT.search(item)
            assert statement is not None
            words = words_by_statement[statement[2]]
            shown = f"{page_of(request, item)} {item.replace(statement[0], '')}".casefold()
            if words in shown and words not in statement[2].casefold():
                return "partly", f"It leaves out: {words}."
            return "supported", "The quote says so on its page."

        return verdict_entries(request, verdict_on)

    return judge


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def _reading(line: dict[str, Any]) -> Reading:
    return Reading(line["class"], line["html"], line["quote"], line["statement"], line["decisive_words"])
