"""What a page of HTML has no words for leaves a mark, and what of it is not in its text is listed."""

import pytest
from lxml.html import defs

from chiron_workers.documents.html import read_html
from chiron_workers.documents.html_elements import ELEMENTS
from chiron_workers.documents.markdown import read_markdown
from chiron_workers.documents.omissions import Omission

SENTENCE = "The harbour of Lake Orwena was opened in {year} and has four quays for ships of up to 120 m."


def read(*parts: str):
    sentences = "".join(f"<p>{SENTENCE.format(year=year)}</p>" for year in (1921, 1934, 1955))
    article = (
        f"<article><h1>Harbour</h1>{sentences}{''.join(parts)}<p>{SENTENCE.format(year=2001)}</p></article>"
    )
    return read_html(f"<!doctype html><html><head><title>Harbour</title></head><body>{article}</body></html>")


def line(document, word: str) -> str:
    return next(line for line in document.text.split("\n") if word in line)


@pytest.mark.parametrize(
    ("element", "words", "kind"),
    [
        ('<svg viewBox="0 0 9 9"><path d="M0 0"/><g><text>µ</text></g></svg>', "[drawing]", "drawing"),
        ("<canvas>no canvas</canvas>", "[drawing]", "drawing"),
        ('<img src="micro.gif">', "[picture without text]", "picture without text"),
        ('<img src="micro.gif" alt="micro.gif">', "[picture without text]", "picture without text"),
        ('<video src="a.mp4">no video</video>', "[embedded object]", "embedded object"),
        ('<iframe src="chart.html"></iframe>', "[embedded object]", "embedded object"),
        ('<embed src="chart.swf">', "[embedded object]", "embedded object"),
        ("<select><option>1</option></select>", "[form field]", "form field"),
        ("<x-gauge data-value='5'></x-gauge>", "[part that is not read]", "part that is not read"),
        ("<math><mphantom><mi>x</mi></mphantom></math>", "[formula]", "formula"),
    ],
)
def test_an_element_without_words_leaves_a_mark_among_words(element: str, words: str, kind: str) -> None:
    document = read(f"<p>The dose is 5 {element}g a day.</p>")
    assert line(document, "dose") == f"The dose is 5 {words}g a day."
    assert [(part.kind, part.count) for part in document.left_out] == [(kind, 1)]


@pytest.mark.parametrize(
    ("element", "words"),
    [
        ("<svg><title>Two fish</title><path/></svg>", "[Image: Two fish]"),
        ("<label>Depth</label>", "Depth"),
        ('<input value="14.5">', "14.5"),
        ("<select><option>1</option><option selected>2 m</option></select>", "2 m"),
        ("<textarea>Berth 7</textarea>", "Berth 7"),
        ('<progress value="70" max="100"></progress>', "70 of 100"),
        ("<output>42</output>", "42"),
        ("<o:p>Quay</o:p>", "Quay"),
    ],
)
def test_what_a_reader_of_the_page_sees_is_written(element: str, words: str) -> None:
    document = read(f"<p>There is {element} in the lake.</p>")
    assert line(document, "There is") == f"There is {words} in the lake."
    assert document.left_out == ()


def test_decoration_leaves_no_mark() -> None:
    parts = (
        '<p>A <svg aria-hidden="true"><path d="M0"/></svg>quay of <a href="/x">stone <svg><path/></svg></a> stands',
        '<img src="count.gif" width="1" height="1"> there.</p>',
    )
    assert "quay of stone stands there." in " ".join(line(read(*parts), "quay of").split())


def test_an_unknown_element_keeps_its_words_apart_and_is_listed() -> None:
    document = read("<p>It is 5<x-unit>mg</x-unit>daily.</p><zz-box><p>A box of words.</p></zz-box>")
    assert line(document, "It is") == "It is 5 mg daily."
    assert "A box of words." in document.text
    assert document.left_out == (Omission("unknown element", 2, "<x-unit>"),)


def test_what_is_not_in_the_text_is_listed_with_its_first_words() -> None:
    document = read(
        "<aside>A word of the editor that stands beside it all, and is long.</aside>",
        "<nav><a href='/'>All harbours</a></nav>",
        "<p>The price is <s>9</s> 7 coins a night for each ship.</p>",
    )
    assert "coins" in document.text
    assert document.left_out == (
        Omission("passage that is struck out", 1),
        Omission("passage of an aside", 1, "“A word of the editor that stands beside …”"),
        Omission("passage of navigation", 1, "“All harbours”"),
    )


def test_a_page_whose_words_are_all_in_its_text_lists_nothing() -> None:
    assert (
        read("<ul><li>One <b>bold</b> word</li></ul><table><tr><td>7</td><td>8 m</td></tr></table>").left_out
        == ()
    )


def test_the_words_behind_an_element_without_an_end_stay() -> None:
    document = read("<p>Before <embed src='a.swf'> between <image src='b.png'> behind it.</p>")
    assert line(document, "Before") == "Before [embedded object] between [picture without text] behind it."


def test_html_in_markdown_leaves_the_same_marks() -> None:
    document = read_markdown("# Harbour\n\n<p>A <svg><path/></svg> of the quay.</p>\n")
    assert "A [drawing] of the quay." in document.text
    assert document.left_out == (Omission("drawing", 1, "<svg>"),)


def test_every_element_that_the_parser_knows_is_in_the_table() -> None:
    assert sorted(defs.tags - ELEMENTS) == []


@pytest.mark.parametrize(
    ("source", "words", "left_out"),
    [
        (
            "See ![](plans/quay.png) here.",
            "See [picture without text] here.",
            Omission("picture without text", 1, "quay.png"),
        ),
        ("See <svg>A</svg> here.", "See [drawing] here.", Omission("drawing", 1, "<svg>")),
        (
            "Run `chiron` <file> now.",
            "Run chiron [part that is not read] now.",
            Omission("part that is not read", 1, "<file>"),
        ),
        ("It is 5<x-unit>mg</x-unit>daily.", "It is 5 mg daily.", Omission("unknown element", 1, "<x-unit>")),
        ("It costs ~~9~~ 7 coins.", "It costs 7 coins.", Omission("passage that is struck out", 1)),
    ],
)
def test_what_a_paragraph_of_markdown_has_no_words_for_leaves_a_mark_or_is_listed(
    source: str, words: str, left_out: Omission
) -> None:
    document = read_markdown(f"# Harbour\n\n{source}\n")
    assert document.text == f"Harbour\n\n{words}"
    assert document.left_out == (left_out,)
