"""The tools of the skill statistics-check, against values that other programs gave."""

from typing import Any

import pytest

from chiron_workers.errors import ToolError
from chiron_workers.skills.catalogue import SHIPPED, Place
from chiron_workers.skills.live import Skills
from chiron_workers.skills.skill import Source
from chiron_workers.store import Store


@pytest.fixture(scope="module")
def tools() -> dict[str, Any]:
    code = Skills([Place(SHIPPED, Source.SHIPPED)]).codes["statistics-check"]
    return {tool.name: tool for tool in code.tools}


async def call(tools: dict[str, Any], name: str, **arguments: Any) -> dict[str, Any]:
    store: Store = None  # type: ignore[assignment]  # none of these tools uses it
    found: dict[str, Any] = await tools[name].run(store, tools[name].validate(arguments))
    return found


@pytest.mark.parametrize(
    ("test", "value", "df1", "df2", "p"),
    [  # from scipy 1.17.1: 2 * t.sf, f.sf, chi2.sf, 2 * norm.sf
        ("t", "2.20", 28, None, 0.03622548477883782),
        ("t", "-2.20", 28, None, 0.03622548477883782),
        ("t", "12.706", 1, None, 0.05000080235813319),
        ("t", "1.96", 1e9, None, 0.049995790573729625),
        ("F", "4.00", 1, 60, 0.05003304365145747),
        ("F", "3.15", 2, 60, 0.05001861468733142),
        ("chi2", "3.841", 1, None, 0.050013683763956804),
        ("chi2", "18.307", 10, None, 0.05000058909139812),
        ("z", "1.96", None, None, 0.049995790573729625),
        ("z", "0", None, None, 1.0),
        ("r", ".31", 48, None, 0.02846094537205075),
        ("r", "1", 8, None, 0.0),
        ("t", "40", 500, None, 6.290642918258103e-158),
        ("F", "50", 10, 1000, 3.000381368407235e-81),
        ("F", ".5", 3.7, 41.2, 0.7220331916587776),
        ("chi2", "500", 100, None, 1.720121005369523e-54),
    ],
)
async def test_a_p_value_is_recomputed(
    tools: dict[str, Any], test: str, value: str, df1: float | None, df2: float | None, p: float
) -> None:
    found = await call(tools, "recompute_p", test=test, value=value, df1=df1, df2=df2)
    assert found["p"] == pytest.approx(p, rel=5e-6, abs=0)
    assert found["p_range"][0] <= found["p"] <= found["p_range"][1]
    assert found["agrees"] is None


@pytest.mark.parametrize(
    ("reported", "agrees", "one_sided", "changes"),
    [
        ("= .036", True, False, False),
        (".04", True, False, False),
        ("p < .05", True, True, False),
        ("p = .018", False, True, False),
        ("= .06", False, False, True),
        ("< .01", False, False, False),
        ("> .05", False, False, True),
    ],
)
async def test_a_reported_p_is_judged_with_its_rounding(
    tools: dict[str, Any], reported: str, agrees: bool, one_sided: bool, changes: bool
) -> None:
    found = await call(tools, "recompute_p", test="t", value="2.20", df1=28, reported_p=reported)
    assert (found["agrees"], found["one_sided_agrees"], found["conclusion_changes"]) == (
        agrees,
        one_sided,
        changes,
    )


@pytest.mark.parametrize(
    ("mean", "n", "items", "possible", "informative"),
    [("5.19", 28, 1, False, True), ("5.18", 28, 1, True, True), ("5.21", 28, 1, True, True),
     ("5.19", 28, 4, True, False), ("3.5", 2, 1, True, True), ("3.4", 2, 1, False, True), ("5.19", 200, 1, True, False)],
)  # fmt: skip
async def test_a_mean_of_whole_numbers_must_be_possible(
    tools: dict[str, Any], mean: str, n: int, items: int, possible: bool, informative: bool
) -> None:
    found = await call(tools, "check_mean", mean=mean, n=n, items=items)
    assert (found["possible"], found["informative"]) == (possible, informative)


async def test_a_percentage_is_computed_with_its_interval(tools: dict[str, Any]) -> None:
    found = await call(tools, "check_percentage", count=15, total=148, reported="10.1")
    assert (found["percent"], found["agrees"]) == (pytest.approx(10.1351, rel=1e-5), True)
    assert found["interval_95"] == pytest.approx([6.23864, 16.04872], rel=1e-5)
    assert not (await call(tools, "check_percentage", count=15, total=148, reported="10.2"))["agrees"]
    with pytest.raises(ToolError, match="count"):
        await call(tools, "check_percentage", count=3, total=2, reported="150")


async def test_an_interval_gives_its_error_and_its_p(tools: dict[str, Any]) -> None:
    found = await call(tools, "check_interval", estimate="1.96", low="0.00", high="3.92", reported_p=".05")
    assert found["standard_error"] == pytest.approx(1.0, abs=1e-4)
    assert found["p"] == pytest.approx(0.05, abs=1e-4)
    assert (found["is_centred"], found["agrees"]) == (True, True)
    ratio = await call(tools, "check_interval", estimate="2.0", low="1.0", high="4.0", is_ratio=True)
    assert (ratio["centre"], ratio["is_centred"]) == (pytest.approx(2.0), True)
    skewed = await call(tools, "check_interval", estimate="2.5", low="1.0", high="4.0", is_ratio=True)
    assert not skewed["is_centred"]


async def test_two_groups_are_compared(tools: dict[str, Any]) -> None:
    found = await call(tools, "compare_groups", events_a=15, total_a=100, events_b=30, total_b=100)
    assert found["risk_ratio"] == pytest.approx([0.5, 0.28721945, 0.87041458], rel=1e-5)
    assert found["odds_ratio"] == pytest.approx([0.41176471, 0.20532513, 0.82576437], rel=1e-5)
    assert found["number_needed"] == pytest.approx(6.66667)
    nobody = await call(tools, "compare_groups", events_a=0, total_a=10, events_b=10, total_b=10)
    assert (nobody["risk_ratio"], nobody["odds_ratio"]) == (None, None)


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("recompute_p", {"test": "t", "value": "2.2"}, "df1 is needed"),
        ("recompute_p", {"test": "F", "value": "2.2", "df1": 1}, "df1 and df2 are needed"),
        ("recompute_p", {"test": "z", "value": "2.2", "reported_p": "n.s."}, "reported_p"),
        ("recompute_p", {"test": "r", "value": "1.5", "df1": 4}, "between -1 and 1"),
        ("recompute_p", {"test": "z", "value": "two"}, "value"),
        ("check_interval", {"estimate": "1", "low": "0", "high": "2", "is_ratio": True}, "above 0"),
        ("check_interval", {"estimate": "1", "low": "2", "high": "1"}, "below high"),
        ("compare_groups", {"events_a": 2, "total_a": 1, "events_b": 0, "total_b": 1}, "more than the total"),
    ],
)
async def test_a_wrong_call_says_what_is_wrong(
    tools: dict[str, Any], name: str, arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(ToolError, match=words):
        await call(tools, name, **arguments)
