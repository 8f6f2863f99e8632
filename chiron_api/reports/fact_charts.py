"""Charts of numbers that findings state in the same words: "Lake Baikal is 1,642 m deep", "Lake Superior is 406 m deep".

Facts have no fields for numbers, so only statements with one number each are compared, whose other words differ
in names and the year alone. A unit is one of these words, so metres and feet never share an axis.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from chiron_api.reports.charts import POINTS_MAX, Chart, Point
from chiron_api.reports.phrasing import one_line
from chiron_api.reports.report import Finding
from chiron_api.text import cut
from chiron_workers.states import SHOWN_STATUSES

READ_MAX = 1_000  # findings
CHARS_MAX = 200  # of a statement
POINTS_MIN = 3
CHARTS_MAX = 6
TITLE_CHARS = 100
DIGIT = re.compile(r"\d")
# A number with the signs around it in its word: brackets, currencies, percent, the end of a clause.
WORD = re.compile(r"([(\[$€£¥]*)(-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)([%°℃)\],.;:]*)")
YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
AROUND_WORDS = "()[],.;:!?\"“”‘’'"
NAME, YEAR_PLACE, GAP = "<name>", "<year>", "…"
# A number after one of these words is a bound, or a part of a range or of a name, not a value.
BEFORE_NO_VALUE = frozenset(
    [
        "about", "approximately", "roughly", "nearly", "almost", "over", "under", "than", "least", "most", "between", "and", "to",
        "from", "or", "up", "around", "no", "nr", "number",
    ]
)  # fmt: skip
BEFORE_YEAR = frozenset(
    [
        "in", "since", "during", "until", "by", "year", "winter", "spring", "summer", "autumn", "fall", "january", "february",
        "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
    ]
)  # fmt: skip
AFTER_YEAR = frozenset(["the", "a", "an", "its", "was", "were", "is", "are", "had", "has"])
FIRST_WORDS = frozenset(
    ["in", "the", "a", "an", "at", "on", "by", "during", "since", "as", "its", "of", "for", "about"]
)


@dataclass(frozen=True, slots=True)
class _Statement:
    """The names and the year of a statement, the words that it shares with others, and its number."""

    label: str
    year: int | None
    words: tuple[str, ...]
    axis: str
    value: float
    finding: Finding


def charts_of_findings(findings: Sequence[Finding], other_charts: Iterable[Chart] = ()) -> tuple[Chart, ...]:
    """Chart statements that differ in names, year and number alone, at least three each; six charts at most, the largest first.

    Args:
        other_charts: Those of the rows; a value that they show is not drawn again.
    """
    chart_values = {(point.finding, point.value) for chart in other_charts for point in chart.points}
    groups: dict[tuple[str, ...], list[_Statement]] = defaultdict(list)
    for finding in findings[:READ_MAX]:
        if len(finding.content) <= CHARS_MAX and finding.status in SHOWN_STATUSES:
            statement = _read(finding)
            if statement and (finding.number, statement.value) not in chart_values:
                groups[statement.words].append(statement)
    charts = [chart for words, statements in groups.items() for chart in _charts(words, statements)]
    charts.sort(key=lambda chart: -(len(chart.points) + chart.left_out))
    return tuple(charts[:CHARTS_MAX])


@dataclass(slots=True)
class _Reader:
    """Reads a statement word by word."""

    names: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    value: float | None = None
    year: int | None = None
    axis_place: int = 0

    def add_word(self, token: str, *, is_first: bool) -> None:
        """Add a word. A capitalized one is a name, except for words that begin many sentences."""
        bare = token if token.isalpha() else token.strip(AROUND_WORDS)
        if is_first and bare.casefold() in FIRST_WORDS:
            self.words.append(bare.casefold())
        elif bare[:1].isupper():
            self.names.append(bare)
            if self.words[-1:] != [NAME]:
                self.words.append(NAME)
        else:
            self.words.append(token.rstrip(".,;:"))

    def add_number(self, match: re.Match[str], before: str, behind: str) -> bool:
        """Add a number between two words. Returns whether the statement can still be compared."""
        prefix, digits, suffix = match.groups()
        is_year = not prefix and YEAR.fullmatch(digits) and not suffix.startswith(("%", "°"))
        is_unit = behind[:1].islower() and behind not in AFTER_YEAR
        if is_year and self.year is None and (before.casefold() in BEFORE_YEAR or not is_unit):
            self.year = int(digits)
            self.words.append(YEAR_PLACE)
            return True
        if self.value is not None or before.casefold() in BEFORE_NO_VALUE or before[:1].isupper():
            return False
        self.value = float(digits.replace(",", ""))
        self.axis_place = len(self.words)
        self.words.append(f"{prefix}{GAP}{suffix.rstrip('.,;:')}")
        return True


def _read(finding: Finding) -> _Statement | None:
    """Parse a statement with one number and at most one year; None for any other."""
    if not DIGIT.search(finding.content):
        return None
    reader, tokens = _Reader(), one_line(finding.content).split(" ")
    for place, token in enumerate(tokens):
        if token.isalpha():
            reader.add_word(token, is_first=place == 0)
        elif match := WORD.fullmatch(token):
            before = tokens[place - 1] if place else ""
            if not reader.add_number(match, before, "".join(tokens[place + 1 : place + 2])):
                return None
        elif DIGIT.search(token):
            return None
        else:
            reader.add_word(token, is_first=place == 0)
    if reader.value is None:
        return None
    words = tuple(reader.words)
    axis = " ".join(words[reader.axis_place : reader.axis_place + 2]).replace(GAP, "").strip()
    return _Statement(" ".join(reader.names), reader.year, words, axis, reader.value, finding)


def _charts(words: tuple[str, ...], statements: Sequence[_Statement]) -> Iterator[Chart]:
    """A chart for each name with three years or more, and one of the other names."""
    by_label: dict[str, list[_Statement]] = defaultdict(list)
    for statement in statements:
        by_label[statement.label].append(statement)
    rest_statements = list[_Statement]()
    for label, part in by_label.items():
        years = {statement.year for statement in part if statement.year is not None}
        if len(years) >= POINTS_MIN:
            yield _chart(words, part, name=label)
        else:
            rest_statements += part
    if len({statement.label for statement in rest_statements}) >= POINTS_MIN:
        yield _chart(words, rest_statements)


def _chart(words: Sequence[str], statements: Sequence[_Statement], *, name: str | None = None) -> Chart:
    """A chart of the years of one name, or of several names, the largest first."""
    if name is None:
        sorted_statements = sorted(statements, key=lambda statement: -statement.value)
    else:
        sorted_statements = sorted(statements, key=lambda statement: (statement.year or 0, statement.value))
    points = tuple(
        Point(_label(statement, has_name=name is None), statement.value, statement.finding.number)
        for statement in sorted_statements[:POINTS_MAX]
    )
    texts = {NAME: name or GAP, YEAR_PLACE: GAP}
    title = " ".join(texts.get(word, word) for word in words)
    title = cut(title[:1].upper() + title[1:], TITLE_CHARS)
    return Chart(title, statements[0].axis, points, max(0, len(statements) - POINTS_MAX))


def _label(statement: _Statement, *, has_name: bool) -> str:
    year = str(statement.year) if statement.year is not None else ""
    return " ".join(part for part in (statement.label * has_name, year) if part)
