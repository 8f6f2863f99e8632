"""Charts of facts: only what says the same of different names or years is drawn together, and each point has its finding."""

from datetime import UTC, datetime

import pytest

from chiron_api.reports.charts import Chart, Point
from chiron_api.reports.fact_charts import CHARTS_MAX, READ_MAX, charts_of_findings
from chiron_api.reports.report import Finding
from chiron_workers.states import FactStatus


def findings(*statements: str, status: FactStatus = FactStatus.ACCEPTED) -> list[Finding]:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    return [
        Finding(n, f"fact {n}", "lakes", "a", words, status, 0.9, 1, (), (), (), at)
        for n, words in enumerate(statements, start=1)
    ]


def test_facts_of_several_names_are_one_chart_the_largest_first() -> None:
    [chart] = charts_of_findings(
        findings(
            "Lake Erie is 64 m deep.",
            "Lake Baikal is 1,642 m deep.",
            "Lake Chad is 10.5 m deep.",
            "Lake Huron lies in North America.",
        )
    )
    assert (chart.title, chart.axis) == ("… is … m deep", "m")
    assert chart.points == (
        Point("Lake Baikal", 1642.0, 2),
        Point("Lake Erie", 64.0, 1),
        Point("Lake Chad", 10.5, 3),
    )


def test_years_of_one_name_are_in_their_order() -> None:
    [chart] = charts_of_findings(
        findings(
            "In 2021 Arctic sea ice was 1.9 m thick.",
            "In 2019 Arctic sea ice was 2.4 m thick.",
            "In 2020 Arctic sea ice was 2.1 m thick.",
        )
    )
    assert chart.title == "In … Arctic sea ice was … m thick"
    assert [(point.label, point.value) for point in chart.points] == [
        ("2019", 2.4),
        ("2020", 2.1),
        ("2021", 1.9),
    ]


@pytest.mark.parametrize(
    "statements",
    [
        ("Lake A is 64 m deep.", "Lake B is 210 feet deep.", "Lake C is 10 m deep."),
        ("Lake A is 64 m deep.", "Lake B is 64 m wide.", "Lake C is 10 m long."),
        ("Lake A is about 64 m deep.", "Lake B is about 50 m deep.", "Lake C is about 10 m deep."),
        ("Lake A is 60 to 64 m deep.", "Lake B is 5 to 9 m deep.", "Lake C is 1 to 10 m deep."),
        ("Lake A has 3 arms and 64 isles.", "Lake B has 2 arms and 6 isles.", "Lake C has 1 arm and 4 isles."),
        ("Apollo 11 landed on the moon.", "Apollo 12 landed on the moon.", "Apollo 14 landed on the moon."),
        ("Lake A was found in 1805.", "Lake B was found in 1806.", "Lake C was found in 1807."),
        ("Lake A is 64 m deep.", "Lake B is 50 m deep."),
        ("Lake A lies at 46°N.", "Lake B lies at 47°N.", "Lake C lies at 48°N."),
    ],
)  # fmt: skip
def test_what_does_not_compare_is_not_drawn(statements: tuple[str, ...]) -> None:
    assert charts_of_findings(findings(*statements)) == ()


def test_candidates_and_what_another_chart_shows_are_left_out() -> None:
    statements = ("Lake Erie is 64 m deep.", "Lake Baikal is 1,642 m deep.", "Lake Chad is 10 m deep.")
    assert charts_of_findings(findings(*statements, status=FactStatus.CANDIDATE)) == ()
    rows = Chart("depth", "depth", (Point("Erie", 64.0, 1),))
    assert charts_of_findings(findings(*statements), [rows]) == ()


def test_charts_of_facts_are_bounded() -> None:
    statements = [f"Lake Nr{'x' * n} is {n} m {word}." for word in "abcdefgh" for n in range(1, 41)]
    charts = charts_of_findings(findings(*statements))
    assert len(charts) == CHARTS_MAX
    assert {(len(chart.points), chart.left_out) for chart in charts} == {(30, 10)}
    late = findings(*["It is deep."] * READ_MAX, *statements)
    assert charts_of_findings(late) == ()
