import time

import pytest

from chiron_workers.evidence.quotes.reading_window import (
    WINDOW_CHARS_MAX,
    reading_window,
)

QUOTE = "The mine employs 2,400 people."
PROSE = "The report describes methods, data and limits of the study in separate chapters. "


def window(text: str, quote: str = QUOTE) -> str:
    start = text.index(quote)
    excerpt = reading_window(text, start, start + len(quote))
    assert len(excerpt.text_of(text)) <= WINDOW_CHARS_MAX
    return excerpt.text_of(text)


def page(*blocks: str) -> str:
    return "\n\n".join(blocks)


FAR = page(*[PROSE * 4] * 40)


def test_a_window_of_a_short_page_is_the_page() -> None:
    text = page("Mines", PROSE, QUOTE, PROSE)
    assert " ".join(window(text).split()) == " ".join(text.split())


@pytest.mark.parametrize(
    "text",
    [
        page("Mines", "RETRACTED by its authors", FAR, QUOTE, FAR),
        page(FAR, QUOTE, FAR, "RETRACTED by its authors"),
        page(FAR, "RETRACTED", PROSE * 12, QUOTE, FAR),
        page(FAR, "RETRACTED", PROSE * 60, QUOTE, FAR),
        page(FAR, PROSE, "RETRACTED", "In the north", PROSE * 8, QUOTE, FAR),
        page(FAR, PROSE + "RETRACTED claims are these.", QUOTE, FAR),
        page(FAR, QUOTE, PROSE * 6, "This was RETRACTED.", FAR),
        page(FAR, f"{QUOTE} {PROSE * 2} This was RETRACTED in 2020. {PROSE * 9}", FAR),
        page(FAR, "These claims were RETRACTED:", *[f"- {PROSE}"] * 50, f"- {QUOTE}", FAR),
        page(
            FAR,
            "The draft was RETRACTED by parliament.",
            *[f"{n}. {PROSE}" for n in range(50)],
            f"50. {QUOTE}",
            FAR,
        ),
        page(FAR, f"{QUOTE}[3] {PROSE}", FAR, "[2] See above.", "[3] It was RETRACTED.", FAR),
        page(
            FAR,
            f"{QUOTE}[3] {PROSE}",
            FAR,
            "3. Wash them.",
            FAR,
            "2. See above.",
            "3. It was RETRACTED.",
            FAR,
        ),
        page(FAR, f"{QUOTE}* {PROSE}", FAR, "* RETRACTED in 2020.", FAR),
        page(FAR, "Points", "The RETRACTED draft has these points.", *[PROSE * 2] * 40, QUOTE, FAR),
        page(FAR, "> " + QUOTE, *["> " + PROSE * 3] * 3, "This was RETRACTED.", FAR),
    ],
)
def test_a_window_shows_what_may_decide(text: str) -> None:
    assert "RETRACTED" in window(text)


@pytest.mark.parametrize("rows", [3, 100, 2_000])
@pytest.mark.parametrize("words", ["CAPTION", "UNITS", "HEAD", "SECOND", "NOTES"])
def test_a_window_of_a_row_shows_what_belongs_to_its_table(words: str, rows: int) -> None:
    table = [f"Mine {n} | {n * 7} | {n}" for n in range(rows)]
    text = page(
        FAR, "Amounts in UNITS", "Table 2. CAPTION", " | HEAD | HEAD", "Name | SECOND | Share", *table,
        "North | 12 | 3", *table, "^a NOTES: without the old ones.", FAR,
    )  # fmt: skip
    assert words in window(text, "North | 12 | 3")


@pytest.mark.parametrize(
    "headers",
    [
        ["Town | Men | Men | Women", "Town | 2019 | LAST 2020 | 2019"],
        ["Town | Men | Men | Women", "Town | 0–14 | LAST 15–64 | 0–14"],
        ["Town | Men | Men", "Town | 15–64 | 65+", "Town | 2019 | LAST 2020"],
        ["Town | People", "Town | Men", "Town | 2019", "Town | LAST of 2020"],
    ],
)
def test_a_window_of_a_row_shows_headers_with_figures(headers: list[str]) -> None:
    rows = [f"Town{n} | {n * 31} | {n * 32} | {n * 33} | a remark that fills the row" * 2 for n in range(80)]
    text = page(FAR, "Table 3. People", *headers, *rows, FAR)
    words = window(text, "Town70 | 2170")
    assert "LAST" in words
    assert "Town3 |" not in words


@pytest.mark.parametrize("words", ["Projected", "Year", "Notes on both"])
def test_a_window_of_a_row_shows_the_heading_within_its_table(words: str) -> None:
    rows = [f"{n} | {n * 7}" for n in range(200)]
    text = page(
        FAR, "Year | Employed", *rows, "Projected", *rows, "2040 | 97,000", *rows, "Notes on both.", FAR
    )
    assert words in window(text, "2040 | 97,000")


def test_a_window_has_the_headings_above_a_quote_and_of_a_list_without_marks_its_head() -> None:
    text = page(
        FAR,
        "Myths",
        PROSE,
        "Older ones",
        "Of the north",
        PROSE * 20,
        "Towns",
        "Arden",
        "Borun",
        "Celm",
        PROSE,
        QUOTE,
        FAR,
    )
    words = window(text)
    for heading in ("Myths", "Older ones", "Of the north", "Towns"):
        assert heading in words


def test_a_window_cuts_what_is_furthest_from_a_long_quote() -> None:
    quote = "It was said in the north. " * 150
    text = page("RETRACTED", FAR, quote.strip(), "Not any more.", FAR)
    words = window(text, quote.strip())
    assert "RETRACTED" in words
    assert "Not any more." in words


def test_a_digest_is_of_words_and_not_of_places() -> None:
    text = page(FAR, "Mines", QUOTE, FAR)
    other = page("Another first line", FAR, "Mines", QUOTE, FAR)
    at, later = text.index(QUOTE), other.index(QUOTE)
    first = reading_window(text, at, at + len(QUOTE))
    second = reading_window(other, later, later + len(QUOTE))
    assert first.digest_of(text) == reading_window(text, at, at + len(QUOTE)).digest_of(text)
    assert first.digest_of(text) != second.digest_of(other)


@pytest.mark.parametrize("block", ["word " * 20, "a | b | 1", "x", "Short line"])
def test_a_window_of_a_long_page_is_a_matter_of_a_millisecond(block: str) -> None:
    text = page(*[block] * (500_000 // len(block)), QUOTE, *[block] * (500_000 // len(block)))
    start = text.index(QUOTE)
    begin = time.thread_time()
    for _ in range(10):
        reading_window(text, start, start + len(QUOTE))
    assert (time.thread_time() - begin) / 10 < 0.01
