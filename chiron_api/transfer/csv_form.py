"""Exported knowledge as CSV: a row for each assertion, the first of a fact with what belongs to the fact alone."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, cast

from chiron_api.text import as_json
from chiron_workers.errors import UsageError
from chiron_workers.knowledge.report_rows import address

Record = Mapping[str, Any]

# Columns, and what the records call what stands in them.
SUBJECT = {"subject_title": "title", "subject_purpose": "purpose_statement", "subject_depth": "target_depth"}
SOURCE = {
    "source_title": "title", "source_author": "author", "source_licence": "licence", "source_published_at": "published_at",
    "source_fetched_at": "fetched_at", "source_content_type": "content_type",
}  # fmt: skip
FACT = (
    "topic_path",
    "status",
    "confidence",
    "contradictions",
    "validated_at",
    "fact_created_at",
    "changes",
    "links",
)
ASSERTION = (
    "content", "quote", "quote_state", "quote_start", "quote_end", "source_url", "source_score", "claimed_confidence",
    "snapshot_hash", "created_at",
)  # fmt: skip
COLUMNS = ("fact_id", "assertion_id", "subject_id", *ASSERTION, *FACT, *SOURCE, *SUBJECT)
IN_JSON = ("contradictions", "changes", "links")
FIELD_CHARS_MAX = 50_000_000
# A spreadsheet takes what begins like this for a formula, and may run it; an apostrophe makes it text. One that was there
# before gets another, so that exactly one is taken away again.
GUARDED = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "＝", "＋", "－", "＠")


def guarded(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(GUARDED) else cell


def unguarded(cell: str) -> str:
    """The cell that was guarded."""
    return cell.removeprefix("'")


class CsvWriter:
    """Turns records into rows; subjects and sources fill the rows of the facts that come after them."""

    def __init__(self) -> None:
        self.subjects: dict[object, Record] = {}
        self.sources: dict[tuple[object, object], Record] = {}

    def head(self) -> str:
        """The line with the names of the columns."""
        return _line(COLUMNS)

    def rows(self, record: Record) -> str:
        """The rows of a record; none for one that is no fact."""
        match record["kind"]:
            case "subject":
                self.subjects[record["subject_id"]] = record
            case "source":
                self.sources[record["url"], record["hash"]] = record
            case "fact":
                return "".join(_line(row) for row in self._rows(record))
        return ""

    def _rows(self, fact: Record) -> Iterator[list[str]]:
        own = {name: fact[name] for name in FACT if name in fact} | {"fact_created_at": fact["created_at"]}
        own |= _renamed(self.subjects.pop(fact["subject_id"], {}), SUBJECT)
        assertions = cast("list[Record]", fact["assertions"])
        for n, assertion in enumerate(assertions):
            place = (address(str(assertion["source_url"])), assertion["snapshot_hash"])
            values = {
                "fact_id": fact["id"],
                "assertion_id": assertion["id"],
                "subject_id": fact["subject_id"],
            }
            values |= {name: assertion[name] for name in ASSERTION}
            values |= _renamed(self.sources.get(place, {}), SOURCE) | (own if n == 0 else {})
            yield [_cell(values.get(name)) for name in COLUMNS]


def read_rows(file: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records of a CSV file, each with the number of the line it begins on, not checked yet.

    Raises:
        UsageError: It is no such CSV file, or the rows of a fact are apart.
    """
    csv.field_size_limit(FIELD_CHARS_MAX)
    reader = csv.reader(file, strict=True)
    try:
        names = next(reader, [])
        if set(names) != set(COLUMNS):
            odd = sorted(set(names) ^ set(COLUMNS))
            raise UsageError(f"Line 1: these columns are missing or unknown: {', '.join(odd)[:300]}.")
        yield from _records(reader, names)
    except csv.Error as error:
        raise UsageError(f"Line {reader.line_num}: it is no CSV: {error}.") from None


def _records(reader: Any, names: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    begins, fact, seen = 2, dict[str, Any](), set[str]()
    line = 2
    for cells in reader:
        if len(cells) != len(names):
            raise UsageError(f"Line {line}: it has {len(cells)} cells where there are {len(names)} columns.")
        row = {name: unguarded(cell) for name, cell in zip(names, cells, strict=True)}
        if row["fact_id"] != fact.get("id"):
            if fact:
                yield begins, fact
            if row["fact_id"] in seen:
                raise UsageError(
                    f"Line {line}: the rows of fact {row['fact_id']:.40} are apart; sort the file by fact_id."
                )
            seen.add(row["fact_id"])
            begins, fact = line, _fact(row, line)
        yield from ((line, record) for record in _around(row))
        fact["assertions"].append({"id": row["assertion_id"], **_values(row, ASSERTION)})
        line = reader.line_num + 1
    if fact:
        yield begins, fact


def _fact(row: dict[str, str], line: int) -> dict[str, Any]:
    values = _values(row, FACT)
    for name in IN_JSON:
        try:
            values[name] = json.loads(row[name] or "[]")
        except (ValueError, RecursionError):
            raise UsageError(f"Line {line}: {name} is no JSON.") from None
    created_at = values.pop("fact_created_at", None)
    return {
        "kind": "fact",
        "id": row["fact_id"],
        "subject_id": row["subject_id"],
        "created_at": created_at,
        "assertions": [],
        **values,
    }


def _around(row: dict[str, str]) -> Iterator[dict[str, Any]]:
    if row["subject_title"]:
        values = {name: row[column] or None for column, name in SUBJECT.items()}
        yield {
            "kind": "subject",
            "subject_id": row["subject_id"],
            **{name: value for name, value in values.items() if value},
        }
    if row["snapshot_hash"] and row["source_fetched_at"]:
        values = {name: row[column] or None for column, name in SOURCE.items()}
        place = {"url": address(row["source_url"]), "hash": row["snapshot_hash"]}
        yield {"kind": "source", **place, **{name: value for name, value in values.items() if value}}


def _values(row: dict[str, str], names: Iterable[str]) -> dict[str, Any]:
    return {name: row[name] for name in names if row[name] != ""}


def _renamed(record: Record, columns: Mapping[str, str]) -> dict[str, object]:
    return {column: record.get(name) for column, name in columns.items()}


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case str():
            return guarded(value)
        case list():
            return guarded(as_json(value))
        case datetime():
            return value.isoformat()
    return str(value)


def _line(cells: Iterable[str]) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue()
