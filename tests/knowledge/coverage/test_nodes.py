import asyncio
from typing import Any

import psycopg
import pytest

from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import ToolValidationError
from chiron_workers.ids import new_id
from chiron_workers.knowledge.coverage.nodes import SQL, Branch, Nodes, SavedNode, draft
from chiron_workers.runs.session import Session
from chiron_workers.states import EventKind

WAITING = psycopg.sql.SQL("select count(*) as n from pg_locks where locktype = 'advisory' and not granted")


async def save(pool: Pool, title: str, *, subject_id: str = "moon", **fields: Any) -> SavedNode:
    async with Session(pool) as session:
        made = draft(subject_id=subject_id, title=title, description=f"About {title}.", **fields)
        return await Nodes(session).save(made)


def outline(branches: list[Branch]) -> dict[str, Any]:
    return {branch["title"]: outline(branch["children"]) for branch in branches}


async def test_a_tree_is_read_back_nested_with_prerequisites(pool: Pool) -> None:
    top = await save(pool, "Moon")
    orbit = await save(pool, "Orbit", parent_id=top["node_id"])
    phases = await save(pool, "Phases", parent_id=top["node_id"], prerequisites=[orbit["node_id"]])
    await save(pool, "Eclipses", parent_id=phases["node_id"], is_goal_critical=True)
    branches, is_cut = await Nodes(Session(pool)).tree("Moon")
    assert outline(branches) == {"Moon": {"Orbit": {}, "Phases": {"Eclipses": {}}}}
    assert branches[0]["children"][1]["prerequisites"] == [orbit["node_id"]]
    assert not is_cut
    assert [orbit["depth"], branches[0]["children"][1]["children"][0]["depth"]] == [1, 2]


async def test_the_same_title_below_the_same_parent_is_the_same_node(pool: Pool) -> None:
    first = await save(pool, "Orbit")
    top = await save(pool, "Moon")
    again = await save(pool, " orbit ", is_goal_critical=True)
    elsewhere = await save(pool, "Orbit", parent_id=top["node_id"])
    assert (first["status"], again["status"], elsewhere["status"]) == ("saved", "updated", "saved")
    assert first["node_id"] == again["node_id"] != elsewhere["node_id"]
    assert (await Nodes(Session(pool)).get(first["node_id"]))["is_goal_critical"] is True


async def test_two_who_save_the_same_node_at_once_make_one(pool: Pool) -> None:
    saved = await asyncio.gather(*(save(pool, "Orbit") for _ in range(4)))
    assert len({one["node_id"] for one in saved}) == 1
    assert sorted(one["status"] for one in saved) == ["saved", "updated", "updated", "updated"]


async def test_an_update_keeps_the_prerequisites_it_does_not_name_and_clears_them_when_told(
    pool: Pool,
) -> None:
    orbit = await save(pool, "Orbit")
    phases = await save(pool, "Phases", prerequisites=[orbit["node_id"]])
    await save(pool, "Phases")
    assert (await Nodes(Session(pool)).get(phases["node_id"]))["prerequisites"] == [orbit["node_id"]]
    await save(pool, "Phases", prerequisites=[])
    assert (await Nodes(Session(pool)).get(phases["node_id"]))["prerequisites"] == []


async def test_prerequisites_cannot_run_in_a_circle(pool: Pool) -> None:
    first = await save(pool, "First")
    second = await save(pool, "Second", prerequisites=[first["node_id"]])
    third = await save(pool, "Third", prerequisites=[second["node_id"]])
    with pytest.raises(ToolValidationError, match=r"in a circle: .*'Third' needs.*'First'"):
        await save(pool, "First", prerequisites=[third["node_id"]])
    with pytest.raises(ToolValidationError, match="in a circle: 'First' needs 'First'"):
        await save(pool, "First", prerequisites=[first["node_id"]])
    assert (await Nodes(Session(pool)).get(first["node_id"]))["prerequisites"] == []


async def test_two_who_need_each_other_saved_at_once_make_no_circle(pool: Pool) -> None:
    left, right = await save(pool, "Left"), await save(pool, "Right")
    results = await asyncio.gather(
        save(pool, "Left", prerequisites=[right["node_id"]]),
        save(pool, "Right", prerequisites=[left["node_id"]]),
        return_exceptions=True,
    )
    assert sorted(type(result).__name__ for result in results) == ["ToolValidationError", "dict"]


async def test_saves_in_different_subjects_that_would_close_a_circle_together_do_not(
    pool: Pool, database_url: str
) -> None:
    names = {name: {"subject_id": name, "shared_with_subjects": list("abcd")} for name in "abcd"}
    node_ids = {name: (await save(pool, name, **fields))["node_id"] for name, fields in names.items()}

    async def require(of: Pool, name: str, prerequisite: str) -> SavedNode:
        return await save(of, name, **names[name], prerequisites=[node_ids[prerequisite]])

    await require(pool, "b", "c")
    await require(pool, "d", "a")
    async with asyncio.timeout(60), open_pool(database_url, size=2) as elsewhere, Session(pool) as holder:
        # The lock is held until both wait for it, so that neither goes on alone.
        await holder.write(SQL["lock"], {"subject_ids": list("abcd")})
        saves = [
            asyncio.create_task(require(elsewhere, "a", "b")),
            asyncio.create_task(require(pool, "c", "d")),
        ]
        while [row["n"] for row in await Session(pool).rows(WAITING)] != [2]:
            await asyncio.sleep(0.01)
        await holder.rollback()
        results = await asyncio.gather(*saves, return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["ToolValidationError", "dict"]


@pytest.mark.parametrize("field", ["parent_id", "prerequisites"])
async def test_a_node_that_is_not_there_is_refused_by_the_name_of_the_field(pool: Pool, field: str) -> None:
    for wrong in ("Orbit", str(new_id())):
        with pytest.raises(ToolValidationError, match=rf"^{field}: ") as caught:
            await save(pool, "Phases", **{field: wrong if field == "parent_id" else [wrong]})
        assert caught.value.field == field


async def test_a_node_of_another_subject_serves_only_where_it_is_shared(pool: Pool) -> None:
    gravity = await save(pool, "Gravity", subject_id="physics")
    with pytest.raises(ToolValidationError, match=r"prerequisites: node .* belongs to 'physics'"):
        await save(pool, "Orbit", prerequisites=[gravity["node_id"]])
    await save(pool, "Gravity", subject_id="physics", shared_with_subjects=["The Moon", "Mars"])
    await save(pool, "Orbit", subject_id="the-moon", prerequisites=[gravity["node_id"]])
    branches, _ = await Nodes(Session(pool)).tree("the-moon")
    assert outline(branches) == {"Gravity": {}, "Orbit": {}}
    assert branches[0]["subject_id"] == "physics"


async def test_a_tree_too_deep_is_refused(pool: Pool) -> None:
    top = await save(pool, "Deep", depth=50)
    with pytest.raises(ToolValidationError, match="depth: must be between 0 and 50"):
        await save(pool, "Deeper", parent_id=top["node_id"])


async def test_saving_a_node_is_told_to_watchers(pool: Pool) -> None:
    session = Session(pool)
    saved = await Nodes(session).save(draft(subject_id="moon", title="Orbit", description="Its path."))
    assert session.pending == [(EventKind.NODE_SAVED, {**saved, "is_goal_critical": False})]
    await session.rollback()
