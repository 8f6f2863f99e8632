"""In which order topics are taught: what others speak of comes before them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from chiron_workers.offline.researcher.words import terms

PREREQUISITES_MAX = 2  # of one topic
MENTIONS_MIN = 2  # fewer do in a short text
# How many terms a text that leans on another topic has to each mention, at most; half as many where the title is one word.
TERMS_A_MENTION = 120


@dataclass(frozen=True)
class Topic:
    """Something that can be taught: a title, the text on it, and the title of what it is a part of."""

    title: str
    text: str
    parent: str = ""

    @cached_property
    def key(self) -> frozenset[str]:
        """The stems of its title."""
        return frozenset(terms(self.title))

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each stem stands in its text."""
        return Counter(terms(self.text))

    @cached_property
    def length(self) -> int:
        """How many stems its text has."""
        return self.counts.total()

    def mentions(self, topic: "Topic") -> int:
        """How often it speaks of another topic: as often as of the rarest word of its title."""
        return min((self.counts[term] for term in topic.key), default=0)

    def leans_on(self, topic: "Topic") -> bool:
        """Whether it speaks of another topic, and more so for its length than that speaks of it."""
        here, there = self.mentions(topic), topic.mentions(self)
        terms_a_mention = TERMS_A_MENTION if len(topic.key) > 1 else TERMS_A_MENTION / 2
        is_often = here * terms_a_mention >= MENTIONS_MIN * self.length or (
            here >= MENTIONS_MIN and here * terms_a_mention >= self.length
        )
        return is_often and here * topic.length > there * self.length


def order(topics: Sequence[Topic]) -> list[Topic]:
    """What most others lean on comes first; the rest stays in its order."""
    weights = {
        topic.title: sum(reader.leans_on(topic) for reader in topics if reader is not topic)
        for topic in topics
    }
    return sorted(topics, key=lambda topic: -weights[topic.title])


def prerequisites(topics: Sequence[Topic]) -> Mapping[str, list[str]]:
    """For each title those of earlier topics that it leans on, most of all first; never a circle.

    What a topic is a part of is none, and neither is a part of it.
    """
    needs: dict[str, list[str]] = {}
    for place, topic in enumerate(topics):
        grounds = [
            ground
            for ground in topics[:place]
            if topic.leans_on(ground) and ground.title != topic.parent and ground.parent != topic.title
        ]
        grounds.sort(key=lambda ground: -topic.mentions(ground))
        needs[topic.title] = [ground.title for ground in grounds[:PREREQUISITES_MAX]]
    return needs
