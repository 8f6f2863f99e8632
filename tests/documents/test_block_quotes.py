"""Whose words they are: a mark stands before each paragraph of a block quote, and a quote need not have it."""

import time

from lxml import html  # type: ignore[import-untyped]

from chiron_workers.documents.html import read_html
from chiron_workers.documents.html_tree import rewrite
from chiron_workers.documents.markdown import read_markdown
from chiron_workers.evidence.quotes.quotes import locate

PROSE = "<p>" + "The board is a place for all who like to talk about drugs and their effects. " * 4 + "</p>"
QUOTATION = """<blockquote><p>Zolvan is <b>banned</b> in all of Germany.</p><p>It was so in 2011.</p>
<blockquote>He said so.</blockquote><ul><li>Ask him.</li></ul></blockquote><p>No it is not.</p>"""


def test_each_paragraph_of_a_block_quote_is_marked() -> None:
    text = read_html(
        f"<html><body><article><h1>A board</h1>{PROSE}{QUOTATION}{PROSE}</article></body></html>"
    ).text
    marked = ["Zolvan is banned in all of Germany.", "It was so in 2011.", "> He said so.", "Ask him."]
    assert [line[2:] for line in text.splitlines() if line.startswith("> ")] == marked
    assert "\nNo it is not." in text


def test_markdown_keeps_its_marks() -> None:
    text = read_markdown("Said:\n\n> It is *banned*.\n>\n> > Since when?\n\n1. No.\n").text
    assert text.split("\n\n") == ["Said:", "> It is banned.", "> > Since when?", "1. No."]


def test_a_quote_of_several_paragraphs_is_in_its_place_with_and_without_marks() -> None:
    text = "A board\n\n> Zolvan is banned in all of Germany.\n\n> It was so in the list of 2011.\n\nNo."
    for quote in (
        "Zolvan is banned in all of Germany. It was so in the list of 2011.",
        "> Zolvan is banned in all of Germany.\n\n> It was so in the list of 2011.",
    ):
        match = locate(quote, text)
        assert match is not None
        assert match.start == text.index(">")


def test_a_sign_before_a_figure_is_no_such_mark() -> None:
    assert locate("Doses of the drug were these: 5 mg in all of the patients.",
                  "Doses of the drug were these:\n> 5 mg in all of the patients.") is None  # fmt: skip


def test_the_source_of_a_block_quote_stays() -> None:
    quotation = "<blockquote><p>It is banned.</p><footer>From <cite>a novel</cite></footer></blockquote>"
    text = read_html(
        f"<html><body><article><h1>A board</h1>{PROSE}{quotation}{PROSE}</article></body></html>"
    ).text
    assert "> From a novel" in text


def test_quotes_within_quotes_have_three_marks_at_most() -> None:
    deep = f"{'<blockquote>' * 20}<p>It is banned.</p>{'</blockquote>' * 20}"
    text = read_html(
        f"<html><body><article><h1>A board</h1>{PROSE}{deep}{PROSE}</article></body></html>"
    ).text
    assert "\n> > > It is banned." in text
    assert read_markdown(f"Said:\n\n{'> ' * 12}It is banned.\n").text == "Said:\n\n> > > It is banned."


def test_a_page_made_of_nested_quotes_is_marked_at_once_and_stays_short() -> None:
    source = f"<html><body>{'<blockquote>' * 200}{'<p>x</p>' * 4_000}{'</blockquote>' * 200}</body></html>"
    tree = html.fromstring(source)
    begin = time.thread_time()
    rewrite(tree, source)
    assert time.thread_time() - begin < 2
    assert len(tree.text_content()) < 4_000 * 10
