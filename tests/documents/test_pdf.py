from pathlib import Path

import pytest

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.pdf import page_count, read_pdf

GOLDEN = Path(__file__).parents[1] / "golden"
MOONS = (GOLDEN / "moons.pdf").read_bytes()


def test_a_pdf_gives_its_title_and_its_pages_each_marked_with_its_number() -> None:
    document = read_pdf(MOONS, name="a file")
    assert document.title == "Moons of Mars"
    assert [block.text for block in document.blocks if block.is_heading] == [
        "[Page 1]",
        "Moons of Mars",
        "[Page 2]",
    ]
    assert "both of them are extraordinarily\nsmall compared with the planet" in document.text
    assert document.text.endswith("[Page 2]\n\nSecond page with characterisation.")
    assert page_count(MOONS) == 2


def test_some_of_the_pages_can_be_asked_for() -> None:
    assert read_pdf(MOONS, name="", first=2, last=9).text == "[Page 2]\n\nSecond page with characterisation."
    assert "[Page 2]" not in read_pdf(MOONS, name="", first=1, last=1).text
    with pytest.raises(UnreadableError, match="it has 2 pages, and none has the number 3"):
        read_pdf(MOONS, name="", first=3)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ((GOLDEN / "encrypted.pdf").read_bytes(), "it is encrypted and needs a password"),
        (MOONS[:5000], "it is no whole PDF"),
        (b"", "it is no whole PDF"),
    ],
)
def test_a_pdf_that_cannot_be_read_says_why(data: bytes, sentence: str) -> None:
    with pytest.raises(UnreadableError, match=sentence):
        read_pdf(data, name="")
