"""Which sentences of a text can stand for themselves."""

import pytest

from chiron_workers.offline.researcher.bands import source_score
from chiron_workers.offline.researcher.properties import Purpose, fitted, purposes, subject
from chiron_workers.offline.researcher.sentences import sentences
from chiron_workers.offline.researcher.topic import topic


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


def test_scripts_without_spaces_are_split_too() -> None:
    assert len(texts("灯台の灯は夜に守り人がともす。朝には守り人が灯を消す。")) == 2


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("Research topic: Lamps: how they burn", "Lamps: how they burn"),
        ("Please research the history of lamps", "the history of lamps"),
        ("Some context first.\n\nYour question: Why oil?\n", "Why oil?"),
        ("Why oil?", "Why oil?"),
    ],
)
def test_the_topic_is_what_the_words_around_it_introduce(message: str, found: str) -> None:
    assert topic(message) == found


def test_the_subject_comes_from_the_line_that_names_it() -> None:
    prompt = "The realm_id is a slug.\nSubject: Old lamps (realm_id: old-lamps)\n"

    assert subject("realm_id", prompt, "x") == "old-lamps"
    assert subject("realm", prompt, "x") == "old-lamps"
    assert subject("realm", "Subject: Old lamps", "x") == "old-lamps"
    assert subject("realm", "", "Big Ships") == "big-ships"


def test_values_take_the_form_that_the_schema_asks_for() -> None:
    assert fitted(0.85, {"type": "integer", "maximum": 100}) == 85
    assert fitted(0.85, {"type": "number", "description": "From 0 to 10."}) == 8.5
    assert fitted(6, {"type": "integer", "maximum": 3}) == 3
    assert fitted("abc", {"type": "string", "maxLength": 2}) == "ab"
    assert fitted(["a", "b"], {"anyOf": [{"type": "string"}, {"type": "null"}]}) == "a; b"


def test_a_property_that_says_what_to_leave_out_is_left_alone() -> None:
    assert purposes({"min_confidence": {"type": "number", "description": "Least confidence."}}) == {}
    assert purposes({"confidence": {"type": "number"}}) == {Purpose.CONFIDENCE: "confidence"}


@pytest.mark.parametrize(
    ("url", "score"),
    [
        ("https://arxiv.org/abs/1", 0.95),
        ("https://www.uni.ac.uk/x", 0.95),
        ("https://docs.lamp.org/oil", 0.85),
        ("notes:lamp/oil", 0.85),
        ("https://blog.lamp.org/oil", 0.7),
        ("https://lamp.org/oil", 0.5),
        ("https://forum.lamp.org/oil", 0.3),
    ],
)
def test_an_address_tells_the_band_of_its_source(url: str, score: float) -> None:
    assert source_score(url) == score
