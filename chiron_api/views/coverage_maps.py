"""A coverage map as text: a tree for the terminal, a Mermaid flowchart for a document, JSON for a program."""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from chiron_api.text import as_json, one_line
from chiron_workers.knowledge.coverage.nodes import Branch, Nodes, flatten
from chiron_workers.knowledge.coverage.topic_titles import count_facts_by_path, load_titles
from chiron_workers.learning.needs import load_exhausted
from chiron_workers.runs.session import Session
from chiron_workers.states import SHOWN_STATUSES


class MapFormat(StrEnum):
    """As what a coverage map is written out."""

    MERMAID = "mermaid"
    TREE = "tree"
    JSON = "json"


MEDIA_TYPES = {
    MapFormat.MERMAID: "text/vnd.mermaid; charset=utf-8",
    MapFormat.TREE: "text/plain; charset=utf-8",
    MapFormat.JSON: "application/json",
}


@dataclass(frozen=True, slots=True)
class CountedMap:
    """The nodes of a subject with everything below them, how many facts belong to each, by id, and which are exhausted."""

    subject_id: str
    tops: Sequence[Branch]
    facts: Mapping[str, int]
    exhausted_ids: Collection[str]
    is_cut: bool


async def load_map(session: Session, subject_id: str) -> CountedMap:
    """The coverage map of a subject."""
    tops, is_cut = await Nodes(session).tree(subject_id)
    titles = await load_titles(session, subject_id)
    counts = await count_facts_by_path(session, subject_id, SHOWN_STATUSES)
    facts, _ = await asyncio.to_thread(titles.count_facts, counts)
    exhausted_ids = sorted(await load_exhausted(session, [branch["node_id"] for branch in flatten(tops)]))
    return CountedMap(subject_id, tops, facts, exhausted_ids, is_cut)


def render(coverage: CountedMap, format: MapFormat) -> str:
    """A map in a format, with the end of its last line."""
    match format:
        case MapFormat.JSON:
            lines = [as_json(coverage)]
        case MapFormat.TREE:
            lines = list(tree_lines(coverage))
        case MapFormat.MERMAID:
            lines = list(mermaid_lines(coverage))
    return "".join(f"{line}\n" for line in lines)


def tree_lines(coverage: CountedMap) -> Iterator[str]:
    """A line for each node: `*` marks what the goal needs, and behind it stand its facts and what must be known first."""
    titles = {branch["node_id"]: one_line(branch["title"]) for branch in flatten(coverage.tops)}
    for top in coverage.tops:
        yield _label(top, coverage, titles)
        yield from _lines_below(top, coverage, titles, indent="")


def mermaid_lines(coverage: CountedMap) -> Iterator[str]:
    """A flowchart: thick arrows lead from a prerequisite to what needs it, thin lines to what stands below."""
    yield "flowchart TD"
    branches = list(flatten(coverage.tops))
    names = {branch["node_id"]: f"n{n}" for n, branch in enumerate(branches, start=1)}
    for branch in branches:
        facts = coverage.facts.get(branch["node_id"], 0)
        label = f"{_mermaid_text(branch['title'])}<br/>{_facts(facts)}"
        shape = ('(["', '"])') if branch["is_goal_critical"] else ('["', '"]')
        yield f"  {names[branch['node_id']]}{shape[0]}{label}{shape[1]}"
        if branch["node_id"] in coverage.exhausted_ids:
            yield f"  style {names[branch['node_id']]} stroke-dasharray: 5 5"
    for branch in branches:
        name = names[branch["node_id"]]
        if parent := names.get(branch["parent_id"] or ""):
            yield f"  {parent} --- {name}"
        for prerequisite in branch["prerequisites"]:
            if prerequisite in names:
                yield f"  {names[prerequisite]} ==> {name}"


def _lines_below(
    branch: Branch, coverage: CountedMap, titles: Mapping[str, str], *, indent: str
) -> Iterator[str]:
    for n, child in enumerate(branch["children"], start=1):
        is_last = n == len(branch["children"])
        yield f"{indent}{'└── ' if is_last else '├── '}{_label(child, coverage, titles)}"
        yield from _lines_below(child, coverage, titles, indent=indent + ("    " if is_last else "│   "))


def _label(branch: Branch, coverage: CountedMap, titles: Mapping[str, str]) -> str:
    mark = " *" if branch["is_goal_critical"] else ""
    needs = [titles[node_id] for node_id in branch["prerequisites"] if node_id in titles]
    after = f", after {' and '.join(needs)}" if needs else ""
    end = ", exhausted" if branch["node_id"] in coverage.exhausted_ids else ""
    return (
        f"{titles[branch['node_id']]}{mark}  ({_facts(coverage.facts.get(branch['node_id'], 0))}{end}{after})"
    )


def _facts(count: int) -> str:
    return f"{count:,} fact{'' if count == 1 else 's'}" if count else "no facts"


def _mermaid_text(text: str) -> str:
    """Text that ends no label and is no markup: Mermaid has numbers for signs."""
    return "".join(
        sign if sign.isalnum() or sign in " .,:;-_/()" else f"#{ord(sign)};" for sign in one_line(text)
    )
