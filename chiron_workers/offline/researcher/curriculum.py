"""The map of a goal, from documents on it: a node for each document, below it one for each part that the goal speaks of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chiron_workers.offline.researcher.outline import sections
from chiron_workers.offline.researcher.teaching_order import Topic, order, prerequisites
from chiron_workers.offline.researcher.words import terms

CRITICAL_SHARE = 3  # one in so many nodes
PART_CHARS_MIN = 300  # of what can be taught by itself


@dataclass(frozen=True, slots=True)
class Size:
    """How many documents a map is made of, and how many parts of each."""

    documents: int
    parts: int


SIZES = {"overview": Size(7, 0), "practical": Size(6, 3), "expert": Size(8, 5)}


def size_of(depth: str) -> Size:
    """How large a map is; depths in other words count as `practical`."""
    words = depth.casefold().split()
    return next((size for name, size in SIZES.items() if name in words), SIZES["practical"])


def map_nodes(goal: str, top: str, documents: Mapping[str, str], size: Size) -> list[dict[str, Any]]:
    """The nodes below the one of the goal, in the order in which they are taught.

    Args:
        goal: What somebody wants to understand.
        top: The title of the goal's own node.
        documents: The text of each document by its title, the best first.
    """
    goal_terms = frozenset(terms(goal))
    titles = [title for title in documents if title.casefold() != top.casefold()][: size.documents]
    topics = list(_topics({title: documents[title] for title in titles}, goal_terms, size))
    needs = prerequisites(topics)
    points = {
        topic.title: _points(topic, goal_terms) + 1 / (2 + titles.index(topic.title))
        if topic.title in titles
        else _points(topic, goal_terms)
        for topic in topics
    }
    best = sorted(points, key=lambda title: -points[title])[: max(1, len(topics) // CRITICAL_SHARE)]
    return [
        {
            "title": topic.title,
            "description": f"Say what {topic.title} is about, and use it.",
            "parent": topic.parent or top,
            "prerequisites": needs[topic.title],
            "is_goal_critical": topic.title in best,
        }
        for topic in topics
    ]


def _topics(documents: Mapping[str, str], goal_terms: frozenset[str], size: Size) -> Iterator[Topic]:
    """Each document before its parts; one that another has as a part stands below that."""
    divisions = {
        title: [Topic(part.title, part.text, title) for part in sections(text)]
        for title, text in documents.items()
    }
    whole = [
        Topic(title, text, _whole_of(title, divisions) if size.parts else "")
        for title, text in documents.items()
    ]
    keys = {topic.key for topic in whole}
    for topic in order([document for document in whole if not document.parent]):
        yield topic
        yield from (document for document in whole if document.parent == topic.title)
        for part in _best_parts(divisions[topic.title], goal_terms, size.parts):
            if part.key not in keys:
                keys.add(part.key)
                yield part


def _whole_of(title: str, divisions: Mapping[str, Sequence[Topic]]) -> str:
    """The document that has this one as a part, where that is itself no part of another; empty where none has."""
    key = Topic(title, "").key
    wholes = [whole for whole, parts in divisions.items() if whole != title and key in {p.key for p in parts}]
    return next((whole for whole in wholes if not _is_part(whole, divisions)), "")


def _is_part(title: str, divisions: Mapping[str, Sequence[Topic]]) -> bool:
    key = Topic(title, "").key
    return any(whole != title and key in {part.key for part in parts} for whole, parts in divisions.items())


def _best_parts(parts: Sequence[Topic], goal_terms: frozenset[str], count: int) -> list[Topic]:
    """The parts that say most of the goal, in the document's order."""
    candidates = [
        part for part in parts if len(part.text) >= PART_CHARS_MIN and goal_terms & part.counts.keys()
    ]
    best = sorted(candidates, key=lambda part: -_points(part, goal_terms))[:count]
    return [part for part in candidates if part in best]


def _points(topic: Topic, goal_terms: frozenset[str]) -> float:
    """How much of the goal stands in a topic: in its title, and in its text for what that is worth."""
    share = len(goal_terms & topic.counts.keys()) / len(goal_terms) if goal_terms else 0.0
    return 2 * len(goal_terms & topic.key) + share
