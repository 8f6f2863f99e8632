"""What raised, lowered, deleted, merged and numbered words of each format become in plain text."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import trafilatura

from chiron_workers.documents.document import Document
from chiron_workers.documents.docx import read_docx
from chiron_workers.documents.html import read_html
from chiron_workers.documents.html_tree import rewrite
from chiron_workers.documents.markdown import read_markdown
from chiron_workers.documents.pdf import read_pdf
from chiron_workers.documents.rst import read_rst
from chiron_workers.documents.scripts import list_mark, lower_words, note_mark, raise_words

GOLDEN = Path(__file__).parents[1] / "golden"


def _of_text(read: Callable[[str], Document], data: bytes) -> Document:
    return read(data.decode())


READERS: dict[str, Callable[[bytes], Document]] = {
    "html": partial(_of_text, read_html),
    "md": partial(_of_text, read_markdown),
    "rst": partial(_of_text, read_rst),
    "docx": partial(read_docx, name="measures"),
    "pdf": partial(read_pdf, name="measures"),
}


@pytest.mark.parametrize("suffix", READERS)
def test_what_a_document_means_stands_in_its_words(suffix: str) -> None:
    document = READERS[suffix]((GOLDEN / f"measures.{suffix}").read_bytes())
    assert document.text == (GOLDEN / f"measures.{suffix}.expected").read_text().removesuffix("\n")


@pytest.mark.parametrize(
    ("words", "before", "written"),
    [
        ("5", "10", "10⁵"),
        ("−5", "10", "10⁻⁵"),
        ("2+", "Ca", "Ca²⁺"),
        ("n", "x", "x^n"),
        ("n+1", "x", "x^(n+1)"),
        ("1,2", "effective", "effective^(1,2)"),
        ("(1,2)", "effective", "effective^(1,2)"),
        ("th", "the 19", "the 19th"),
        ("th", "x", "x^th"),
        ("me", "M", "Mme"),
        ("®", "Aspirin", "Aspirin®"),
        ("*", "0.05", "0.05*"),
        ("[12]", "3", "3[12]"),
        ("", "3", "3"),
        (
            "a long remark that was set small for looks alone",
            "so ",
            "so a long remark that was set small for looks alone",
        ),
    ],
)
def test_a_raised_word_joins_nothing_that_it_would_change(words: str, before: str, written: str) -> None:
    assert before + raise_words(words, before=before) == written


def test_lowered_words_notes_and_numbers_of_items_are_written_out() -> None:
    assert [lower_words(words) for words in ("2", "i", "2.5", "i, j", "")] == [
        "₂",
        "_i",
        "_2.5",
        "_(i, j)",
        "",
    ]
    assert [note_mark(words) for words in ("7", " [7] ", "(a)", "")] == ["[7]", "[7]", "[a]", ""]
    assert [list_mark(4, kind) for kind in "1aAiI"] == ["4.", "d.", "D.", "iv.", "IV."]
    assert [list_mark(n, "a") for n in (27, 0, -1)] == ["aa.", "0.", "-1."]


def _page(body: str) -> str:
    words = "So it was said in the paper of the year before, and nobody has ever found a reason to doubt it. "
    return read_html(f"<html><body><article><p>{words * 3}</p>{body}</article></body></html>").text.partition(
        "\n\n"
    )[2]


END = "of all the cases that anybody has ever seen there and written about"


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("10<b><sup>5</sup></b> m<i><sup>2</sup></i>", "10⁵ m²"),
        ("3<a href='#n1'><sup>7</sup></a> and 3<sup><a href='#n1'>7</a></sup>", "3[7] and 3[7]"),
        ("<a href='/x'>10<sup>5</sup> of them</a>", "10⁵ of them"),
        ("three<a role='doc-noteref' href='#n'>4</a> of them", "three[4] of them"),
        ("see <a class='reference external' href='/'>here</a> what", "see here what"),
        ("a <del>b <ins>c</ins></del> d <ins>e <del>f</del></ins>", "a d e"),
    ],
)
def test_a_page_says_the_same_wherever_its_marks_stand(marked: str, plain: str) -> None:
    assert _page(f"<p>So {marked} {END}.</p>") == f"So {plain} {END}."


def test_a_table_keeps_its_columns_whatever_is_merged() -> None:
    table = (
        "<table><tr><th rowspan='2'></th><th colspan='2'>2019</th></tr><tr><th>Men</th><th>Women</th></tr>"
        "<tr><td rowspan='0'>Ill</td><td colspan='2' rowspan='2'>5</td></tr><tr></tr><tr><td></td><td>6</td></tr></table>"
    )
    assert _page(table).split("\n\n") == [
        " | 2019 | 2019",
        " | Men | Women",
        "Ill | 5 | 5",
        "Ill | 5 | 5",
        "Ill |  | 6",
    ]


def test_paragraphs_and_items_in_a_cell_stay_apart() -> None:
    cells = "<td><p>5</p><p>6</p></td><td><ul><li>seven</li><li>eight</li></ul></td><td><div>9</div>10</td>"
    assert _page(f"<table><tr>{cells}</tr></table>") == "5 6 | seven eight | 9 10"


def test_merged_cells_without_end_are_read_in_good_time() -> None:
    cells = "<td colspan='1000' rowspan='65000'>x</td>" * 50
    assert _page("<table>" + f"<tr>{cells}</tr>" * 50 + "</table>").count("x") < 200_000


def test_a_paragraph_of_raised_words_takes_time_in_proportion() -> None:
    source = f"<html><body><p>{'word 10<sup>5</sup> and <del>no</del> ' * 20_000}</p></body></html>"
    tree = trafilatura.load_html(source)
    assert tree is not None
    began = time.process_time()
    rewrite(tree, source)
    assert time.process_time() - began < 5
    assert tree.text_content().count("10⁵ and") == 20_000


def test_struck_and_merged_table_cells_of_markdown_keep_their_columns() -> None:
    text = read_markdown("| | a |\n|-|-|\n| ~~1~~ 2 | <del>3</del>4 |\n\n5^[6] and <sup>7").text
    assert text == " | a\n\n 2 | 4\n\n5^[6] and 7"
