"""Sentences whose first words refer to something outside of them, which the rules doubt."""

import pytest

from chiron_workers.evidence.standing_alone import open_reference


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("It does not.", "It"),
        ("It is large.", "It"),
        ("“They were moved to the hill.”", "They"),
        ("These are used in spring.", "These"),
        ("This holds for all of them.", "This"),
        ("The former is cheaper.", "The former"),
        ("That was in 1998.", "That"),
        ("Its height is 84 metres.", "Its"),
        ("Yes, since 2010.", "Yes"),
        ("Both are free.", "Both"),
        ("Neither has a licence.", "Neither"),
    ],
)
def test_a_sentence_that_refers_to_another_is_doubted(sentence: str, word: str) -> None:
    assert open_reference(sentence) == word


@pytest.mark.parametrize(
    "sentence",
    [
        "It takes light 8 minutes to reach the Earth.",
        "It is known that ice floats.",
        "It was Ada Pell who founded the choir.",
        "It rains in Brannoc on 200 days of the year.",
        "These days Tarvin has no inhabitants.",
        "Such as they are, the rules hold.",
        "That the Earth is round was known in antiquity.",
        "Both Norway and Sweden have kings.",
        "Neither Norway nor Sweden is a republic.",
        "Italy has 20 regions.",
        "SQLite needs no server.",
        "",
    ],
)
def test_a_sentence_that_names_what_it_speaks_of_is_not(sentence: str) -> None:
    assert open_reference(sentence) == ""
