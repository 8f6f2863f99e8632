"""Markdown leaves out what its HTML strikes out or hides, and keeps formulas as they are written."""

import pytest

from chiron_workers.documents.markdown import read_markdown
from chiron_workers.documents.omissions import describe
from chiron_workers.documents.rst import read_rst


@pytest.mark.parametrize(
    ("source", "text", "left_out"),
    [
        ("A 5 g\n\n<del>\n\nThe dose is 9 g.\n\n</del>\n\nEnd.", "A 5 g\n\nEnd.", "1 passage that is struck out"),
        ("<div hidden>\n\nNo.\n\n</div>\n\nEnd.", "End.", "1 hidden passage"),
        ('<div style="display:none">\n\na\n\n<div>\n\nb\n\n</div>\n\nc\n\n</div>\n\nEnd.', "End.", "1 hidden passage"),
        ("<del>\n\nNever closed.", "Never closed.", ""),
        ('It is <b style="text-decoration: line-through">7</b> 8 g.', "It is 8 g.", "1 passage that is struck out"),
        ("It is <span hidden>not <span>a</span> b</span> 8 g.", "It is 8 g.", "1 hidden passage"),
        ("It is <span hidden>8 g.", "It is 8 g.", ""),
        ("It is <ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby> here.", "It is 漢 here.", "1 ruby annotation"),
        ("A <script>var a</script><style>b{}</style><template>c</template>z.", "A z.", ""),
    ],
)  # fmt: skip
def test_what_html_hides_in_markdown_is_left_out_and_listed(source: str, text: str, left_out: str) -> None:
    document = read_markdown(source)
    assert (document.text, describe(document.left_out)) == (text, left_out)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("It is $x^2+y^2$, $a~b~c$ and $x_1^*y^*$.", "It is $x^2+y^2$, $a~b~c$ and $x_1^*y^*$."),
        ("It is $$\\frac{a}{b}$$.", "It is $$\\frac{a}{b}$$."),
        ("It is $5 or \\$6 and *more*, 10^5^ for $7.", "It is $5 or $6 and more, 10⁵ for $7."),
    ],
)
def test_formulas_between_dollars_stay_as_they_are(source: str, text: str) -> None:
    assert read_markdown(source).text == text


def test_a_formula_of_restructuredtext_keeps_its_backslashes() -> None:
    source = "T\n=\n\nIt is :math:`5\\pm2` or :math:`x \\neq 5`.\n"
    assert read_rst(source).text == "T\n\nIt is 5\\pm2 or x \\neq 5."
