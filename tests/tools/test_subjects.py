from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from chiron_workers.errors import ToolError, ToolValidationError
from chiron_workers.runs.session import Caller
from chiron_workers.store import Store
from chiron_workers.tools.subjects import get_learning_goal, save_learning_goal

Call = Callable[..., Awaitable[Any]]


async def test_the_active_subject_is_chosen_by_any_of_its_names(call: Call) -> None:
    assert (await call("get_active_subject", {}))["subject_id"] is None
    await call("save_learning_goal", {"subject_id": "Deep Sea", "purpose_statement": "Dive."})
    await call("set_active_subject", {"subject_id": " deep SEA "})
    assert await call("get_active_subject", {}) == {
        "subject_id": "deep-sea",
        "title": "Deep Sea",
        "purpose_statement": "Dive.",
        "target_depth": "practical",
    }


async def test_within_a_run_the_active_subject_is_the_runs_own(call: Call, in_a_run: Caller) -> None:
    await call("save_learning_goal", {"subject_id": "Mars", "purpose_statement": "Go."})
    await call("set_active_subject", {"subject_id": "Mars"})
    assert (await call("get_active_subject", {}, in_a_run))["subject_id"] == "moon"
    with pytest.raises(ToolError, match="This run works on 'moon' until it ends"):
        await call("set_active_subject", {"subject_id": "Mars"}, in_a_run)
    with pytest.raises(ToolValidationError, match="cannot write to 'mars'; pass 'moon'"):
        await call("save_learning_goal", {"subject_id": "mars", "purpose_statement": "Stay."}, in_a_run)


async def test_all_subjects_are_listed_with_their_goals(call: Call) -> None:
    assert await call("list_subjects", {}) == []
    for name in ("Mars", "Deep Sea"):
        await call("save_learning_goal", {"subject_id": name, "purpose_statement": f"Know {name}."})
    assert [(one["subject_id"], one["purpose_statement"]) for one in await call("list_subjects", {})] == [
        ("deep-sea", "Know Deep Sea."),
        ("mars", "Know Mars."),
    ]


async def test_a_goal_saved_by_a_direct_call_is_read_back(store: Store) -> None:
    saved = await save_learning_goal(
        store, subject_id="Mars", purpose_statement="Land there.", target_depth="expert"
    )
    assert await get_learning_goal(store, subject_id="mars") == saved
    assert saved["target_depth"] == "expert"


async def test_a_subject_that_is_not_there_is_named(call: Call) -> None:
    for tool in ("get_learning_goal", "set_active_subject", "get_knowledge_tree"):
        with pytest.raises(ToolValidationError, match="no subject is called 'atlantis'") as caught:
            await call(tool, {"subject_id": "Atlantis"})
        assert caught.value.field == "subject_id"
