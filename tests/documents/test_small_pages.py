"""What a page of a few sentences keeps of its structure."""

import pytest

from chiron_workers.documents.document import Block
from chiron_workers.documents.html import read_html


def _blocks(body: str) -> list[str]:
    return [
        block.text
        for block in read_html(f"<html><head><title>T</title></head><body>{body}</body></html>").blocks
    ]


def test_a_heading_stays_apart_from_its_paragraph() -> None:
    page = "<html><body><h1>海冰</h1><p>海冰是海水冻结形成的冰。</p></body></html>"
    assert read_html(page).blocks == (Block("海冰", is_heading=True), Block("海冰是海水冻结形成的冰。"))


def test_a_table_keeps_its_rows_and_a_list_its_items() -> None:
    table = "<table><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table>"
    assert _blocks(f"<h1>Ice</h1><p>Ice floats.</p>{table}<ol><li>Dig</li><li>Rake</li></ol>") == [
        "Ice", "Ice floats.", "1 | 2", "3 | 4", "1. Dig", "2. Rake",
    ]  # fmt: skip


def test_what_stands_around_the_text_of_a_small_page_is_no_text() -> None:
    around = (
        "<nav><a href='/'>Home</a></nav><ul><li><a href='/a'>About us</a></li><li><a href='/b'>Shop</a></li></ul>"
        "<script>var ice = 1;</script><noscript>Switch scripts on.</noscript><p aria-hidden='true'>Icon</p>"
    )
    assert _blocks(f"{around}<h1>Ice</h1><p>Ice floats.</p><footer>Imprint</footer>") == [
        "Ice",
        "Ice floats.",
    ]


def test_a_page_without_main_text_keeps_its_blocks() -> None:
    assert _blocks("<h1>a</h1><p>b</p>") == ["a", "b"]


@pytest.mark.parametrize("count", [1, 30])
def test_an_article_is_not_widened_by_the_words_around_it(count: int) -> None:
    sentence = "Sea ice is frozen sea water that floats on the sea and grows in winter. "
    article = f"<article><h1>Ice</h1><p>{sentence * 5 * count}</p></article>"
    assert _blocks(f"{article}<div class='related'>{'<a href=x>More about snow</a> ' * 9}</div>") == [
        "Ice", (sentence * 5 * count).strip(),
    ]  # fmt: skip


def test_what_stands_beside_a_small_article_is_not_read_with_it() -> None:
    words = f"<p>Ice floats on the sea.</p><ul><li>It is salt.</li></ul><p>{'It melts. ' * 12}</p>"
    article = f"<article><h1>Ice</h1>{words}</article>"
    assert _blocks(f"{article}<div class='related'><p>{'More on snow. ' * 9}</p></div>") == [
        "Ice", "Ice floats on the sea.", "It is salt.", ("It melts. " * 12).strip(),
    ]  # fmt: skip


def test_an_article_in_the_data_of_its_page_is_not_given_up_for_the_words_on_it() -> None:
    words = "Sea ice is frozen sea water that floats on the sea and grows in winter. " * 3
    data = f'<script type="application/ld+json">{{"articleBody": "{words}"}}</script>'
    assert _blocks(f"{data}<p>Please wait.</p>") == [words.strip()]


def test_a_page_within_a_form_keeps_its_blocks() -> None:
    assert _blocks("<form><h1>Ice</h1><p>Ice floats.</p><button>Send</button></form>") == [
        "Ice",
        "Ice floats.",
    ]
