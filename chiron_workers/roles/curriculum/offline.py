"""How the offline researcher plays the curriculum agent: the titles of what a search for the goal finds make the map."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chiron_workers.offline.api.reply import Reply, reply
from chiron_workers.offline.researcher.conversation import Leg
from chiron_workers.offline.researcher.researcher import Turn
from chiron_workers.offline.researcher.topic import queries, subject_id
from chiron_workers.offline.researcher.words import terms

TREE, SEARCH, SAVE = "get_knowledge_tree", "web_search", "save_curriculum"
NODES_MAX = 10
CRITICAL_MAX = 3
RESULTS_MAX = 12
TRIES_MAX = 2
TITLE_CHARS = 120
WHAT_IT_IS = (
    "This map was arranged by Chiron's offline researcher, a program without a language model: its nodes are the titles of "
    "sources that a search for the goal finds. It has {nodes} nodes, {critical} of them goal-critical."
)
NO_MAP = "The map could not be saved: {problem}"
_GOAL = re.compile(r"^Learning goal: (.+)", re.MULTILINE | re.DOTALL)
# What stands before or after the title of a chapter in the title of its page.
_NUMBER = re.compile(r"^\s*(?:chapter\s+)?\d+(?:\.\d+)*[.:)]?\s+", re.IGNORECASE)
_SITE = re.compile(r"\s+(?:[|·•]|[-–—]{1,3})\s+\S.*$")
_SIGNS = re.compile(r"[¶#]+\s*$")


@dataclass(frozen=True)
class Drawing:
    """How far the map is, read from the calls that were made for it."""

    system: str
    leg: Leg

    @cached_property
    def goal(self) -> str:
        """The learning goal on one line."""
        question = self.leg.questions[0]
        match = _GOAL.search(question)
        return " ".join((match[1] if match else question).split())

    @cached_property
    def subject_id(self) -> str:
        """The subject whose map it is."""
        return subject_id(self.system, self.goal)

    @cached_property
    def titles_there(self) -> list[str]:
        """The titles of the map as it is, each node before those below it."""
        trees = [call.result for call in self.leg.calls_of(TREE) if isinstance(call.result, dict)]
        return [node["title"] for tree in trees for node in _flat(tree.get("nodes", []))]

    def searches(self) -> list[tuple[str, dict[str, Any]]]:
        """Searches still to be made."""
        past = {call.arguments.get("query") for call in self.leg.calls_of(SEARCH)}
        common = {"subject_id": self.subject_id, "max_results": RESULTS_MAX}
        return [(SEARCH, {"query": query, **common}) for query in queries(self.goal) if query not in past]

    @cached_property
    def chapters(self) -> dict[str, str]:
        """What the searches found: snippets by title, the best first."""
        chapters: dict[str, str] = {}
        for call in self.leg.calls_of(SEARCH):
            sources = call.result if isinstance(call.result, list) else []
            for source in sources if not call.is_failed else []:
                if title := _chapter(str(source.get("title") or "")):
                    chapters.setdefault(title, str(source.get("snippet") or ""))
        return dict(list(chapters.items())[:NODES_MAX])

    def nodes(self) -> list[dict[str, Any]]:
        """The map: the goal on top, below it a node for each chapter, each after what it speaks of."""
        top = self.titles_there[0] if self.titles_there else self.goal[:TITLE_CHARS]
        nodes: list[dict[str, Any]] = [
            {
                "title": top,
                "description": f"Reach the goal: {self.goal}"[: TITLE_CHARS * 10],
                "is_goal_critical": True,
            }
        ]
        before: list[str] = []
        for n, (title, snippet) in enumerate(self.chapters.items()):
            if title.casefold() == top.casefold():
                continue
            words = {*terms(snippet)}
            nodes.append(
                {
                    "title": title,
                    "description": f"Say what {title} is about, and use it.",
                    "parent": top,
                    "prerequisites": [earlier for earlier in before if {*terms(earlier)} <= words][:2],
                    "is_goal_critical": n < CRITICAL_MAX,
                }
            )
            before.append(title)
        return nodes


def play(turn: Turn) -> Reply:
    """Whichever step the conversation has not had yet: read the map, search, save the map, say what it is."""
    outline = Drawing(turn.conversation.system, turn.conversation.legs[-1])
    if TREE in turn.tools and not outline.leg.calls_of(TREE):
        call = (TREE, {"subject_id": outline.subject_id})
        return reply(turn.key, turn.number, "Reading the map.", [call])
    if SEARCH in turn.tools and (searches := outline.searches()[: turn.calls_max]):
        return reply(turn.key, turn.number, "Looking for how the field is divided.", searches)
    calls = outline.leg.calls_of(SAVE)
    if SAVE in turn.tools and len(calls) < TRIES_MAX and all(call.is_failed for call in calls):
        arguments = {"subject_id": outline.subject_id, "nodes": outline.nodes()}
        return reply(turn.key, turn.number, "Saving the map.", [(SAVE, arguments)])
    return reply(turn.key, turn.number, _words(outline))


def _words(outline: Drawing) -> str:
    calls = outline.leg.calls_of(SAVE)
    if not calls or not isinstance(calls[-1].result, dict):
        return NO_MAP.format(problem=calls[-1].text if calls else "the tool is not offered.")
    counts = calls[-1].result
    return WHAT_IT_IS.format(nodes=counts.get("nodes"), critical=counts.get("goal_critical"))


def _chapter(title: str) -> str:
    """The title of a chapter without its number and the name of its book."""
    return _SIGNS.sub("", _SITE.sub("", _NUMBER.sub("", " ".join(title.split())))).strip()[:TITLE_CHARS]


def _flat(nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for node in nodes:
        yield node
        yield from _flat(node.get("children", []))
