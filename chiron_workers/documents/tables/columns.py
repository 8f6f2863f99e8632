"""Typed DuckDB relations of delimited text. Types are found here: DuckDB's own sniffer may leave rows out."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from chiron_workers.documents.document import UnreadableError, import_optional

COLUMNS_MAX = 2_000
SAMPLE_ROWS = 10_000  # They rule out most types before all rows are checked.
TEXT = "VARCHAR"
# Candidate types, narrowest first, with the condition that each cell must meet: casting to the type and back gives
# the same text, so that 007 stays text; or the text has a form that people write.
TYPES = {
    "BIGINT": "try_cast({c} as bigint)::varchar = {c}",
    "DOUBLE": "try_cast({c} as double) is not null"
    " and regexp_full_match({c}, '[+-]?((0|[1-9][0-9]*)([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{{1,3}})?')",
    "BOOLEAN": "lower({c}) in ('true', 'false')",
    "DATE": "try_cast({c} as date)::varchar = {c}",
    "TIMESTAMP": "try_cast({c} as timestamp) is not null and (try_cast({c} as date)::varchar = {c}"
    " or regexp_full_match({c}, '[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[ T][0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}([.][0-9]{{1,6}})?)?'))",
}


def rectangular_csv(rows: Callable[[], Iterable[Sequence[str]]]) -> bytes:
    """UTF-8 CSV of rows padded to the longest, without empty rows. Calls `rows` twice."""
    width = max((len(row) for row in rows()), default=0)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([*row, *[""] * (width - len(row))] for row in rows() if any(row))
    return out.getvalue().encode()


def typed_relation(database: Any, path: str, header: Sequence[str], delimiter: str = ",") -> Any:
    """Read a CSV file with the narrowest type for each column that all its cells have; empty cells are null.

    Raises:
        UnreadableError: It has more than 2,000 columns.
        duckdb.Error: A row has more cells than the header, or fewer; or its quotes are wrong.
    """
    if len(header) > COLUMNS_MAX:
        raise UnreadableError(f"it has more than {COLUMNS_MAX:,} columns")
    names = [f"c{n}" for n in range(len(header))]
    relation = database.read_csv(
        path, header=True, auto_detect=False, names=names, dtype=[TEXT] * len(names), delimiter=delimiter,
        quotechar='"', escapechar='"',
    )  # fmt: skip
    candidates = _fitting_types(relation.limit(SAMPLE_ROWS), [list(TYPES)] * len(names))
    types = [
        kinds[0] if 0 < len(kinds) < len(TYPES) else TEXT for kinds in _fitting_types(relation, candidates)
    ]
    column = import_optional("duckdb").ColumnExpression
    return relation.select(
        *(
            column(c).cast(kind).alias(name)
            for c, kind, name in zip(names, types, unique_names(header), strict=True)
        )
    )


def unique_names(names: Sequence[str]) -> list[str]:
    """Make names non-empty and unique regardless of case: `a, A,` becomes `a, A_2, column3`."""
    names_by_key: dict[str, str] = {}
    for n, name in enumerate(names, 1):
        base, copies = " ".join(name.split()) or f"column{n}", 1
        while (candidate := base if copies == 1 else f"{base}_{copies}").lower() in names_by_key:
            copies += 1
        names_by_key[candidate.lower()] = candidate
    return list(names_by_key.values())


def _fitting_types(relation: Any, candidates: Sequence[Sequence[str]]) -> list[list[str]]:
    """For each column, the candidate types that all its cells have; all candidates if the column is empty."""
    expressions = [
        expression
        for n, kinds in enumerate(candidates)
        for expression in (f"count(c{n})", *(f"count_if({TYPES[kind].format(c=f'c{n}')})" for kind in kinds))
    ]
    counts = iter(relation.aggregate(", ".join(expressions)).fetchone())
    types_by_column = []
    for kinds in candidates:
        cells = next(counts)
        matches = [next(counts) == cells for _ in kinds]
        types_by_column.append(
            [kind for kind, fits_all in zip(kinds, matches, strict=True) if fits_all or not cells]
        )
    return types_by_column
