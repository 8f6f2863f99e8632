"""Charts: an SVG that any reader of XML reads, with axis, names and a link for each point; hostile words stay words."""

import xml.etree.ElementTree as ET
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chiron_api.reports.charts import POINTS_MAX, Chart, Point, axis_ticks, draw, number_text
from chiron_api.reports.row_charts import charts_of
from chiron_workers.knowledge.rows.reading import AnswerRow, Cell, CellFact
from chiron_workers.runs.columns import read_columns
from chiron_workers.states import FactStatus, Verdict

SVG = "{http://www.w3.org/2000/svg}"
RUN = UUID(int=1)
COLUMNS = read_columns("name, depth:float, comment")
HOSTILE = "</title><script>alert('1')</script>\" onload=\"x & \u202e ]]>"


def row(n: int, name: str, depth: float | None, fact: str = "", calculation: str = "") -> AnswerRow:
    facts = (CellFact(fact, "It is deep.", FactStatus.ACCEPTED, 0.9, ()),) if fact else ()
    texts = Cell(name, (), "", "", (), Verdict.SUPPORTED, "")
    number = Cell(depth, facts, "", "", (), Verdict.SUPPORTED, "", calculation)
    return AnswerRow(UUID(int=n + 2), RUN, "Lakes", "lakes", n, (texts, number, texts))


def read(chart: Chart) -> ET.Element:
    return ET.fromstring(draw(chart, key="c1"))  # noqa: S314  # our own words


def test_charts_of_rows_have_a_chart_for_each_column_of_numbers_and_a_finding_for_each_point() -> None:
    rows = [row(1, "Baikal", 1642, "a"), row(2, "Superior", 406.5, "b", "x - y"), row(3, "Ladoga", None)]
    [chart] = charts_of(COLUMNS, rows, {"a": 7})
    assert (chart.title, chart.axis, chart.left_out) == ("depth", "depth", 0)
    assert chart.points == (Point("Baikal", 1642.0, 7), Point("Superior", 406.5, None, "x - y"))
    assert charts_of(COLUMNS, rows[:1], {}) == [], "one value is no chart"
    [long] = charts_of(COLUMNS, [row(n, f"Lake {n}", n, "a") for n in range(40)], {"a": 7})
    assert (len(long.points), long.left_out) == (POINTS_MAX, 40 - POINTS_MAX)


def test_a_chart_has_title_axis_and_links_with_names() -> None:
    svg = read(Chart("Depth in metres", "depth", (Point("Baikal", 1642, 7), Point("Superior", 406, None))))
    assert svg.findtext(f"{SVG}title") == "Depth in metres"
    assert "1 of them, drawn in outline" in (svg.findtext(f"{SVG}desc") or "")
    assert svg.get("aria-labelledby") == "c1-title c1-about"
    [link] = svg.findall(f"{SVG}a")
    assert (link.get("href"), link.findtext(f"{SVG}title")) == ("#f7", "Baikal: 1,642, finding 7")
    texts = {text.get("class"): text.text for text in svg.iter(f"{SVG}text")}
    assert texts["name"] == "depth"
    ticks = [text.text for text in svg.iter(f"{SVG}text") if text.get("class") == "tick"]
    assert ticks == ["0", "500", "1,000", "1,500", "2,000"]
    widths = [float(bar.get("width", 0)) for bar in svg.iter(f"{SVG}rect")]
    assert widths[0] / widths[1] == pytest.approx(1642 / 406, rel=0.01)


def test_hostile_words_stay_words() -> None:
    chart = Chart(HOSTILE, HOSTILE, (Point(HOSTILE, 1, 1, HOSTILE), Point(HOSTILE, -2)))
    text = draw(chart, key="c1")
    svg = read(chart)
    names = {element.tag.removeprefix(SVG) for element in svg.iter()}
    assert names <= {"svg", "title", "desc", "line", "text", "a", "g", "rect"}
    assert {name for element in svg.iter() for name in element.attrib if name.startswith("on")} == set()
    assert "<script" not in text
    assert svg.findtext(f"{SVG}title") == HOSTILE


def test_a_chart_has_no_colour_of_its_own_and_loads_nothing() -> None:
    text = draw(Chart("Depth", "depth", (Point("Baikal", 1, 1), Point("Superior", 2, 2))), key="c1")
    assert not any(
        word in text for word in ("style=", "fill=", "stroke=", "<style", "<script", "<image", "url(")
    )


NUMBERS = st.floats(-1e100, 1e100).map(lambda value: value if abs(value) >= 1e-100 else 0.0)


@pytest.mark.hypothesis
@settings(max_examples=200, deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=POINTS_MAX))
def test_every_bar_lies_within_the_axis(values: list[float]) -> None:
    ticks = axis_ticks(values)
    assert ticks[0] <= min(0.0, *values) and ticks[-1] >= max(0.0, *values)
    assert all(first < second for first, second in pairwise(ticks))
    assert len(ticks) <= 12
    svg = read(Chart("t", "a", tuple(Point(str(n), value) for n, value in enumerate(values))))
    for bar in svg.iter(f"{SVG}rect"):
        x, width = float(bar.get("x", -1)), float(bar.get("width", -1))
        assert x >= 209.9
        assert x + width <= 637.1


@pytest.mark.parametrize(
    ("value", "text"),
    [(1642, "1,642"), (0.25, "0.25"), (-3, "-3"), (0, "0"), (1.2e21, "1.2e+21"), (1e-7, "1e-07"), (2.0, "2")],
)
def test_numbers_are_written_for_readers(value: float, text: str) -> None:
    assert number_text(value) == text


def test_values_that_no_axis_can_show_are_counted() -> None:
    points = (Point("nan", float("nan")), Point("inf", float("inf")), Point("tiny", 5e-324), Point("a", 1, 1))
    svg = read(Chart("t", "a", points))
    assert len(list(svg.iter(f"{SVG}rect"))) == 1
    assert "3 more are not drawn" in (svg.findtext(f"{SVG}desc") or "")
