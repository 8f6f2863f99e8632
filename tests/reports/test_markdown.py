import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chiron_api.reports.formats import markdown
from chiron_api.reports.formats.markdown_text import MARKUP, escape
from chiron_api.reports.gathering import gather
from chiron_api.reports.phrasing import UNPRINTABLE, one_line

COMMONMARK = MarkdownIt("commonmark")
GITHUB = MarkdownIt("gfm-like", {"linkify": False}).enable(["table", "strikethrough"])
NASTY = "#%*_`<>[]()!|~&;\\-+=.:/\"'{}$^@ \n\tab1٣é\u202e\0"


def words(parser: MarkdownIt, text: str) -> tuple[set[str], str]:
    """What a parser makes of a text: the kinds of its tokens, and the words it shows."""
    blocks = parser.parse(text)
    inline = [child for block in blocks for child in block.children or ()]
    kinds = {token.type for token in [*blocks, *inline]}
    return kinds, "".join(child.content for child in inline)


def test_what_is_passed_over_is_what_cleaning_and_escaping_would_leave_as_it_is():
    """Most texts hold nothing to clean or to escape, and are looked at once."""
    for letter in map(chr, range(0x1_0000)):
        for text in (f"a{letter}b", f"{letter}ab", f"ab{letter}"):
            line = " ".join(UNPRINTABLE.sub("", text).split())
            assert one_line(text) == line, repr(text)
        assert (escape(f"a{letter}{letter}") != f"a{letter}{letter}") == bool(
            MARKUP.search(f"a{letter}{letter}") or one_line(f"a{letter}{letter}") != f"a{letter}{letter}"
        )
    assert [one_line(text) for text in ("", " ", "a  b", " a b", "a b ")] == ["", "", "a b", "a b", "a b"]


@given(st.one_of(st.text(), st.text(alphabet=NASTY)))
@pytest.mark.parametrize("parser", [COMMONMARK, GITHUB], ids=["commonmark", "github"])
def test_any_text_shows_as_itself_and_becomes_no_markup(parser, text):
    if one_line(text):
        kinds, said = words(parser, escape(text))
        assert kinds <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special"}
        assert said == one_line(text)


@given(st.text(alphabet="#%= a\\"))
def test_nothing_is_left_that_obsidian_would_read_as_a_tag_a_comment_or_a_highlight(text):
    assert not re.search(r"%%|==|(?<!\\)(\\\\)*#", escape(text))


async def test_no_fact_becomes_markup(sea_ice, pool):
    text = "".join(markdown.render(await gather(pool, sea_ice.run)))
    kinds, said = words(COMMONMARK, text)
    assert not kinds & {
        "html_block",
        "html_inline",
        "fence",
        "code_block",
        "code_inline",
        "image",
        "table_open",
    }
    assert "<script>alert(1)</script>" in said
    assert "javascript:" not in "".join(re.findall(r'href="([^"]*)"', COMMONMARK.render(text)))


async def test_numbers_in_brackets_lead_to_the_page_of_the_source(sea_ice, pool):
    html = COMMONMARK.render("".join(markdown.render(await gather(pool, sea_ice.run))))
    [number] = re.findall(r"<strong>\[(\d+)\]</strong> Ice \| &lt;today&gt;", html)
    assert f'<a href="https://a.org/ice">[{number}]</a>' in html
    assert "A. Ice · published 2025-05-05 · CC BY 4.0 · fetched 2026-03-01 12:00 UTC" in html


async def test_what_was_not_checked_is_marked(sea_ice, pool):
    text = "".join(markdown.render(await gather(pool, sea_ice.run)))
    assert text.count("I think it is") == 1
    assert "- I think it is thin. *(not cited)*" in text
    assert "(not found in the source)" in text
    assert "without a stored fact or source: “Some say it is 3 m.”" in text
    assert text.count("not verified") >= 7
    assert "confidence 0.45 · 1 independent source · unchecked · disputed" in text
