"""Banners and notes that change what a page says stay in its text, at every place of the page."""

import time

import pytest
from lxml import html  # type: ignore[import-untyped]

from chiron_workers.documents.html import read_html
from chiron_workers.documents.html_notices import keep_notices

PROSE = (
    "<p>" + "The report describes methods, data and limits of the study in separate chapters. " * 4 + "</p>"
)
CLAIM = "<p>Vitamin D halves the risk of asthma in adults.</p>"
NOTICE = "Retracted by its authors in 2020."


def text_of(*, before: str = "", inside: str = "", end: str = "", after: str = "") -> str:
    article = f"<article><h1>Vitamin D</h1>{inside}{PROSE * 3}{CLAIM}{PROSE * 3}{end}</article>"
    return read_html(f"<html><head><title>D</title></head><body>{before}{article}{after}</body></html>").text


@pytest.mark.parametrize(
    "element",
    [
        "<div class='banner'>{}</div>",
        "<div class='alert alert-danger' role='alert'><strong>{}</strong></div>",
        "<p>{}</p>",
        "<aside class='note'><p>{}</p></aside>",
        "<header><p>{}</p></header>",
        "<center><b>{}</b></center>",
        "<table class='ambox'><tr><td>{}</td></tr></table>",
        "<footer><p>{}</p></footer>",
        "<small>{}</small>",
        "<div class='meta'>{} <time datetime='2004-05-01'>1 May 2004</time></div>",
    ],
)
@pytest.mark.parametrize(
    "notice",
    [
        NOTICE,
        "Sponsored content",
        "Last updated in 2004",
        "Ersetzt durch Fassung 3",
        "この論文は撤回されました",
    ],
)
def test_a_notice_stays_in_the_text_before_or_behind_the_page_and_in_it(element: str, notice: str) -> None:
    words = element.format(notice)
    for place in ("before", "inside"):
        assert notice in text_of(**{place: words})[:400], place
    for place in ("end", "after"):
        assert notice in text_of(**{place: words})[-400:], place


def test_a_notice_by_the_name_of_its_element_needs_no_known_words() -> None:
    assert text_of(before="<div class='retraction-banner'>Ezt visszavonták.</div>").startswith(
        "Ezt visszavonták."
    )


@pytest.mark.parametrize(
    "element",
    [
        "<div class='cookie-banner'>We use cookies. Last updated in 2004.</div>",
        "<nav><a href='/o'>Opinion</a> <a href='/d'>Drafts</a></nav>",
        "<div class='related'><a href='/x'>Study of salt retracted</a></div>",
        "<div class='sidebar'><p>Sponsored posts of others</p></div>",
        f"<div class='sidebar'>{'<div>' * 50}<p>Sponsored posts of others</p>{'</div>' * 50}</div>",
        "<div class='banner'><form>Search<input name='q'></form></div>",
    ],
)
def test_what_only_looks_like_a_notice_is_left_out_as_before(element: str) -> None:
    assert text_of(before=element) == text_of()


def test_a_notice_stands_once() -> None:
    assert text_of(inside=f"<p class='notice'>{NOTICE}</p>").count(NOTICE) == 1


def test_what_the_title_of_a_page_and_its_site_say_is_a_notice_too() -> None:
    head = "<title>Mines | The Lentil, a satire</title><meta property='og:site_name' content='Archived news'>"
    text = read_html(
        f"<html><head>{head}</head><body><article><h1>Mines</h1>{PROSE * 3}</article></body></html>"
    ).text
    assert "The Lentil, a satire" in text[:100]
    assert "Archived news" in text[:100]


@pytest.mark.parametrize("place", ["inside", "end"])
def test_a_short_table_whose_caption_is_a_notice_is_no_part_of_it(place: str) -> None:
    table = (
        "<table><tr><th>Town</th><th>People</th></tr><tr><td>Town of Olten</td><td>3,100</td></tr></table>"
    )
    figure = f"<figure>{table}<figcaption>Last updated in 2004: {NOTICE}</figcaption></figure>"
    text = text_of(**{place: figure})
    assert "Town | People\n\nTown of Olten | 3,100\n\nLast updated in 2004" in text
    assert "Town People" not in text


@pytest.mark.parametrize(
    "page",
    [
        f"<div class='{'xy ' * 30_000}'>{'<section><p>A draft of it</p></section>' * 1_000}</div>",
        f"<div>{'<div>' * 9}{'<p>A draft</p>' * 20}{'<b></b>' * 50_000}{'</div>' * 9}</div>",
    ],
)
def test_a_page_made_to_be_slow_is_searched_for_notices_in_a_second_or_two(page: str) -> None:
    tree = html.fromstring(f"<html><body>{page}</body></html>")
    begin = time.thread_time()
    keep_notices(tree)
    assert time.thread_time() - begin < 3
