import pytest

from chiron_workers.evidence.quotes.leading_marks import begins_item, without_leading_marks

WORDS = "Water boils at 100 °C."


@pytest.mark.parametrize(
    "mark",
    [
        *("4. ", "12. ", "4.2. ", "4) ", "(4) ", "a) ", "(iv) ", "• ", "- ", "– ", "* ", "· "),
        *("[1] ", "[1]", "¹ ", "¹² ", "* ", "†", "‡ ", "• [1] ", "- (a) "),
    ],
)
def test_a_mark_before_a_sentence_is_none_of_its_words(mark: str) -> None:
    assert without_leading_marks(mark + WORDS) == WORDS


@pytest.mark.parametrize(
    "sentence",
    [
        "4. 5 km is the length.",
        "4.5 km is the length.",
        "4 Water bottles were sold.",
        "1984. was a year.",
        "1984. The year began on a Sunday.",
        "- 5 °C was measured.",
        "– $5 million was lost.",
        "- x is positive.",
        "¹⁴C is radioactive.",
        "¹⁴ C is radioactive.",
        "[12] million people live there.",
        "(5) people were hurt.",
        "1. FC Köln plays in Cologne.",
        "2. Bundesliga is the second tier.",
        "7. was the last.",
        "† 1832 in Weimar.",
        "A. Hall discovered two moons.",
        "Nr. 4. Wasser",
        "",
    ],
)
def test_a_number_that_belongs_to_a_sentence_stays(sentence: str) -> None:
    assert without_leading_marks(sentence) == sentence


@pytest.mark.parametrize(
    "sentence",
    [
        "4. Dezember 1999 war ein kalter Monat.",
        "2. Staffel lief im Herbst an.",
        "3. Symfonie byla napsána v Praze.",
        "2. sæson blev vist om efteråret.",
    ],
)
def test_a_number_with_a_stop_may_be_an_ordinal_in_other_languages(sentence: str) -> None:
    assert without_leading_marks(sentence) == sentence


@pytest.mark.parametrize("mark", ["• ", "- ", "[1] ", "4) ", "¹ "])
def test_marks_that_are_no_ordinals_go_in_every_language(mark: str) -> None:
    words = "Wasser siedet bei 100 °C."
    assert without_leading_marks(mark + words) == words
    assert without_leading_marks("4、水在100°C沸腾。") == "水在100°C沸腾。"


@pytest.mark.parametrize("line", ["4. Water", "- Water", "• Water", "(a) Water", "4、水"])
def test_an_item_of_a_list_is_known_by_its_mark(line: str) -> None:
    assert begins_item(line)
    assert not begins_item("Water")
