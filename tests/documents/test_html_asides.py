"""Formulas in scripts, binomials, isotopes, lists of tasks, icons and notes of a page keep what they say."""

import pytest

from chiron_workers.documents.html import read_html
from chiron_workers.documents.omissions import describe

PROSE = (
    "<p>The harbour lies on the northern coast, and its quays have been in use since 1901, as its report tells.</p>"
    * 4
)


def text_of(body: str) -> str:
    return read_html(f"<html><body><article><h1>Quay</h1>{body}{PROSE}</article></body></html>").text


def math(inner: str) -> str:
    return text_of(f"<p>Say <math>{inner}</math> here.</p>").split("\n\n")[1]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ('<script type="math/tex">E=mc^2</script>', "E=mc^2"),
        ('<script type="math/tex; mode=display">% <![CDATA[\n\\frac{a}{b} %]]></script>', "\\frac{a}{b}"),
        (
            '<span class="MathJax_Preview">E</span><span class="MathJax">E=mc2</span><script type="math/tex">E=mc^2</script>',
            "E=mc^2",
        ),
        ('<script type="math/mml"><math><msup><mi>c</mi><mn>2</mn></msup></math></script>', "c²"),
        ("it <script>var ice = 1;</script>", "it"),
    ],
)
def test_a_formula_in_a_script_is_written_and_what_was_drawn_of_it_is_not(script: str, words: str) -> None:
    assert f"Say {words} here." in " ".join(text_of(f"<p>Say {script} here.</p>").split())


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        (
            '<mo>(</mo><mfrac linethickness="0"><mn>6</mn><mn>2</mn></mfrac><mo>)</mo><mo>=</mo><mn>15</mn>',
            "C(6,2)=15",
        ),
        ('<mfrac linethickness="0pt"><mi>n</mi><mi>k</mi></mfrac>', "(n; k)"),
        ('<mfenced><mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac></mfenced>', "C(n,k)"),
        ("<mfrac><mn>6</mn><mn>2</mn></mfrac>", "6/2"),
        ("<mn>2</mn><mfrac><mn>1</mn><mn>2</mn></mfrac>", "2 1/2"),
        ("<mmultiscripts><mi>C</mi><mprescripts/><mn>6</mn><mn>14</mn></mmultiscripts>", "¹⁴₆C"),
        (
            "<mmultiscripts><mi>U</mi><none/><mo>+</mo><mprescripts/><mn>92</mn><mn>235</mn></mmultiscripts>",
            "²³⁵₉₂U⁺",
        ),
        ("<mover><mi>x</mi><mo>¯</mo></mover>", "x̄"),
        ("<mlongdiv><mn>3</mn><mn>12</mn></mlongdiv>", "3 12"),
    ],
)
def test_formulas_keep_their_structure(inner: str, words: str) -> None:
    assert math(inner).replace("  ", " ") == f"Say {words} here."


def test_a_list_of_tasks_says_what_is_done() -> None:
    text = text_of(
        "<ul><li><input type=checkbox checked disabled> Dredge the quay</li><li><input type=checkbox disabled> Paint it</li></ul>"
    )
    assert "[x] Dredge the quay" in text
    assert "[ ] Paint it" in text


def test_a_cell_with_an_icon_says_its_label_or_leaves_a_mark() -> None:
    document = read_html(
        f"<html><body><article><h1>Quay</h1>{PROSE}<table><tr><th>Quay</th><th>Water</th><th>Power</th><th>Wifi</th></tr><tr><td>North</td>"
        '<td><i class="icon-check" aria-label="Yes"></i></td><td><span class="fa fa-times" title="No">\uf00d</span></td>'
        '<td><i class="fa fa-check"></i></td></tr></table></article></body></html>'
    )
    assert "North | Yes | No | [sign]" in document.text
    assert "1 sign" in describe(document.left_out)


def test_a_note_of_latexml_stands_behind_its_paragraph() -> None:
    note = (
        '<span class="ltx_note ltx_role_footnote"><sup class="ltx_note_mark">1</sup><span class="ltx_note_outer">'
        '<span class="ltx_note_content"><sup class="ltx_note_mark">1</sup><span class="ltx_tag ltx_tag_note">1</span>'
        "Of <b>1901</b>"
        " alone.</span></span></span>"
    )
    paragraphs = text_of(f'<p class="ltx_p">The quay{note} is 240 m long.</p>').split("\n\n")
    assert paragraphs[1].startswith("The quay[1] is 240 m long.")
    assert paragraphs[2] == "[1] Of 1901 alone."
