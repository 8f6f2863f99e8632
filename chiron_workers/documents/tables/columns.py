"""Typed DuckDB relations of delimited text. Types are found here: DuckDB's own sniffer may leave rows out."""

import csv
import io
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chiron_workers.documents.document import UnreadableError, import_optional

COLUMNS_MAX = 2_000
SAMPLE_ROWS = 2_000  # They rule out most types before all rows are checked.
NOTED_ROWS = 1_000  # whose cells have a form that a note names
DIGITS_MAX = 38  # of a decimal of DuckDB
NAMES_MAX = 5  # of columns in a note
TEXT, DECIMAL, DOUBLE = "VARCHAR", "DECIMAL", "DOUBLE"
# Candidate types, narrowest first, with the condition that each cell must meet: casting to the type and back gives
# the same text, so that 007, +49 and 1E2 stay text; or the text has a form that people write.
TYPES = {
    "BIGINT": "try_cast({c} as bigint)::varchar = {c}",
    "HUGEINT": "try_cast({c} as hugeint)::varchar = {c}",
    # With which digits a second look tells.
    DECIMAL: "regexp_full_match({c}, '-?(0|[1-9][0-9]*)?([.][0-9]+)?') and length({c}) <= 39 and {c} not in ('', '-')",
    # An exponent needs a sign or a decimal point beside it: 1E2 is the number of a room, too.
    DOUBLE: "(try_cast({c} as double)::varchar in ({c}, {c} || '.0', replace({c}, '.', '0.'))"
    " or isfinite(try_cast({c} as double)) and (try_cast({c} as double) != 0 or regexp_matches({c}, '^[-0.]+([eE]|$)'))"
    " and length({c}) <= 20 and regexp_full_match({c},"
    " '-?((0|[1-9][0-9]*)[.][0-9]+[eE][+-]?|[1-9][0-9]*[eE][+-])[0-9]{{1,3}}'))"
    " and regexp_full_match({c}, '-?(0|[1-9][0-9]*)?([.][0-9]+)?([eE][+-]?[0-9]{{1,3}})?')",
    "BOOLEAN": "lower({c}) in ('true', 'false')",
    "DATE": "try_cast({c} as date)::varchar = {c}",
    "TIMESTAMP": "try_cast({c} as timestamp) is not null and (try_cast({c} as date)::varchar = {c}"
    " or regexp_full_match({c}, '[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[ T][0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}([.][0-9]{{1,6}})?)?'))",
}
FLOATING_FIRST = ("BIGINT", "HUGEINT", DOUBLE, DECIMAL, "BOOLEAN", "DATE", "TIMESTAMP")
# Forms of numbers that are text here, with a sign that one cell has at least, and what a note says of them.
COMMA_GROUPS = "[+-]?[0-9]{1,3}(,[0-9]{3})+([.][0-9]+)?|[+-]?[0-9]{1,3}([.][0-9]+)?"
DOT_GROUPS = "[+-]?[1-9][0-9]{0,2}([.][0-9]{3})+|[+-]?[0-9]{1,3}|[+-]?[0-9.]*,[0-9]+"
FORMS = {
    COMMA_GROUPS: (",", "numbers with commas between groups of digits, so that 1,500 is 1500"),
    DOT_GROUPS: (
        "[.,]",
        "numbers with commas before decimals or dots between groups of digits, so that 1.500 may be 1500",
    ),
    "[+-]?[0-9.,]+ ?%": ("%", "percentages"),
    "-?[0-9]+([.][0-9]+)?": (
        "[.]",
        "numbers that end in zeros, as those of versions, so that 1.10 may not be 1.1",
    ),
}
GROUPS = "[+-]?[1-9][0-9]{0,2}([.][0-9]{3})+"

# Of a column of decimal numbers: digits behind the point, most and fewest, characters before it, and cells with a point.
DIGITS = (
    "max(length({c}) - instr({c}, '.')) filter (contains({c}, '.'))",
    "min(length({c}) - instr({c}, '.')) filter (contains({c}, '.'))",
    "max(if(contains({c}, '.'), instr({c}, '.') - 1, length({c})))",
    "count_if(contains({c}, '.'))",
)
# And where those are not alike: how many cells end in a zero behind the point, are not what a floating number gives back, and
# have points between groups of digits.
MIXED_DIGITS = (
    "count_if(contains({c}, '.') and ends_with({c}, '0'))",
    "count_if(try_cast({c} as double)::varchar not in ({c}, {c} || '.0', replace({c}, '.', '0.')))",
    f"count_if(regexp_full_match({{c}}, '{GROUPS.replace('{', '{{').replace('}', '}}')}'))",
)


@dataclass(frozen=True, slots=True)
class TypedTable:
    """A DuckDB relation with a type for each column, and notes on columns whose values may be meant otherwise."""

    relation: Any
    notes: tuple[str, ...] = ()


def rectangular_csv(rows: Callable[[], Iterable[Sequence[str]]]) -> bytes:
    """UTF-8 CSV of rows padded to the longest, without empty rows. Calls `rows` twice."""
    width = max((len(row) for row in rows()), default=0)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([*row, *[""] * (width - len(row))] for row in rows() if any(row))
    return out.getvalue().encode()


def typed_relation(
    database: Any,
    path: str,
    names: Sequence[str],
    delimiter: str = ",",
    *,
    group_columns: Collection[int] = (),
    is_floating: bool = False,
) -> TypedTable:
    """Read a CSV file with the narrowest type for each column that all its cells have; empty cells are null.

    Args:
        names: Those of the columns, in place of the first row.
        group_columns: Columns in which dots may stand between groups of digits, as in files with semicolons: 1.500 is text then.
        is_floating: Whether its numbers come from a sheet, where all are floating ones.

    Raises:
        UnreadableError: It has more than 2,000 columns.
        duckdb.Error: A row has more cells than the header, or fewer; or its quotes are wrong.
    """
    if len(names) > COLUMNS_MAX:
        raise UnreadableError(f"it has more than {COLUMNS_MAX:,} columns")
    columns = [f"c{n}" for n in range(len(names))]
    relation = database.read_csv(
        path, header=True, auto_detect=False, names=columns, dtype=[TEXT] * len(columns), delimiter=delimiter,
        quotechar='"', escapechar='"',
    )  # fmt: skip
    group_names = {columns[n] for n in group_columns if n < len(columns)}
    types = _types(relation, columns, group_names, is_floating=is_floating)
    unique = unique_names(names)
    column = import_optional("duckdb").ColumnExpression
    selection = relation.select(
        *(column(c).cast(types[c]).alias(name) for c, name in zip(columns, unique, strict=True))
    )
    texts = {c: name for c, name in zip(columns, unique, strict=True) if types[c] == TEXT}
    return TypedTable(selection, _notes(relation, texts, group_names))


def unique_names(names: Sequence[str]) -> list[str]:
    """Make names non-empty and unique regardless of case: `a, A,` becomes `a, A_2, column3`."""
    names_by_key: dict[str, str] = {}
    for n, name in enumerate(names, 1):
        base, copies = " ".join(name.split()) or f"column{n}", 1
        while (candidate := base if copies == 1 else f"{base}_{copies}").lower() in names_by_key:
            copies += 1
        names_by_key[candidate.lower()] = candidate
    return list(names_by_key.values())


def _types(
    relation: Any, columns: Sequence[str], group_names: Collection[str], *, is_floating: bool
) -> dict[str, str]:
    """The type of each column: the first candidate that all its cells have, text if there is none or no cell."""
    sample = relation.limit(SAMPLE_ROWS)
    candidates, digits = _fitting_types(sample, columns)
    if is_floating:  # Decimals are for the few that a floating number does not give back.
        candidates = {
            column: kinds if column in group_names else sorted(kinds, key=FLOATING_FIRST.index)
            for column, kinds in candidates.items()
        }
    mixed_columns = {
        column
        for column in columns
        if is_floating or column in group_names or digits[column][0] != digits[column][1]
    }
    types: dict[str, str] = {}
    # One candidate of each column at a time is checked against all rows: the narrowest is nearly always the one, and each
    # look at all rows parses the file.
    while heads := {
        column: kinds[0] for column, kinds in candidates.items() if kinds and column not in types
    }:
        for column, check in _checks(relation, heads, mixed_columns).items():
            if not check.fits:
                candidates[column] = candidates[column][1:]
            elif not check.cells:
                types[column] = TEXT
            elif not check.digits:
                types[column] = heads[column]
            elif kind := _decimal_type(
                check.digits, has_groups=column in group_names, is_floating=is_floating
            ):
                types[column] = kind
            else:
                mixed_columns.add(column)
    return {column: types.get(column, TEXT) for column in columns}


def _fitting_types(sample: Any, columns: Sequence[str]) -> tuple[dict[str, list[str]], dict[str, list[Any]]]:
    """For each column, the candidate types that all its cells have (all of them if it is empty), and the digits of decimals."""
    conditions = ["count({c})", *DIGITS, *(f"count_if({condition})" for condition in TYPES.values())]
    values = iter(
        _aggregate(sample, [condition.format(c=column) for column in columns for condition in conditions])
    )
    candidates, digits = {}, {}
    for column in columns:
        cells, digits[column] = next(values), [next(values) for _ in DIGITS]
        candidates[column] = [kind for kind in TYPES if next(values) == cells or not cells]
    return candidates, digits


@dataclass(frozen=True, slots=True)
class _Check:
    cells: int
    fits: bool
    digits: list[Any]


def _checks(relation: Any, heads: Mapping[str, str], mixed_columns: Collection[str]) -> dict[str, _Check]:
    """Whether all cells of each column have a type, and how many there are; of decimal numbers also their digits."""
    digits = {
        column: [*DIGITS, *(MIXED_DIGITS if column in mixed_columns else ())] if kind == DECIMAL else []
        for column, kind in heads.items()
    }
    expressions = [
        expression.format(c=column)
        for column, kind in heads.items()
        for expression in ("count({c})", f"count_if({TYPES[kind]})", *digits[column])
    ]
    values = iter(_aggregate(relation, expressions))
    checks = dict[str, _Check]()
    for column in heads:
        cells, matches = next(values), next(values)
        checks[column] = _Check(cells, matches == cells or not cells, [next(values) for _ in digits[column]])
    return checks


def _decimal_type(digits: Sequence[Any], *, has_groups: bool, is_floating: bool) -> str:
    """The decimal, floating or text type that keeps all values of decimal numbers; empty if it takes a second look to tell."""
    scale, fewest, whole, points, *mixed_digits = digits
    # A single cell does not tell that all have as many digits, and numbers of a sheet are floating ones.
    is_fixed = scale == fewest and points > 1 and not is_floating
    decimal = (
        f"DECIMAL({scale + max(whole, 1)}, {scale})" if scale and scale + max(whole, 1) <= DIGITS_MAX else ""
    )
    if not mixed_digits:
        return decimal if is_fixed else ""
    zeros, not_double, groups = mixed_digits
    if has_groups and points and points == groups:
        return TEXT
    if decimal and is_fixed:
        return decimal
    if not not_double:
        return DOUBLE
    return decimal if decimal and (scale == fewest or not zeros) else TEXT


def _notes(relation: Any, names: Mapping[str, str], group_names: Collection[str]) -> tuple[str, ...]:
    """Which columns of text hold numbers of a form that is not read, by their names."""
    forms = _forms(relation.limit(NOTED_ROWS), names, group_names) if names else {}
    # What tells numbers of a form from others may stand further below: 1.500 behind a thousand numbers up to 999.
    if unclear := {column: names[column] for column, form in forms.items() if not form}:
        forms |= _forms(relation, unclear, group_names)
    names_by_form: dict[str, list[str]] = {form: [] for form in FORMS}
    for column, form in forms.items():
        if form:
            names_by_form[form].append(names[column])
    return tuple(
        f"{_listed(labels)} {'stays' if len(labels) == 1 else 'stay'} text: {FORMS[form][1]}. Convert with replace and cast."
        for form, labels in names_by_form.items()
        if labels
    )


def _forms(relation: Any, columns: Iterable[str], group_names: Collection[str]) -> dict[str, str]:
    """The form of the numbers of each column whose cells all have one; empty if no cell has the sign that tells it."""
    expressions = [
        expression
        for column in columns
        for expression in (
            f"count({column})",
            *(f"count_if(regexp_full_match({column}, '{form}'))" for form in FORMS),
            *(f"count_if(regexp_matches({column}, '{sign}'))" for sign, _ in FORMS.values()),
        )
    ]
    counts = iter(_aggregate(relation, expressions))
    forms = dict[str, str]()
    for column in columns:
        cells = next(counts)
        matches, signs = ([next(counts) for _ in FORMS] for _ in range(2))
        fitting = {
            form: sign
            for form, match, sign in zip(FORMS, matches, signs, strict=True)
            if match == cells and not (form == COMMA_GROUPS and column in group_names)
        }
        if fitting:
            forms[column] = next((form for form, sign in fitting.items() if sign), "")
    return forms


def _listed(names: Sequence[str]) -> str:
    labels = ", ".join(f'"{name}"' for name in names[:NAMES_MAX])
    return labels if len(names) <= NAMES_MAX else f"{labels} and {len(names) - NAMES_MAX:,} more columns"


def _aggregate(relation: Any, expressions: Sequence[str]) -> tuple[Any, ...]:
    row: tuple[Any, ...] = relation.aggregate(", ".join(expressions)).fetchone()
    return row
