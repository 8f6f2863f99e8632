"""Formulas in scripts, binomials, isotopes, lists of tasks, icons and notes of a page keep what they say."""

import time

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


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("2<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> kg", "2 1/2 kg"),
        ("10<math><msup><mi></mi><mn>5</mn></msup></math> kg", "10⁵ kg"),
        ('3<script type="math/tex">4</script>5 kg', "3 4 5 kg"),
        ("<math><msqrt><mn>5</mn></msqrt></math> kg", "√5 kg"),
        ("<math><menclose notation='radical'><mn>5</mn></menclose></math> kg", "√5 kg"),
        ("<math><menclose notation='box'><mn>5</mn></menclose></math> kg", "5 kg"),
        ("<math><menclose notation='updiagonalstrike'><mn>5</mn></menclose><mn>7</mn></math> kg", "7 kg"),
        ("<math><menclose notation='top'><mi>x</mi></menclose></math> kg", "[formula] kg"),
        ("<math><menclose><mn>84</mn></menclose></math> kg", "[formula] kg"),
        ("<math><mi>x</mi><mtext> if </mtext><mi>y</mi></math> kg", "x if y kg"),
        ("<math><msubsup><mo>∫</mo><mn>0</mn><mn>1</mn></msubsup><mn>2</mn><mi>x</mi></math>", "∫₀¹ 2x"),
        ("<math>" + "<mrow>" * 120 + "<mn>5</mn>" + "</mrow>" * 120 + "</math> kg", "[formula] kg"),
        (
            '<span class="katex"><span class="katex-html" aria-hidden="true"><span>1</span><span>0</span></span></span> kg',
            "[formula] kg",
        ),
        ('<mjx-container><mjx-math><mjx-c class="mjx-c35"></mjx-c></mjx-math></mjx-container> kg', "[formula] kg"),
        ('<span class="mjx-chtml"><span class="mjx-math" aria-hidden="true"><span>5</span></span></span> kg', "[formula] kg"),
        ('<span class="MathJax" data-mathml="&lt;math&gt;&lt;mn&gt;5&lt;/mn&gt;&lt;/math&gt;"><i>5</i></span> kg', "5 kg"),
        ('<img class="math" src="eq1.gif"> kg', "[formula] kg"),
        ('<img class="tex" src="eq1.gif" alt=""> kg', "[formula] kg"),
        ('not <span aria-hidden="true">≥</span> 40 kg', "not [sign] 40 kg"),
        ('<span class="sr-only">at least</span> <span aria-hidden="true">≥</span> 40 kg', "at least 40 kg"),
        ('5<i class="ic" aria-label="to"></i>10 kg', "5 to 10 kg"),
    ],
)  # fmt: skip
def test_formulas_signs_and_labels_join_nothing_and_leave_a_mark_where_they_have_no_words(
    formula: str, words: str
) -> None:
    assert text_of(f"<p>Say {formula}.</p>").split("\n\n")[1] == f"Say {words}."


MARGIN_NOTE = (
    '<label class="margin-toggle"></label>'
    '<input type="checkbox" class="margin-toggle"><span class="sidenote">As of 2019.</span>'
)
LATEXML_NOTE = (
    '<span class="ltx_note"><sup class="ltx_note_mark">1</sup><span class="ltx_note_outer"><span class="ltx_note_content">'
    '<sup class="ltx_note_mark">1</sup>As of 2019.</span></span></span>'
)


@pytest.mark.parametrize(
    ("block", "mark"),
    [
        (f'<div class="ltx_para"><span class="ltx_p">It is 5{LATEXML_NOTE} kg heavy.</span></div>', "1"),
        (f'<blockquote class="ltx_quote">It is 5{LATEXML_NOTE} kg heavy.</blockquote>', "1"),
        (f"<p>It is 5{MARGIN_NOTE} kg heavy.</p>", "note"),
        ('<p>It is 5<small class="marginnote">As of 2019.</small> kg heavy.</p>', "note"),
    ],
)
def test_a_note_in_any_block_leaves_its_mark_in_the_sentence(block: str, mark: str) -> None:
    paragraphs = "\n\n".join(text_of(block).split("\n")).split("\n\n")
    paragraphs = [paragraph.removeprefix("> ") for paragraph in paragraphs if paragraph]
    assert paragraphs[1:3] == [f"It is 5[{mark}] kg heavy.", f"[{mark}] As of 2019."]


def test_many_notes_and_nested_parts_do_not_take_long() -> None:
    start = time.process_time()
    text_of("<p>It" + "x" + LATEXML_NOTE * 1_500 + "</p>")
    text_of("<nav>" * 200 + "<b>a</b> " * 10_000 + "</nav>" * 200)
    assert time.process_time() - start < 10


def test_icons_that_tell_something_leave_marks_in_lists_and_cells() -> None:
    different = (
        '<ul><li><i class="fa fa-times"></i> Parking</li><li><i class="fa fa-check"></i> Wifi</li></ul>'
    )
    same = different.replace("fa-times", "fa-check").replace("Wifi", "Water")
    cells = '<tr><td>x</td><td><span class="tick"></span></td></tr><tr><td>y</td><td class="no"></td></tr>'
    cells += '<tr><td>z</td><td><img src="tick.png" alt=""></td></tr><tr><td>w</td><td><img src="spacer.gif" alt=""></td></tr>'
    document = read_html(
        f"<html><body><article><h1>Quay</h1>{PROSE}{different}{same}<table><tr><th>a</th><th>b</th></tr>{cells}</table></article>"
    )
    lines = [line.removeprefix("- ") for block in document.blocks for line in block.text.split("\n")]
    assert {"[sign] Parking", "[sign] Wifi", "Parking", "Water"} <= set(lines)
    assert {"x | [sign]", "y | [sign]", "z | [sign]"} <= set(lines)
    assert "w | [sign]" not in lines
