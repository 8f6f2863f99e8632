"""What a message asks about, and on which subject."""

import pytest

from chiron_workers.offline.researcher.topic import subject_id, topic


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Research topic: Lamps: how they burn", "Lamps: how they burn"),
        ("Please research the history of lamps", "the history of lamps"),
        ("Some context first.\n\nYour question: Why oil?\n", "Why oil?"),
        ("Why oil?", "Why oil?"),
    ],
)
def test_the_topic_is_what_the_words_around_it_introduce(message: str, expected: str) -> None:
    assert topic(message) == expected


def test_the_subject_is_the_id_that_the_conversation_gives() -> None:
    prompt = "Name it by its subject_id.\nSubject: Old lamps (subject_id: old-lamps)\n"

    assert subject_id(prompt, "x") == "old-lamps"
    assert subject_id('{"subject_id": "old-lamps"}', "x") == "old-lamps"
    assert subject_id("", "Big Ships") == "big-ships"
