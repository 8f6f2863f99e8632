import json
import re
from datetime import UTC, datetime

import pytest
from support.research_rows import Shelf

from chiron_workers.db.connect import Pool
from chiron_workers.evidence.quotes.reading_window import Piece, PieceKind, ReadingWindow, reading_window
from chiron_workers.knowledge.facts.source_views import SourceView, letter_of, load_views, share_pages
from chiron_workers.knowledge.facts.verdicts import Evidence, question
from chiron_workers.runs.session import Session

PROSE = "The report describes methods, data and limits of the study in separate chapters. "
PAGE = "\n\n".join(["Mines of the north", "RETRACTED", *[PROSE] * 80, "Jobs", "It is large. The mine has 12 shafts.",
                    "The mine employs 2,400 people.", *[PROSE] * 80, "Last updated in 2004"])  # fmt: skip
SHAFTS, JOBS = "The mine has 12 shafts.", "The mine employs 2,400 people."


def view_of(quote: str, text: str = PAGE, digest: str = "a", **head) -> SourceView:
    start = text.index(quote)
    window = reading_window(text, start, start + len(quote))
    return SourceView(digest, window, window.excerpts_of(text), **{"address": "https://a.org/"} | head)


def evidence_of(quote: str, **more) -> Evidence:
    return Evidence(quote, quote, view=view_of(quote, **more))


def test_a_question_shows_a_shared_page_once() -> None:
    alone = question([evidence_of(SHAFTS, title="Mines")])
    both = question([evidence_of(SHAFTS, title="Mines"), evidence_of(JOBS, title="Mines")])
    assert len(both) < len(alone) + 500
    assert re.findall(r"^Page (\w+)$", both, re.MULTILINE) == ["A"]
    assert both.count("Its page: A") == 2
    for words in ("Title: Mines", "RETRACTED", "Jobs", "Last updated in 2004"):
        assert both.count(words) == 1


def test_pages_that_are_not_the_same_have_letters_of_their_own() -> None:
    other = PAGE.replace("2,400", "2,401")
    words = question(
        [evidence_of(SHAFTS), evidence_of("The mine employs 2,401 people.", text=other, digest="b")]
    )
    assert re.findall(r"^Page (\w+)$", words, re.MULTILINE) == ["A", "B"]
    assert [letter_of(number) for number in (0, 25, 26, 53)] == ["A", "Z", "A1", "B2"]


def test_a_quote_that_would_stand_twice_on_a_shared_page_has_a_page_of_its_own() -> None:
    text = "\n\n".join(["Myths", JOBS, *[PROSE] * 200, "Facts", JOBS, *[PROSE] * 200])
    last = text.rindex(JOBS)
    window = reading_window(text, last, last + len(JOBS))
    views = [view_of(JOBS, text=text), SourceView("a", window, window.excerpts_of(text), "https://a.org/")]
    pages, letters = share_pages(views, [JOBS, JOBS])
    assert letters == ["A", "B"]
    assert "Facts" not in pages[0].text


@pytest.mark.parametrize(
    "other",
    [
        view_of(JOBS, text=PAGE.replace("It is large", "It is closed")),
        view_of(JOBS, text=PAGE.replace("RETRACTED", "Welcome to it")),
        view_of(JOBS, published_at=datetime(2004, 1, 1, tzinfo=UTC)),
        view_of(JOBS, title="A novel"),
    ],
)
def test_a_verdict_belongs_to_all_that_is_seen_around_a_quote(other: SourceView) -> None:
    mine = Evidence(JOBS, JOBS, view=view_of(JOBS))
    assert mine.digest != Evidence(JOBS, JOBS, view=other).digest


def test_a_verdict_does_not_depend_on_what_is_far_from_a_quote() -> None:
    far = PAGE.replace(PROSE, PROSE.replace("methods", "sources"), 20).replace(
        PROSE.replace("methods", "sources"), PROSE, 10
    )
    assert far != PAGE
    mine = Evidence(JOBS, JOBS, view=view_of(JOBS))
    moved = Evidence(JOBS, JOBS, source="elsewhere", view=view_of(JOBS, text=far, address="https://b.org/"))
    assert mine.digest == moved.digest


async def test_a_window_is_read_from_its_place_and_found_where_none_is_stored(
    pool: Pool, shelf: Shelf
) -> None:
    shelf.subject("mines")
    before = shelf.fact("mines", JOBS, "https://a.org/", quote=JOBS, text=PAGE)
    start = PAGE.index(SHAFTS)
    stored = ReadingWindow((Piece(PieceKind.SECTION, start, start + len(SHAFTS)),))
    columns = {"window_pieces": json.dumps(stored.as_rows()), "window_hash": stored.digest_of(PAGE)}
    after = shelf.fact("mines", SHAFTS, "https://a.org/", quote=SHAFTS, text=PAGE, **columns)
    moved = shelf.confirm(
        after, SHAFTS, "https://c.org/", quote=SHAFTS, text=PAGE.replace("Mines", "Pits"), **columns
    )
    unread = shelf.fact("mines", "Mines are deep.", "https://b.org/")
    async with Session(pool) as session:
        views = await load_views(session, [before, after, moved, unread])
    assert {*views} == {str(before), str(after), str(moved)}
    assert "RETRACTED" in views[str(before)].text
    assert views[str(after)].text == f"[…]\n\n{SHAFTS}"
    assert "Pits of the north" in views[str(moved)].text, "its pieces are those of another text"
