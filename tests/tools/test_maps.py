"""What a run may do to a coverage map: the curriculum agent draws it up, research proposes, and each proposal is decided."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from chiron_workers.db.connect import Pool
from chiron_workers.errors import ToolError, ToolValidationError
from chiron_workers.roles import role_of
from chiron_workers.runs.session import Caller
from chiron_workers.tools import registry

Call = Callable[..., Awaitable[Any]]
CURRICULUM = [
    {"title": "Moon", "description": "All.", "is_goal_critical": True},
    {"title": "Orbit", "description": "Its path.", "parent": "Moon"},
    {"title": "Trajectory", "description": "Its path.", "parent": "Moon", "prerequisites": ["Orbit"]},
    {"title": "Apogee", "description": "Farthest.", "parent": "Trajectory"},
    {"title": "Phases", "description": "Lit.", "parent": "Moon", "prerequisites": ["Trajectory"]},
]


@pytest.fixture
async def nodes(call: Call) -> dict[str, str]:
    """The ids of the nodes of a curriculum, by title."""
    await call("save_curriculum", {"subject_id": "moon", "nodes": CURRICULUM})
    return {title: node["node_id"] for title, node in (await flat(call)).items()}


@pytest.fixture
def researching(in_a_run: Caller) -> Caller:
    """A research run on the subject."""
    return replace(in_a_run, role="research")


async def flat(call: Call) -> dict[str, dict[str, Any]]:
    tree = await call("get_knowledge_tree", {"subject_id": "moon"})
    branches = list(tree["nodes"])
    for branch in branches:
        branches.extend(branch["children"])
    return {branch["title"]: branch for branch in branches}


async def propose(
    call: Call, caller: Caller, kind: str, node_id: str, other_node_id: str | None = None
) -> Any:
    arguments = {
        "kind": kind,
        "node_id": node_id,
        "other_node_id": other_node_id,
        "reason": "A page says so.",
    }
    return await call("propose_change", arguments, caller)


async def decide(call: Call, proposal: dict[str, Any], *, accept: bool = True) -> Any:
    arguments = {"proposal_id": proposal["proposal_id"], "accept": accept, "reason": "It is so."}
    return await call("decide_proposal", arguments)


@pytest.mark.parametrize("tool", ["save_curriculum", "decide_proposal"])
def test_only_the_curriculum_agent_and_people_change_maps(tool: str) -> None:
    reserved_for = registry().get(tool).roles
    assert role_of("curriculum").may_call(tool, reserved_for=reserved_for)
    for role in ("research", "writer", "verifier"):
        assert not role_of(role).may_call(tool, reserved_for=reserved_for)


async def test_without_a_curriculum_a_node_of_a_research_run_is_saved(
    call: Call, in_a_run: Caller, researching: Caller
) -> None:
    node = {"subject_id": "moon", "title": "Orbit", "description": "Its path."}
    assert (await call("save_knowledge_node", node, researching))["status"] == "saved"
    [proposal] = (await call("list_proposals", {"subject_id": "moon", "state": None}))["proposals"]
    assert (proposal["state"], proposal["title"]) == ("accepted", "Orbit")
    assert proposal["decision_reason"] == "The subject has no curriculum that it could disagree with."


async def test_with_one_it_is_a_proposal_until_somebody_accepts_it(
    call: Call, nodes: dict[str, str], researching: Caller
) -> None:
    node = {"subject_id": "moon", "title": "Tides", "description": "The sea.", "parent_id": nodes["Moon"]}
    proposed = await call("save_knowledge_node", node, researching)
    assert proposed["status"] == "proposed"
    again = await call("save_knowledge_node", node, researching)
    assert again["proposal_id"] == proposed["proposal_id"]
    assert "Tides" not in await flat(call)
    decided = await decide(call, proposed)
    assert (decided["state"], decided["decision_reason"]) == ("accepted", "It is so.")
    assert (await flat(call))["Tides"]["node_id"] == decided["node_id"]
    known = await call("save_knowledge_node", node | {"description": "Changed."}, researching)
    assert (known["status"], known["node_id"]) == ("known", decided["node_id"])
    assert (await flat(call))["Tides"]["description"] == "The sea."


async def test_a_rejected_proposal_changes_nothing_and_is_decided_once(
    call: Call, nodes: dict[str, str], researching: Caller
) -> None:
    proposal = await propose(call, researching, "remove", nodes["Phases"])
    assert (await decide(call, proposal, accept=False))["state"] == "rejected"
    with pytest.raises(ToolError, match="is rejected already"):
        await decide(call, proposal)
    assert {*(await flat(call))} == {*nodes}


async def test_of_two_who_decide_at_once_the_second_is_told(
    call: Call, nodes: dict[str, str], researching: Caller
) -> None:
    proposal = await propose(call, researching, "remove", nodes["Phases"])
    outcomes = await asyncio.gather(
        decide(call, proposal), decide(call, proposal, accept=False), return_exceptions=True
    )
    assert sorted(isinstance(outcome, ToolError) for outcome in outcomes) == [False, True]


async def test_a_prerequisite_is_added_unless_it_would_close_a_circle(
    call: Call, nodes: dict[str, str], researching: Caller
) -> None:
    good = await propose(call, researching, "prerequisite", nodes["Apogee"], nodes["Orbit"])
    await decide(call, good)
    assert (await flat(call))["Apogee"]["prerequisites"] == [nodes["Orbit"]]
    circle = await propose(call, researching, "prerequisite", nodes["Orbit"], nodes["Phases"])
    with pytest.raises(ToolValidationError, match="run in a circle: '"):
        await decide(call, circle)
    [still_open] = (await call("list_proposals", {"subject_id": "moon"}))["proposals"]
    assert still_open["proposal_id"] == circle["proposal_id"]


async def test_a_removed_node_leaves_its_answers_and_what_hung_on_it(
    call: Call, nodes: dict[str, str], researching: Caller, pool: Pool
) -> None:
    await answer(call, nodes["Trajectory"])
    await decide(call, await propose(call, researching, "remove", nodes["Trajectory"]))
    left = await flat(call)
    assert "Trajectory" not in left
    assert left["Phases"]["prerequisites"] == [nodes["Orbit"]]  # what the removed one needed
    assert (left["Apogee"]["parent_id"], left["Apogee"]["depth"]) == (nodes["Moon"], 1)
    async with pool.connection() as connection:
        rows = await (await connection.execute("select node_id::text from assessments")).fetchall()
    assert [row["node_id"] for row in rows] == [nodes["Trajectory"]]
    await call("save_curriculum", {"subject_id": "moon", "nodes": CURRICULUM})
    assert (await flat(call))["Trajectory"]["node_id"] == nodes["Trajectory"]  # it comes back as itself


async def test_a_merged_node_is_another_name_of_the_one_it_went_into(
    call: Call, nodes: dict[str, str], researching: Caller
) -> None:
    await answer(call, nodes["Trajectory"])
    await decide(call, await propose(call, researching, "merge", nodes["Trajectory"], nodes["Orbit"]))
    left = await flat(call)
    assert {*left} == {"Moon", "Orbit", "Apogee", "Phases"}
    assert left["Orbit"]["prerequisites"] == []
    assert left["Phases"]["prerequisites"] == [nodes["Orbit"]]
    assert left["Apogee"]["parent_id"] == nodes["Orbit"]
    assert (await call("get_user_progress", {"node_id": nodes["Orbit"]}))["attempts"] == 1


async def test_the_title_of_a_merged_node_stays_a_name_of_the_other(
    call: Call, nodes: dict[str, str], researching: Caller
) -> None:
    await decide(call, await propose(call, researching, "merge", nodes["Trajectory"], nodes["Orbit"]))
    again = await call("save_curriculum", {"subject_id": "moon", "nodes": CURRICULUM})
    assert again["additions"] == 0
    assert "Trajectory" not in await flat(call)
    node = {"subject_id": "moon", "title": "trajectory", "description": "x", "parent_id": nodes["Moon"]}
    known = await call("save_knowledge_node", node, researching)
    assert (known["status"], known["node_id"]) == ("known", nodes["Orbit"])


async def test_a_removed_node_may_be_proposed_anew(
    call: Call, nodes: dict[str, str], researching: Caller
) -> None:
    await decide(call, await propose(call, researching, "remove", nodes["Phases"]))
    node = {"subject_id": "moon", "title": "Phases", "description": "Lit.", "parent_id": nodes["Moon"]}
    proposed = await call("save_knowledge_node", node, researching)
    assert proposed["status"] == "proposed"
    await decide(call, proposed)
    assert (await flat(call))["Phases"]["node_id"] == nodes["Phases"]


async def test_a_child_called_as_its_removed_parent_takes_its_place(
    call: Call, nodes: dict[str, str], researching: Caller
) -> None:
    node = {"subject_id": "moon", "title": "Orbit", "description": "In detail.", "parent_id": nodes["Orbit"]}
    child = await call("save_knowledge_node", node)
    await decide(call, await propose(call, researching, "remove", nodes["Orbit"]))
    orbit = (await flat(call))["Orbit"]
    assert (orbit["node_id"], orbit["parent_id"]) == (child["node_id"], nodes["Moon"])


async def test_a_node_is_not_merged_into_itself(
    call: Call, nodes: dict[str, str], researching: Caller
) -> None:
    with pytest.raises(ToolValidationError, match="must be another node than node_id"):
        await propose(call, researching, "merge", nodes["Orbit"], nodes["Orbit"])


@pytest.mark.parametrize(
    ("node", "into", "refusal"),
    [
        ("Orbit", "Phases", "circle"),
        ("Apogee", "Trajectory", "stands below 'Trajectory'; remove it instead"),
        ("Moon", "Apogee", "'Apogee' stands below 'Moon'"),
    ],
)
async def test_a_merge_that_makes_no_map_is_refused(
    call: Call, nodes: dict[str, str], researching: Caller, node: str, into: str, refusal: str
) -> None:
    proposal = await propose(call, researching, "merge", nodes[node], nodes[into])
    with pytest.raises(ToolError, match=refusal):
        await decide(call, proposal)
    assert {*(await flat(call))} == {*nodes}


@pytest.mark.parametrize(
    ("kind", "others", "refusal"),
    [("merge", 0, "names the other node"), ("remove", 1, "is about one node alone"), ("add", 0, "kind")],
)
async def test_a_proposal_that_says_too_little_or_too_much_is_refused(
    call: Call, nodes: dict[str, str], researching: Caller, kind: str, others: int, refusal: str
) -> None:
    with pytest.raises(ToolValidationError, match=refusal):
        await propose(call, researching, kind, nodes["Orbit"], nodes["Moon"] if others else None)


async def test_a_run_proposes_for_its_own_subject_alone(
    call: Call, nodes: dict[str, str], in_a_run: Caller
) -> None:
    elsewhere = replace(in_a_run, role="research", subject_id="mars")
    with pytest.raises(ToolValidationError, match="this run works on 'mars'"):
        await propose(call, elsewhere, "remove", nodes["Orbit"])


async def answer(call: Call, node_id: str) -> None:
    arguments = {"node_id": node_id, "question_hash": "q", "response": "x", "correct": True}
    await call("record_assessment", arguments)
