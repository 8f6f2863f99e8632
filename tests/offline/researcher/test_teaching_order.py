"""What others speak of is taught before them."""

import random

from chiron_workers.offline.researcher.teaching_order import Topic, order, prerequisites

SCOPE = Topic("Scopes", "A scope is a region of text. Names in a scope are looked up where the scope begins.")
NAMES = Topic(
    "Names", "A name is looked up in scopes, the innermost scope first. Other scopes follow that scope."
)
CLASSES = Topic("Classes", "A class body has a scope of its own: scopes of functions do not see that scope.")


def test_what_is_spoken_of_comes_first_and_is_what_must_be_known() -> None:
    assert [topic.title for topic in order([CLASSES, NAMES, SCOPE])] == ["Scopes", "Classes", "Names"]
    assert prerequisites([SCOPE, CLASSES, NAMES]) == {
        "Scopes": [],
        "Classes": ["Scopes"],
        "Names": ["Scopes"],
    }


def test_a_part_needs_neither_its_whole_nor_the_whole_its_parts() -> None:
    whole = Topic("Scopes", f"{SCOPE.text} {NAMES.text}")
    part = Topic("Names", NAMES.text, parent="Scopes")
    assert prerequisites([whole, part]) == {"Scopes": [], "Names": []}


def test_a_word_in_passing_makes_no_prerequisite() -> None:
    long = Topic(
        "Strings", "A string has characters that are counted from its end. " * 200 + "A scope, a scope."
    )
    assert prerequisites([SCOPE, long]) == {"Scopes": [], "Strings": []}


def test_over_random_texts_each_topic_needs_only_earlier_ones(chance: random.Random) -> None:
    words = [f"moss{letter}" for letter in "abcdefgh"]
    for _ in range(50):
        topics = [Topic(word, " ".join(chance.choices(words, k=chance.randint(1, 60)))) for word in words]
        arranged = order(topics)
        assert sorted(topic.title for topic in arranged) == words
        needs = prerequisites(arranged)
        places = {topic.title: place for place, topic in enumerate(arranged)}
        assert all(places[other] < places[title] for title, others in needs.items() for other in others)
