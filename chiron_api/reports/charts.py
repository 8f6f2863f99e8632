"""Charts of a report as SVG text: values on an axis, each point linked to its finding. It loads and runs nothing.

Colours are those of the page's style sheet, by name, so that a chart follows the light and the dark theme and the printer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from math import ceil, floor, log10

from chiron_api.text import cut, one_line

POINTS_MAX = 30
LABEL_CHARS = 28
TITLE_CHARS = 120
TICKS = 5
WIDTH = 720
MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP, MARGIN_BOTTOM = 210, 84, 40, 48
ROW = 26
STEPS = (1, 2, 5, 10)
SIZE_MIN, SIZE_MAX = 1e-100, 1e100


@dataclass(frozen=True, slots=True)
class Point:
    """A value with its label; `finding` is the number of its finding, None where the report has none."""

    label: str
    value: float
    finding: int | None = None
    note: str = ""  # how it was calculated


@dataclass(frozen=True, slots=True)
class Chart:
    """Points on one axis, named `axis`; `left_out` counts the points beyond `POINTS_MAX`."""

    title: str
    axis: str
    points: tuple[Point, ...]
    left_out: int = 0


def link_to_finding(finding: int) -> str:
    """The attributes of a link to a finding of the same page."""
    return f'href="#f{finding}"'


def draw(chart: Chart, *, key: str, link: Callable[[int], str] = link_to_finding) -> str:
    """The chart as one SVG element with a title, a description, an axis with its name, and a bar for each point.

    Args:
        key: A prefix that makes its ids unique in the page.
        link: The attributes of a link to a finding.
    """
    chart = drawable(chart)
    points = chart.points
    ticks = axis_ticks([point.value for point in points])
    height = MARGIN_TOP + ROW * len(points) + MARGIN_BOTTOM
    parts = [
        f'<svg class="chart" role="group" aria-labelledby="{key}-title {key}-about" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" xmlns="http://www.w3.org/2000/svg">\n'
        f'<title id="{key}-title">{escape(chart.title)}</title>\n<desc id="{key}-about">{escape(_about(chart))}</desc>\n',
        _axis(chart.axis, ticks, height),
        *(_bar(point, MARGIN_TOP + ROW * n, ticks, link) for n, point in enumerate(points)),
        "</svg>\n",
    ]
    return "".join(parts)


def drawable(chart: Chart) -> Chart:
    """The chart without points that an axis cannot show; `left_out` counts these."""
    points = tuple(point for point in chart.points if _is_drawable(point.value))
    return replace(chart, points=points, left_out=chart.left_out + len(chart.points) - len(points))


def axis_ticks(values: Sequence[float]) -> list[float]:
    """Round numbers at equal steps that span zero and all values: from two to a dozen."""
    low, high = (Fraction(pick((0.0, *values))) for pick in (min, max))
    span = high - low or Fraction(1)
    power = Fraction(10) ** floor(log10(float(span) / TICKS))
    step = next((power * factor for factor in STEPS if span <= TICKS * power * factor), power * 10)
    first, last = floor(low / step), ceil(high / step)
    return [float(n * step) for n in range(first, max(last, first + 1) + 1)]


def number_text(value: float) -> str:
    """A number for readers: 1,642; 0.25; 1.2e+21."""
    if value and not 1e-4 <= abs(value) < 1e15:
        return f"{value:.4g}"
    return f"{round(value, 4):,.4f}".rstrip("0").rstrip(".") if value != int(value) else f"{int(value):,}"


def _is_drawable(value: float) -> bool:
    """Whether floats can hold a value and the steps of its axis; nan and infinity are excluded."""
    return value == 0 or SIZE_MIN <= abs(value) <= SIZE_MAX


def _about(chart: Chart) -> str:
    unlinked_points = sum(point.finding is None for point in chart.points)
    sentences = [f"Bars of {len(chart.points)} values; each links to its finding."]
    if unlinked_points:
        sentences.append(f"{unlinked_points} of them, drawn in outline, rest on facts outside this report.")
    if chart.left_out:
        sentences.append(f"{chart.left_out:,} more are not drawn.")
    return " ".join(sentences)


def _axis(name: str, ticks: Sequence[float], height: int) -> str:
    bottom = height - MARGIN_BOTTOM
    lines = "".join(
        f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{MARGIN_TOP - 8}" y2="{bottom}"></line>'
        f'<text class="tick" x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{number_text(tick)}</text>\n'
        for tick in ticks
        for x in [_x(tick, ticks)]
    )
    zero = _x(0.0, ticks)
    middle = (MARGIN_LEFT + WIDTH - MARGIN_RIGHT) / 2
    words = escape(one_line(name)[:TITLE_CHARS])
    return (
        f"{lines}"
        f'<line class="axis" x1="{zero:.1f}" x2="{zero:.1f}" y1="{MARGIN_TOP - 8}" y2="{bottom}"></line>'
        f'<text class="name" x="{middle:.1f}" y="{height - 8}" text-anchor="middle">{words}</text>\n'
    )


def _bar(point: Point, y: int, ticks: Sequence[float], link: Callable[[int], str]) -> str:
    zero, end = _x(0.0, ticks), _x(point.value, ticks)
    value = number_text(point.value)
    words = f"{point.label[:TITLE_CHARS]}: {value}"
    place = f", finding {point.finding}" if point.finding is not None else ""
    note = f"\n{one_line(point.note)}" if point.note else ""
    kind = "bar" if point.finding is not None else "bar outline"
    is_left = point.value < 0
    value_x, anchor = (end - 6, "end") if is_left else (end + 6, "start")
    drawing = (
        f"<title>{escape(words + place + note)}</title>"
        f'<text class="label" x="{MARGIN_LEFT - 10}" y="{y + 14}" text-anchor="end" direction="{_direction(point.label)}">'
        f"{escape(cut(point.label, LABEL_CHARS))}</text>"
        f'<rect class="{kind}" x="{min(zero, end):.1f}" y="{y + 2}" width="{max(abs(end - zero), 1):.1f}" '
        f'height="{ROW - 10}" rx="2"></rect>'
        f'<text class="value" x="{value_x:.1f}" y="{y + 14}" text-anchor="{anchor}">{value}</text>'
    )
    if point.finding is None:
        return f'<g role="img" aria-label="{escape(words)}">{drawing}</g>\n'
    # Its title names it: a label without the words that are drawn would be another name than the one that is seen.
    return f"<a {link(point.finding)}>{drawing}</a>\n"


def _x(value: float, ticks: Sequence[float]) -> float:
    low, high = ticks[0], ticks[-1]
    # Halves, since the difference of two large floats may be none.
    share = (value / 2 - low / 2) / (high / 2 - low / 2)
    return MARGIN_LEFT + share * (WIDTH - MARGIN_LEFT - MARGIN_RIGHT)


def _direction(label: str) -> str:
    is_rtl = any("\u0590" <= sign <= "\u08ff" for sign in label)
    return "rtl" if is_rtl else "ltr"
