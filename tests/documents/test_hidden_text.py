"""What no reader of a page sees is no text of it; images and marks of notes are."""

import time

import pytest
import trafilatura

from chiron_workers.documents.html import read_html
from chiron_workers.documents.html_tree import rewrite

SEEN = "<p>Ice floats on the sea in winter.</p>"
ARTICLE = (
    "<p>"
    + "So it was said in the paper of the year before, and nobody has found a reason to doubt it. " * 3
    + "</p>"
)
FORMULA = (
    "<span class='katex'><span class='katex-mathml'><math><msup><mi>c</mi><mn>2</mn></msup></math></span>"
    "<span class='katex-html' aria-hidden='true'><span>c2</span></span></span>"
)


def _blocks(body: str, *, is_long: bool) -> list[str]:
    page = f"<article>{ARTICLE}{body}</article>" if is_long else body
    blocks = read_html(f"<html><head><title>T</title></head><body>{page}</body></html>").blocks
    return [block.text for block in blocks][is_long:]


@pytest.mark.parametrize("is_long", [False, True])
@pytest.mark.parametrize(
    ("body", "texts"),
    [
        ("<p hidden>Ice sinks at once.</p>", []),
        ("<div hidden='until-found'><p>It melts in the spring.</p></div>", ["It melts in the spring."]),
        ("<template><p>Ice sinks at once.</p></template>", []),
        ("<dialog><p>Ice sinks at once.</p></dialog>", []),
        ("<p style='color: red; Display : none'>Ice sinks at once.</p>", []),
        ("<div style='display:none'><p>Ice sinks at once.</p></div>", []),
        ("<p style='visibility: hidden'>Ice sinks at once.</p>", []),
        (
            "<p>It <i style='visibility:hidden'>no <b style='visibility:visible'>melts</b></i> in spring.</p>",
            ["It melts in spring."],
        ),
        ("<p>Of 10<i style='font-size:0'>0</i>5 years it was one.</p>", ["Of 105 years it was one."]),
        (
            "<p>Of 10<i style='font-size:0.8em'>0</i>5 years it was one.</p>",
            ["Of 1005 years it was one."],
        ),
        (
            "<p>See <i aria-hidden='true'>¶</i> it melt, <i aria-hidden='true'>\ue001</i> they say.</p>",
            ["See it melt, they say."],
        ),
        (f"<p>Its energy is {FORMULA} times its mass.</p>", ["Its energy is c² times its mass."]),
        (
            "<ol><li>Dig the bed</li><li hidden>Burn it</li><li>Rake the bed</li></ol>",
            ["1. Dig the bed", "2. Rake the bed"],
        ),
        (
            "<table><tr><td>1</td><td style='display:none'>2</td><td>3</td></tr></table>",
            ["1 | 3"],
        ),
    ],
)
def test_what_is_hidden_is_not_read(body: str, texts: list[str], is_long: bool) -> None:
    assert _blocks(SEEN + body, is_long=is_long) == ["Ice floats on the sea in winter.", *texts]


@pytest.mark.parametrize("is_long", [False, True])
@pytest.mark.parametrize(
    ("body", "texts"),
    [
        ("<img src='a.png' alt='Rain by month'>", ["[Image: Rain by month]"]),
        (
            "<div><a href='/a.png'><img src='s.png' alt='Rain by month'></a></div>",
            ["[Image: Rain by month]"],
        ),
        ("<div><a href='/shop'><img src='a.png' alt='Buy it here'></a></div>", []),
        (
            "<div>Seen here <img src='a.png' alt='Rain'> by month.</div>",
            ["Seen here [Image: Rain] by month."],
        ),
        ("<header><img src='a.png' alt='Our emblem'></header>", []),
    ],
)
def test_an_image_that_belongs_to_the_text_keeps_its_words(
    body: str, texts: list[str], is_long: bool
) -> None:
    assert _blocks(SEEN + body, is_long=is_long) == ["Ice floats on the sea in winter.", *texts]


def test_a_note_begins_with_its_mark_as_it_stands_in_the_text() -> None:
    body = (
        "<p>Ice floats on <i>m</i><sup>2</sup> of the sea.<sup><a href='#n2'>2</a></sup> It melts.</p>"
        "<p><sup>14</sup>C dates it.</p><p id='n2'><sup>2</sup>Ice is lighter than water.</p>"
    )
    assert _blocks(body, is_long=True) == [
        "Ice floats on m² of the sea.[2] It melts.",
        "¹⁴C dates it.",
        "[2] Ice is lighter than water.",
    ]


@pytest.mark.parametrize(
    "piece",
    [
        "<i hidden>x</i>y",
        "<i style='visibility:hidden'>x</i>y",
        "<i aria-hidden='true'>¶</i>y",
        "<img alt=x>",
    ],
)
def test_hidden_text_takes_time_in_proportion(piece: str) -> None:
    source = f"<html><body><p>{piece * 20_000}</p><div>{piece * 20_000}</div></body></html>"
    tree = trafilatura.load_html(source)
    began = time.process_time()
    rewrite(tree, source)
    assert time.process_time() - began < 5
