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
        ("Results\n\n2020\n\n", "", "2020"),
        ("1. Introduction\n\n", "", "1. Introduction"),
        ("Page design today\n\n", "", "Page design today"),
        ("Civil\n\n", "", "Civil"),
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


@pytest.mark.parametrize(
    "mark",
    [
        "[Page 3]",
        "17",
        "- 17 -",
        "Page 3 of 12",
        "Seite 3 von 12",
        "p. 17",
        "iv",
        "[3]",
        "* * *",
        "3 / 12",
        "第 3 页",
    ],
)
def test_a_mark_of_a_page_or_a_running_number_is_no_context(mark: str) -> None:
    assert context(f"{mark}\n\n") == ""
    assert context(f"{mark}\n") == ""
    assert context(f"Effects of coffee\n\n{mark}\n\n") == "Effects of coffee"
    assert context(f"The following is false.\n{mark}\n") in {
        "The following is false.",
        f"The following is false. {mark}",  # which may cite
    }


def test_a_row_of_a_table_has_its_caption_and_the_names_of_its_columns() -> None:
    rows = "Tower | Height\n\nEiffel | 330\n\nTokyo | 332\n\n"
    text = f"Heights\n\nTable 1: tall towers\n\n{rows}After the table."
    for row in ("Eiffel | 330", "Tokyo | 332"):
        start = text.index(row)
        assert context_of(text, start, start + len(row)) == "Table 1: tall towers … Tower | Height"
    cell = text.index("332")
    assert context_of(text, cell, cell + 3) == "Table 1: tall towers … Tower | Height … Tokyo"
    head = text.index("Tower |")
    assert context_of(text, head, head + 14) == "Table 1: tall towers"
    after = text.index("After")
    assert context_of(text, after, len(text)) == ""


def test_a_table_on_lines_right_below_each_other_is_a_table_too() -> None:
    text = "The following figures are wrong:\n\nTower | Height\nEiffel | 331\nTokyo | 332"
    start = text.index("Tokyo")
    assert context_of(text, start, len(text)) == "The following figures are wrong: … Tower | Height"


def test_a_table_whose_first_row_is_far_above_gives_no_names_of_columns() -> None:
    text = "Towers\n\nTower | Height\n\n" + "Some tower | 330\n\n" * 2_000 + "Tokyo | 332"
    assert context_of(text, text.index("Tokyo"), len(text)) == ""


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("Common myths:\n- Sugar is a drug.\n- ", "Common myths:"),
        ("Effects\n\n1. Sugar is a drug\n2. Tea calms\n3. ", "Effects"),
        ("Effects\n\n• Sugar is a drug\n\n• ", "Effects"),
        ("Which of these are wrong?\n\n(a) Sugar is a drug\n\n(b) ", "Which of these are wrong?"),
    ],
)
def test_another_item_of_its_list_is_no_context(before: str, expected: str) -> None:
    text, mark_start = before + QUOTE, max(before.rfind(" ", 0, -1), before.rfind("\n")) + 1
    assert context_of(text, mark_start, len(text)) == expected


def test_a_bar_in_prose_makes_no_table() -> None:
    text = "The following is false. Then P(A | B) is P(B | A)."
    assert context_of(text, text.index("Then"), len(text)) == "The following is false."
