"""The tools of the shipped skill statistics-check, loaded as a worker loads them."""

from typing import Any

import pytest

from chiron_workers.errors import ToolError
from chiron_workers.skills.catalogue import SHIPPED, SkillRoot
from chiron_workers.skills.process_skills import Skills
from chiron_workers.skills.skill import Source
from chiron_workers.store import Store


@pytest.fixture(scope="module")
def tools() -> dict[str, Any]:
    code = Skills([SkillRoot(SHIPPED, Source.SHIPPED)]).codes["statistics-check"]
    return {tool.name: tool for tool in code.tools}


async def call(tools: dict[str, Any], name: str, **arguments: Any) -> dict[str, Any]:
    store: Store = None  # type: ignore[assignment]  # none of these tools uses it
    result: dict[str, Any] = await tools[name].run(store, tools[name].validate(arguments))
    return result


@pytest.mark.parametrize(
    ("mean", "n", "items", "possible", "informative"),
    [("5.19", 28, 1, False, True), ("5.18", 28, 1, True, True), ("5.21", 28, 1, True, True), ("−5.18", 28, 1, True, True),
     ("5.19", 28, 4, True, False), ("3.5", 2, 1, True, True), ("3.4", 2, 1, False, True), ("5.19", 200, 1, True, False)],
)  # fmt: skip
async def test_a_mean_of_whole_numbers_must_be_possible(
    tools: dict[str, Any], mean: str, n: int, items: int, possible: bool, informative: bool
) -> None:
    check = await call(tools, "check_mean", mean=mean, n=n, items=items)
    assert (check["possible"], check["informative"]) == (possible, informative)


async def test_the_possible_means_around_an_impossible_one_are_named(tools: dict[str, Any]) -> None:
    assert (await call(tools, "check_mean", mean="5.19", n=28))["nearest"] == ["5.1786", "5.2143"]


async def test_a_percentage_is_computed_and_compared_within_its_rounding(tools: dict[str, Any]) -> None:
    check = await call(tools, "check_percentage", count=15, total=148, reported="10.1")
    assert check == {"percent": pytest.approx(10.1351, rel=1e-5), "agrees": True}
    assert not (await call(tools, "check_percentage", count=15, total=148, reported="10.2"))["agrees"]


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("check_mean", {"mean": "two", "n": 3}, "mean"),
        ("check_mean", {"mean": "2.0", "n": 0}, "n"),
        ("check_percentage", {"count": 3, "total": 2, "reported": "150"}, "count: must not be larger than total"),
    ],
)  # fmt: skip
async def test_a_wrong_call_says_what_is_wrong(
    tools: dict[str, Any], name: str, arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(ToolError, match=words):
        await call(tools, name, **arguments)
