"""A curriculum is one map, saved at once: without circles, connected to what the goal needs, and the same when saved again."""

import random
from dataclasses import replace
from typing import Any

import pytest

from chiron_workers.db.connect import Pool
from chiron_workers.errors import ToolValidationError
from chiron_workers.knowledge.coverage.curricula import Curricula, Entry, SavedCurriculum
from chiron_workers.knowledge.coverage.nodes import Branch, Nodes, draft
from chiron_workers.knowledge.coverage.prerequisites import find_cycle
from chiron_workers.runs.session import Session

MAPS = 60
MOON = (
    Entry("Moon", "All of it.", is_goal_critical=True),
    Entry("Orbit", "Its path.", parent="Moon"),
    Entry("Phases", "Why it waxes.", parent="Moon", prerequisites=("Orbit",)),
)


async def save(pool: Pool, *entries: Entry, subject_id: str = "moon") -> SavedCurriculum:
    async with Session(pool) as session:
        return await Curricula(session).save(subject_id, entries)


async def nodes_of(pool: Pool, subject_id: str = "moon") -> dict[str, Branch]:
    branches, _ = await Nodes(Session(pool)).tree(subject_id)
    for branch in branches:
        branches.extend(branch["children"])
    return {branch["title"]: branch for branch in branches}


async def test_a_map_is_saved_at_once_and_adds_nothing_when_it_comes_again(pool: Pool) -> None:
    first = await save(pool, *MOON)
    assert first == {"subject_id": "moon", "additions": 3, "updates": 0, "nodes": 3, "goal_critical": 1}
    again = [replace(entry, title=f" {entry.title.upper()} ") for entry in reversed(MOON)]
    assert (await save(pool, *again))["additions"] == 0
    nodes = await nodes_of(pool)
    assert nodes["Phases"]["prerequisites"] == [nodes["Orbit"]["node_id"]]
    assert nodes["Phases"]["parent_id"] == nodes["Orbit"]["parent_id"] == nodes["Moon"]["node_id"]


async def test_a_parent_may_need_what_stands_below_it(pool: Pool) -> None:
    await save(pool, replace(MOON[0], prerequisites=("Phases",)), *MOON[1:])
    nodes = await nodes_of(pool)
    assert nodes["Moon"]["prerequisites"] == [nodes["Phases"]["node_id"]]


async def test_a_node_stays_where_it_is_and_keeps_what_it_needs(pool: Pool) -> None:
    await save(pool, *MOON)
    moved = Entry("Phases", "Lit parts.", prerequisites=("Moon",))
    await save(pool, moved)
    nodes = await nodes_of(pool)
    needs = {nodes["Orbit"]["node_id"], nodes["Moon"]["node_id"]}
    assert set(nodes["Phases"]["prerequisites"]) == needs
    assert nodes["Phases"]["parent_id"] == nodes["Moon"]["node_id"]
    assert nodes["Phases"]["description"] == "Lit parts."


@pytest.mark.parametrize(
    ("entries", "refusal"),
    [
        (
            [Entry("A", "a", prerequisites=("B",)), Entry("B", "b", prerequisites=("C",)), Entry("C", "c", prerequisites=("A",))],
            "prerequisites run in a circle: '[ABC]' needs '[ABC]', which needs '[ABC]', which needs '[ABC]'",
        ),
        ([Entry("A", "a", prerequisites=("a",))], "prerequisites run in a circle: 'A' needs 'A'"),
        ([Entry("A", "a", parent="B"), Entry("B", "b", parent="A")], "parents run in a circle"),
        ([Entry("A", "a", parent="B")], "'A' names 'B', which is neither among the nodes nor in the map"),
        ([Entry("A", "a"), Entry(" a", "b")], "two nodes"),
        ([Entry("A", "a")], "none is goal-critical"),
        ([Entry("A", "a", is_goal_critical=True), Entry("B", "b")], "'B' lead to nothing that the goal needs"),
    ],
)  # fmt: skip
async def test_a_map_that_is_none_is_refused_whole(pool: Pool, entries: list[Entry], refusal: str) -> None:
    with pytest.raises(ToolValidationError, match=refusal):
        await save(pool, *entries)
    assert await nodes_of(pool) == {}
    assert not await Curricula(Session(pool)).is_mapped("moon")


async def test_a_circle_with_nodes_that_are_there_is_refused(pool: Pool) -> None:
    await save(pool, *MOON)
    with pytest.raises(ToolValidationError, match=r"'Phases' needs 'Orbit'|'Orbit' needs 'Phases'"):
        await save(pool, Entry("Orbit", "Its path.", prerequisites=("Phases",)))


async def test_a_node_of_another_subject_is_shared_instead_of_copied(pool: Pool) -> None:
    async with Session(pool) as session:
        node = draft(subject_id="physics", title="Gravity", description="Masses attract.")
        gravity = (await Nodes(session).save(node))["node_id"]
    shared = Entry("Gravity", "", shared_node_id=gravity)
    wanted = replace(MOON[1], prerequisites=("Gravity",))
    assert (await save(pool, MOON[0], shared, wanted, MOON[2]))["additions"] == 3
    nodes = await nodes_of(pool)
    assert nodes["Orbit"]["prerequisites"] == [gravity] == [nodes["Gravity"]["node_id"]]
    assert (await save(pool, MOON[0], shared, wanted, MOON[2]))["additions"] == 0
    with pytest.raises(ToolValidationError, match="is called 'Gravity', not 'Tides'"):
        await save(pool, Entry("Tides", "", shared_node_id=gravity))


def random_map(chance: random.Random) -> list[Entry]:
    """Any entries at all: some make a map, others circles, parts that stand apart or nothing that the goal needs."""
    titles = [f"Node {n}" for n in range(chance.randint(1, 9))]
    return [
        Entry(
            title,
            "A node.",
            parent=chance.choice(titles[:n]) if n and chance.random() < 0.7 else "",
            prerequisites=tuple(chance.sample(titles, k=min(len(titles), chance.choice([0, 0, 1, 2])))),
            is_goal_critical=chance.random() < 0.5,
        )
        for n, title in enumerate(titles)
    ]


async def test_whatever_maps_come_the_stored_one_has_no_circle_and_leads_to_the_goal(
    pool: Pool, chance: random.Random
) -> None:
    saved = 0
    for n in range(MAPS):
        subject_id = f"subject-{n % 8}"
        try:
            await save(pool, *random_map(chance), subject_id=subject_id)
            saved += 1
        except ToolValidationError:
            pass
        nodes = {node["node_id"]: node for node in (await nodes_of(pool, subject_id)).values()}
        assert find_cycle({node_id: node["prerequisites"] for node_id, node in nodes.items()}) == []
        assert all(leads_to_the_goal(node_id, nodes) for node_id in nodes)
    assert 0 < saved < MAPS


def leads_to_the_goal(node_id: str, nodes: dict[str, Any]) -> bool:
    reached, border = {node_id}, [node_id]
    while border:
        here = nodes[border.pop()]
        for other in nodes.values():
            links = {*here["prerequisites"], here["parent_id"]}
            back = {*other["prerequisites"], other["parent_id"]}
            if (other["node_id"] in links or here["node_id"] in back) and other["node_id"] not in reached:
                reached.add(other["node_id"])
                border.append(other["node_id"])
    return any(nodes[one]["is_goal_critical"] for one in reached)
