"""Text in columns as a DuckDB relation whose columns have types. DuckDB's own look at a file may leave rows out."""

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.optional import import_optional

COLUMNS_MAX = 2_000
SAMPLE_ROWS = 10_000  # rule out most types before all rows are looked at
TEXT = "VARCHAR"
# The types that a column of text may have, narrowest first, and what holds of each cell then: written again it reads
# the same, so that 007 and 1e5 stay what they are; else it has the form that people write.
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
    """Rows as UTF-8 CSV, all as long as the longest; empty ones are left out. They are gone through twice."""
    width = max((len(row) for row in rows()), default=0)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([*row, *[""] * (width - len(row))] for row in rows() if any(row))
    return out.getvalue().encode()


def typed_relation(database: Any, path: str, header: Sequence[str], delimiter: str = ",") -> Any:
    """A CSV file as a relation: each column with the narrowest type that all its cells have, empty cells as null.

    Args:
        header: The first row, which is no row of the table but names its columns.

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
    possible = _fitting(relation.limit(SAMPLE_ROWS), [list(TYPES)] * len(names))
    types = [kinds[0] if 0 < len(kinds) < len(TYPES) else TEXT for kinds in _fitting(relation, possible)]
    column = import_optional("duckdb").ColumnExpression
    return relation.select(
        *(
            column(c).cast(kind).alias(name)
            for c, kind, name in zip(names, types, unique_names(header), strict=True)
        )
    )


def unique_names(names: Sequence[str]) -> list[str]:
    """Names with none empty and none twice, also if case is ignored: `a, A,` becomes `a, A_2, column3`."""
    found: dict[str, str] = {}
    for n, name in enumerate(names, 1):
        wanted, copies = " ".join(name.split()) or f"column{n}", 1
        while (candidate := wanted if copies == 1 else f"{wanted}_{copies}").lower() in found:
            copies += 1
        found[candidate.lower()] = candidate
    return list(found.values())


def _fitting(relation: Any, possible: Sequence[Sequence[str]]) -> list[list[str]]:
    """Of the types that are possible for each column, those that all its cells have: all of them where it is empty."""
    asked = [
        expression
        for n, kinds in enumerate(possible)
        for expression in (f"count(c{n})", *(f"count_if({TYPES[kind].format(c=f'c{n}')})" for kind in kinds))
    ]
    counts = iter(relation.aggregate(", ".join(asked)).fetchone())
    found = []
    for kinds in possible:
        cells = next(counts)
        fits = [next(counts) == cells for _ in kinds]
        found.append([kind for kind, fit in zip(kinds, fits, strict=True) if fit or not cells])
    return found
