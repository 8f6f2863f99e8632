import pytest

from chiron_workers.evidence.quotes.context import context_of, may_turn

QUOTE = "Coffee stunts the growth of children."


def context(before: str = "", after: str = "") -> str:
    return context_of(before + QUOTE + after, len(before), len(before) + len(QUOTE))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", ""),
        ("The following statements are false. ", "", "The following statements are false."),
        (
            "The following statements are false:\n\nSugar is a drug.\n\n",
            "",
            "The following statements are false:",
        ),
        ("Common myths\n\nSugar is a drug.\n\n", "", "Common myths"),
        ("Effects of coffee\n\n", "", "Effects of coffee"),
        ("", " Wrong! It does not.", "Wrong!"),
        ("Parents often say this: ", " That is not true.", "Parents often say this: … That is not true."),
        ("", " It also keeps them awake.", ""),
        ("Ein Irrtum, der sich hält:\n\n", "", "Ein Irrtum, der sich hält:"),
    ],
)
def test_a_quote_keeps_what_may_change_its_meaning(before: str, after: str, expected: str) -> None:
    assert context(before, after) == expected


def test_a_paragraph_of_prose_above_is_no_context() -> None:
    assert context("It was long believed that children grow in spring. " * 6 + "\n\n") == ""


def test_the_head_of_a_list_and_the_heading_of_an_item_both_stay() -> None:
    assert (
        context("Which of these are wrong?\n\nSugar is a drug.\n\nCoffee\n\n")
        == "Which of these are wrong? … Coffee"
    )


def test_a_page_without_stops_is_looked_through_in_bounds() -> None:
    assert len(context("word " * 200_000, " word" * 200_000)) <= 400


@pytest.mark.parametrize(
    "words", ["Wrong!", "Five common myths", "Falsch ist:", "以下说法是错误的", "Это неправда."]
)
def test_words_that_take_a_statement_back_are_known(words: str) -> None:
    assert may_turn(words)


@pytest.mark.parametrize("words", ["Effects of coffee", "The study shows:", ""])
def test_plain_headings_take_nothing_back(words: str) -> None:
    assert not may_turn(words)
