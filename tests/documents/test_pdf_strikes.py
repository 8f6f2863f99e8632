"""Words of a PDF with a line through them are no text of it; texts of its figures are."""

import pytest
from support.hostile_documents import pdf_of

from chiron_workers.documents.pdf import read_pdf

WIDTH = 6  # of each letter of Courier at a size of 10


def _pdf(content: str, *structure: bytes) -> bytes:
    stream = content.encode("latin-1")
    return pdf_of(
        b"<</Type/Catalog/Pages 2 0 R/StructTreeRoot 6 0 R/MarkInfo<</Marked true>>>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/StructParents 0"
        b"/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Courier>>",
        *structure,
    )


def _text(content: str) -> str:
    return read_pdf(_pdf(content), name="a").text.removeprefix("[Page 1]").strip()


def _line(words: str, part: str, *, height: float, is_bar: bool = False) -> str:
    """Words at a size of 10, with a line or bar over a part of them, this high above the baseline."""
    start = 50 + WIDTH * words.index(part)
    end = start + WIDTH * len(part)
    drawing = (
        f"{start} {700 + height - 0.3} {end - start} 0.6 re f"
        if is_bar
        else f"0.6 w {start} {700 + height} m {end} {700 + height} l S"
    )
    return f"BT /F1 10 Tf 50 700 Td ({words}) Tj ET {drawing}"


@pytest.mark.parametrize("is_bar", [False, True])
@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("50% ", "The rate fell to 21% in 10 towns."),
        ("50%", "The rate fell to 21% in 10 towns."),
        ("50% 21%", "The rate fell to in 10 towns."),
        ("The rate ", "fell to 50% 21% in 10 towns."),
        (" in 10 towns.", "The rate fell to 50% 21%"),
    ],
)
def test_words_that_a_line_runs_through_are_left_out(part: str, text: str, is_bar: bool) -> None:
    words = "The rate fell to 50% 21% in 10 towns."
    assert _text(_line(words, part, height=2.5, is_bar=is_bar)) == text


@pytest.mark.parametrize("height", [-1.5, 0, 8.5, 12])
def test_a_line_under_or_over_words_strikes_none_out(height: float) -> None:
    words = "The rate fell to 50% 21% in 10 towns."
    assert _text(_line(words, "50%", height=height)) == words


def test_a_struck_number_leaves_powers_as_they_are() -> None:
    words = "It was 50 and is 10"
    power = "BT /F1 6.5 Tf 164.5 704 Td (5) Tj ET"
    assert _text(f"{_line(words, '50', height=2.5)} {power}") == "It was and is 10⁵"


def test_a_tagged_figure_keeps_its_text() -> None:
    content = "/P<</MCID 0>>BDC BT /F1 10 Tf 50 700 Td (It rains.) Tj ET EMC /Figure<</MCID 1>>BDC 50 50 99 99 re f EMC"
    structure = (
        b"<</Type/StructTreeRoot/K[7 0 R]/ParentTree 10 0 R>>",
        b"<</Type/StructElem/S/Document/P 6 0 R/K[8 0 R 9 0 R]>>",
        b"<</Type/StructElem/S/P/P 7 0 R/Pg 3 0 R/K 0>>",
        b"<</Type/StructElem/S/Figure/P 7 0 R/Pg 3 0 R/K 1/Alt(Rain by month, in mm)>>",
        b"<</Nums[0[8 0 R 9 0 R]]>>",
    )
    blocks = read_pdf(_pdf(content, *structure), name="a").blocks
    assert [block.text for block in blocks] == ["[Page 1]", "It rains.", "[Image: Rain by month, in mm]"]
