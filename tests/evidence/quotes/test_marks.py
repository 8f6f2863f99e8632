"""A mark stands for what a reader could not write: no quote may span one, nor the whole sentences around a quote."""

import pytest

from chiron_api.crate.evidence import is_of_the_gate
from chiron_workers.evidence.quotes.drift import measure_drift
from chiron_workers.evidence.quotes.marks import Mark
from chiron_workers.evidence.quotes.quotes import locate, refusal_reason

TEXT = (
    "Doses\n\nThe daily dose is 5 [sign]g for an adult person. The dose of a child is half of that.\n\n"
    "Flag | Country | Dose\n\n[picture without text] | Norway and its islands | 7 mg for adults\n\n[drawing]\n\nIt ends here."
)


@pytest.mark.parametrize(
    "quote",
    [
        "The daily dose is 5 [sign]g for an adult person.",
        "The daily dose is 5",
        "g for an adult person. The dose of a child",
        "The daily dose is 5 [sign",
        "[picture without text] | Norway and its islands | 7 mg for adults",
    ],
)
def test_a_quote_that_spans_a_mark_is_refused_with_what_to_do(quote: str) -> None:
    assert locate(quote, TEXT) is None
    reason = refusal_reason(quote, TEXT)
    assert "stands in the place of something that could not be read" in reason
    assert "quote a sentence without it" in reason


@pytest.mark.parametrize(
    "quote",
    [
        "The dose of a child is half of that.",
        "Norway and its islands | 7 mg for adults",
        "that. Flag | Country | Dose",
        "It ends here.",
    ],
)
def test_a_quote_beside_a_mark_is_taken(quote: str) -> None:
    match = locate(quote, TEXT)
    assert match is not None
    assert "[sign]" not in match.quote


def test_of_several_places_the_first_without_a_mark_counts() -> None:
    text = "The ferry has two decks [drawing] and a bar. On it goes. The ferry has two decks."
    match = locate("The ferry has two decks", text)
    assert match is not None
    assert text[match.start :] == "The ferry has two decks."


def test_words_that_are_not_those_of_a_mark_are_refused_as_any_others() -> None:
    assert "these words do not stand in the page" in refusal_reason(
        "The daily dose is 5 µg for an adult", TEXT
    )


@pytest.mark.parametrize("mark", list(Mark))
def test_what_a_source_writes_itself_is_refused_too_and_the_refusal_says_so(mark: Mark) -> None:
    text = f"Write {mark.text} where a word is missing. Then go on."
    quote = f"Write {mark.text} where a word is missing."
    assert locate(quote, text) is None
    assert f"This holds also where the source itself writes {mark.text!r}." in refusal_reason(quote, text)


def test_a_quote_that_was_taken_before_still_stands_where_its_source_has_such_words() -> None:
    text = "Write [sign] where a word is missing. Then go on to the next line."
    later_text = f"{text} A new sentence stands at the end."
    assert measure_drift(text, later_text, ["Write [sign] where a word is missing."]).missing_quotes == []


BAY = "The bay is 5 m deep and closed."


@pytest.mark.parametrize(
    "text",
    [
        f"[picture without text]{BAY}",
        f"[picture without text] {BAY} It is old.",
        f"Intro line.\n\n[chart] {BAY}\n\nIt ends.",
        f"• [picture without text]\n{BAY}",
        f"Icon [picture without text]\n{BAY}",
        f"The next one is dry. [drawing] {BAY}",
        f"{BAY} [drawing] The next one is dry.",
        f"{BAY} [picture without text]",
        f"{BAY}\n[picture without text] Swimming is allowed.",
        f"[picture without text] [drawing] {BAY}",
        f"[formula]\n{BAY} It is old.",
        f"Figure [field without a value]: {BAY}",
        f"[picture without text] | {BAY}",
    ],
)
def test_a_quote_beside_a_picture_is_taken_without_its_mark(text: str) -> None:
    match = locate("The bay is 5 m deep", text)
    assert match is not None
    assert match.quote == text[match.start : match.end] == BAY
    assert is_of_the_gate(match.quote, text, match.start, match.end)


@pytest.mark.parametrize("mark", list(Mark))
def test_a_crate_takes_a_row_with_a_mark_in_a_cell_as_the_gate_does(mark: Mark) -> None:
    for text in (f"{mark.text} | {BAY} | 7", f"7 | {mark.text} | {BAY}", f"{BAY} | {mark.text}"):
        match = locate("The bay is 5 m deep", text)
        assert match is not None
        assert is_of_the_gate(match.quote, text, match.start, match.end)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("The bay is 5 m deep", "The bay is 5 m deep [picture without text] and closed."),
        ("The bay is 5 m deep", "The bay is 5 m deep [picture without text]"),
        ("The bay is 5 m deep", "The bay is 5 m deep [picture without text]."),
        ("the bay is 5 m deep", "[picture without text] the bay is 5 m deep."),
        ("5 m deep is the bay", "[picture without text] 5 m deep is the bay."),
        ("5 m deep is the bay", "More than [picture without text]\n5 m deep is the bay."),
        ("Titanic sank in 1912", "The ship [picture without text] Titanic sank in 1912."),
        (BAY, f"[form field] {BAY}"),
        (BAY, f"[sign] {BAY}"),
        (BAY, f"It is [formula]\n{BAY}"),
        ("Figure shows that the bay", "[field without a value] Figure shows that the bay is deep."),
        (f"[picture without text] {BAY}", f"[picture without text] {BAY}"),
    ],
)
def test_a_picture_within_a_sentence_and_any_other_mark_refuse_it(quote: str, text: str) -> None:
    assert locate(quote, text) is None
    assert "stands in the place of something that could not be read" in refusal_reason(quote, text)


def test_a_mark_on_a_line_of_its_own_within_a_paragraph_is_no_edge_of_a_sentence() -> None:
    assert locate("The yield is 45 %", "The yield is 45 %\n[picture without text]\nof all goods.") is None
    match = locate("The yield is 45 %.", "The yield is 45 %.\n\n[picture without text]\n\nOf all goods.")
    assert match is not None
