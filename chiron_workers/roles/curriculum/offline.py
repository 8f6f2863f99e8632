"""How the offline researcher plays the curriculum agent: what a search for the goal finds, and its headings, make the map."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chiron_workers.offline.api.reply import Reply, reply
from chiron_workers.offline.researcher.conversation import Leg
from chiron_workers.offline.researcher.curriculum import map_nodes, size_of
from chiron_workers.offline.researcher.outline import TITLE_CHARS_MAX, is_telling, page_title
from chiron_workers.offline.researcher.researcher import Turn
from chiron_workers.offline.researcher.topic import queries, subject_id

TREE, SEARCH, FETCH, SAVE = "get_knowledge_tree", "web_search", "web_fetch", "save_curriculum"
RESULTS_MAX = 12
PARTS_MAX = 2  # that are read of a long document
TRIES_MAX = 2
WHAT_IT_IS = (
    "This map was arranged by Chiron's offline researcher, a program without a language model: its nodes are the titles and "
    "headings of what a search for the goal finds, and what others speak of comes first. It has {nodes} nodes, {critical} of "
    "them goal-critical."
)
NO_MAP = "The map could not be saved: {problem}"
_GOAL = re.compile(r"^Learning goal: (.+)", re.MULTILINE | re.DOTALL)
_DEPTH = re.compile(r"^Depth: (.+)$", re.MULTILINE)

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Outline:
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
    def depth(self) -> str:
        """How deeply it is learnt; empty where nobody says."""
        match = _DEPTH.search(self.leg.questions[0])
        return match[1] if match else ""

    @cached_property
    def subject_id(self) -> str:
        """The subject whose map it is."""
        return subject_id(self.system, self.goal)

    @cached_property
    def titles_there(self) -> list[str]:
        """The titles of the map as it is, each node before those below it."""
        trees = [call.result for call in self.leg.calls_of(TREE) if isinstance(call.result, dict)]
        return [node["title"] for tree in trees for node in _flat(tree.get("nodes", []))]

    @cached_property
    def addresses(self) -> dict[str, str]:
        """What the searches found: addresses by title, the best first."""
        addresses: dict[str, str] = {}
        for call in self.leg.calls_of(SEARCH):
            sources = call.result if isinstance(call.result, list) else []
            for source in sources if not call.is_failed else []:
                title = page_title(str(source.get("title") or ""))
                if is_telling(title):
                    addresses.setdefault(title, str(source.get("url") or ""))
        return dict(list(addresses.items())[: size_of(self.depth).documents])

    def searches(self) -> list[tuple[str, Arguments]]:
        """Searches still to be made."""
        past = {call.arguments.get("query") for call in self.leg.calls_of(SEARCH)}
        common = {"subject_id": self.subject_id, "max_results": RESULTS_MAX}
        return [(SEARCH, {"query": query, **common}) for query in queries(self.goal) if query not in past]

    def fetches(self) -> list[tuple[str, Arguments]]:
        """Documents still to be read, the first parts of a long one."""
        return [call for url in self.addresses.values() if (call := self._next_part(url))]

    def _next_part(self, url: str) -> tuple[str, Arguments] | None:
        pages = [call for call in self.leg.calls_of(FETCH) if call.arguments.get("url") == url]
        if not pages:
            return FETCH, {"url": url}
        page = pages[-1].result
        offset = page.get("next_offset") if isinstance(page, dict) else None
        return (FETCH, {"url": url, "offset": offset}) if offset and len(pages) < PARTS_MAX else None

    def nodes(self, *, with_prerequisites: bool) -> list[Arguments]:
        """The map: the goal on top, reached by way of what is critical, and below it what the documents speak of."""
        top = self.titles_there[0] if self.titles_there else self.goal[:TITLE_CHARS_MAX]
        documents = {title: self._text_of(url) for title, url in self.addresses.items()}
        nodes = map_nodes(self.goal, top, documents, size_of(self.depth))
        if not with_prerequisites:
            nodes = [node | {"prerequisites": []} for node in nodes]
        critical = [node["title"] for node in nodes if node["is_goal_critical"]]
        goal_node = {
            "title": top,
            "description": f"Reach the goal: {self.goal}",
            "prerequisites": critical if with_prerequisites else [],
            "is_goal_critical": True,
        }
        return [goal_node, *nodes]

    def _text_of(self, url: str) -> str:
        pages = [call.result for call in self.leg.calls_of(FETCH) if call.arguments.get("url") == url]
        return "\n\n".join(str(page.get("text") or "") for page in pages if isinstance(page, dict))


def play(turn: Turn) -> Reply:
    """Whichever step the conversation has not had yet: read map and documents, save the map, say what it is."""
    outline = Outline(turn.conversation.system, turn.conversation.legs[-1])
    if TREE in turn.tools and not outline.leg.calls_of(TREE):
        call = (TREE, {"subject_id": outline.subject_id})
        return reply(turn.key, turn.number, "Reading the map.", [call])
    if SEARCH in turn.tools and (searches := outline.searches()[: turn.calls_max]):
        return reply(turn.key, turn.number, "Looking for how the field is divided.", searches)
    if FETCH in turn.tools and (fetches := outline.fetches()[: turn.calls_max]):
        return reply(turn.key, turn.number, "Reading how its documents are divided.", fetches)
    calls = outline.leg.calls_of(SAVE)
    if SAVE in turn.tools and len(calls) < TRIES_MAX and all(call.is_failed for call in calls):
        # A map that is there may order things otherwise; then its order holds.
        nodes = outline.nodes(with_prerequisites=not calls)
        arguments = {"subject_id": outline.subject_id, "nodes": nodes}
        return reply(turn.key, turn.number, "Saving the map.", [(SAVE, arguments)])
    return reply(turn.key, turn.number, _words(outline))


def _words(outline: Outline) -> str:
    calls = outline.leg.calls_of(SAVE)
    if not calls or not isinstance(calls[-1].result, dict):
        return NO_MAP.format(problem=calls[-1].text if calls else "the tool is not offered.")
    counts = calls[-1].result
    return WHAT_IT_IS.format(nodes=counts.get("nodes"), critical=counts.get("goal_critical"))


def _flat(nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for node in nodes:
        yield node
        yield from _flat(node.get("children", []))
