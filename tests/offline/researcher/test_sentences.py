"""Which sentences of a text can stand for themselves."""

import pytest

from chiron_workers.offline.researcher.sentences import sentences


def texts(document: str) -> list[str]:
    return [sentence.text for sentence in sentences(document)]


def test_abbreviations_and_initials_end_no_sentence() -> None:
    text = "The lamp was built by Dr. A. B. Stone, e.g. for ships. It burnt oil at No. 9 Quay for many years."

    assert texts(text) == [
        "The lamp was built by Dr. A. B. Stone, e.g. for ships.",
        "It burnt oil at No. 9 Quay for many years.",
    ]


def test_a_quote_keeps_its_line_breaks_and_the_text_does_not() -> None:
    document = "Intro\n=====\n\nThe lamp of the *old* tower\n   burns whale oil in winter.\n"
    (sentence,) = sentences(document)

    assert sentence.quote in document
    assert sentence.text == "The lamp of the *old* tower burns whale oil in winter."
    assert sentence.heading == "Intro"


@pytest.mark.parametrize(
    "document",
    [
        "```\nThe lamp is a variable here and nothing else at all.\n```",
        "Use it so::\n\n   The lamp is a variable here and nothing else at all.",
        ".. code-block:: text\n\n   The lamp is a variable here and nothing else at all.",
        ">>> lamp = Lamp()\n>>> The lamp is a variable here and nothing else.",
        "| The lamp | is | in a table cell here. |\n| The lamp | is | in a table cell here. |",
        "# The lamp of the old tower is a heading.",
        "The lamp of the old tower is a heading.\n=======================================",
        '   lamp_stmt ::= "lamp" [oil] ":" tower',
        "This page about the lamp uses cookies to serve you better.",
        "---\ntitle: The lamp of the old tower burns oil.\n---",
        "and so it goes on from a sentence that was cut.",
        "The lamp burns.",
    ],
)
def test_what_is_no_prose_gives_no_sentence(document: str) -> None:
    assert texts(document) == []


def test_list_items_are_read_one_by_one() -> None:
    text = "1. The lamp is lit by the keeper at dusk.\n2. The lamp is put out by the keeper at dawn."

    assert texts(text) == [
        "The lamp is lit by the keeper at dusk.",
        "The lamp is put out by the keeper at dawn.",
    ]


def test_marks_of_notes_are_no_part_of_a_statement_and_stay_in_its_quote() -> None:
    document = (
        "The lamp burns oil of whales.[^1] It is lit at dusk by the keeper.[2][3] "
        "It costs the village [12, 15] coins and 5[7] nails in each year.\n"
        "The keeper gets it from the village [1]_ in each winter.\n\n"
        "[^1]: The oil is sold in the village below.\n\n[2] The keeper lives in the tower with others."
    )

    assert texts(document) == [
        "The lamp burns oil of whales.",
        "It is lit at dusk by the keeper.",
        "It costs the village [12, 15] coins and 5[7] nails in each year.",
        "The keeper gets it from the village in each winter.",
        "The oil is sold in the village below.",
        "The keeper lives in the tower with others.",
    ]
    assert all(sentence.quote in document for sentence in sentences(document))


def test_scripts_without_spaces_are_split_too() -> None:
    assert len(texts("灯台の灯は夜に守り人がともす。朝には守り人が灯を消す。")) == 2
