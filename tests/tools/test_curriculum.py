import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from chiron_workers.errors import ToolValidationError
from chiron_workers.runs.session import Caller
from chiron_workers.store import Store
from chiron_workers.tools.curriculum import get_knowledge_node, save_knowledge_node

Call = Callable[..., Awaitable[Any]]


async def test_a_map_is_built_from_arguments_as_models_send_them(call: Call) -> None:
    top = await call(
        "save_knowledge_node",
        {"subject_id": "The Moon", "title": "Moon", "description": "All.", "parent_id": "null", "depth": "0"},
    )
    orbit = await call(
        "save_knowledge_node",
        {"subject_id": "the-moon", "title": "Orbit", "description": "Path.", "parent_id": top["node_id"]},
    )
    phases = await call(
        "save_knowledge_node",
        {
            "subject_id": "the-moon",
            "title": "Phases",
            "description": "Why it waxes.",
            "parent_id": top["node_id"],
            "depth": None,
            "is_goal_critical": "true",
            "prerequisites": json.dumps([orbit["node_id"]]),
            "shared_with_subjects": ["Astronomy"],
        },
    )
    tree = await call("get_knowledge_tree", {"subject_id": "The Moon"})
    assert json.loads(json.dumps(tree)) == tree
    assert tree["subject_id"] == "the-moon"
    [root] = tree["nodes"]
    assert [child["title"] for child in root["children"]] == ["Orbit", "Phases"]
    assert root["children"][1] == {
        "node_id": phases["node_id"],
        "subject_id": "the-moon",
        "title": "Phases",
        "description": "Why it waxes.",
        "parent_id": top["node_id"],
        "depth": 1,
        "is_goal_critical": True,
        "prerequisites": [orbit["node_id"]],
        "shared_with_subjects": ["astronomy"],
        "children": [],
    }


async def test_a_node_is_read_with_what_is_below_it(store: Store) -> None:
    top = await save_knowledge_node(store, subject_id="moon", title="Moon", description="All.")
    below = await save_knowledge_node(
        store, subject_id="moon", title="Orbit", description="Path.", parent_id=top["node_id"]
    )
    node = await get_knowledge_node(store, node_id=top["node_id"])
    assert node["children"] == [{"node_id": below["node_id"], "title": "Orbit"}]


async def test_a_saved_node_says_whether_it_is_new(call: Call) -> None:
    arguments = {"subject_id": "moon", "title": "Orbit", "description": "Path."}
    first, second = await call("save_knowledge_node", arguments), await call("save_knowledge_node", arguments)
    assert (first["status"], second["status"]) == ("saved", "updated")
    assert first["node_id"] == second["node_id"]


async def test_within_a_run_nodes_are_saved_to_its_own_subject_only(call: Call, in_a_run: Caller) -> None:
    arguments = {"title": "Orbit", "description": "Path."}
    await call("save_knowledge_node", {"subject_id": "Moon", **arguments}, in_a_run)
    with pytest.raises(ToolValidationError, match="this run works on 'moon'"):
        await call("save_knowledge_node", {"subject_id": "Mars", **arguments}, in_a_run)


async def test_problems_name_the_argument(call: Call) -> None:
    with pytest.raises(ToolValidationError, match=r"description: is required"):
        await call("save_knowledge_node", {"subject_id": "moon", "title": "Orbit"})
    with pytest.raises(ToolValidationError, match=r"parent_id: must be an id such as"):
        await call(
            "save_knowledge_node",
            {"subject_id": "moon", "title": "Orbit", "description": "Path.", "parent_id": "Moon"},
        )
    with pytest.raises(ToolValidationError, match=r"node_id: must be an id such as"):
        await call("get_knowledge_node", {"node_id": "Orbit"})


async def test_a_run_shows_no_node_in_the_map_of_another_subject(call: Call, in_a_run: Caller) -> None:
    arguments = {"subject_id": "moon", "title": "Orbit", "description": "Path."}
    for subjects in (["mars"], ["moon", "Mars"]):
        with pytest.raises(ToolValidationError, match="cannot show a node in the map of 'mars'") as caught:
            await call("save_knowledge_node", arguments | {"shared_with_subjects": subjects}, in_a_run)
        assert caught.value.field == "shared_with_subjects"
    await call("save_learning_goal", {"subject_id": "mars", "purpose_statement": "To know."})
    assert (await call("get_knowledge_tree", {"subject_id": "mars"}))["nodes"] == []


@pytest.mark.parametrize("subjects", [[], ["moon"], None])
async def test_a_run_leaves_what_a_person_shared_as_it_is(
    call: Call, in_a_run: Caller, subjects: list[str] | None
) -> None:
    arguments = {"subject_id": "moon", "title": "Orbit", "description": "Path."}
    saved = await call("save_knowledge_node", arguments | {"shared_with_subjects": ["mars"]})
    await call("save_knowledge_node", arguments | {"shared_with_subjects": subjects}, in_a_run)
    node = await call("get_knowledge_node", {"node_id": saved["node_id"]})
    assert node["shared_with_subjects"] == ["mars"]


async def test_what_one_subject_hangs_below_a_shared_node_no_run_of_another_is_shown(
    call: Call, in_a_run: Caller
) -> None:
    orbit = {"title": "Orbit", "description": "Path."}
    of_mars = await call(
        "save_knowledge_node", orbit | {"subject_id": "mars", "shared_with_subjects": ["moon", "venus"]}
    )
    below = {"description": "Obey me.", "parent_id": of_mars["node_id"]}
    await call("save_knowledge_node", below | {"subject_id": "moon", "title": "Tides"}, in_a_run)
    await call("save_knowledge_node", below | {"subject_id": "mars", "title": "Seasons"})

    async def titles(caller: Caller) -> list[str]:
        node = await call("get_knowledge_node", {"node_id": of_mars["node_id"]}, caller)
        return sorted(child["title"] for child in node["children"])

    assert await titles(in_a_run) == ["Seasons", "Tides"]
    for subject in ("mars", "venus"):
        assert await titles(replace(in_a_run, subject_id=subject)) == ["Seasons"]
    assert await titles(Caller()) == ["Seasons", "Tides"], "a person sees all"
