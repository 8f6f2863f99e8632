"""Exported knowledge as CSV: a row for each assertion, the first of a fact with what belongs to the fact alone."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, cast

from chiron_api.text import as_json
from chiron_api.transfer.records import AssertionRecord, SourceRecord
from chiron_workers.knowledge.report_rows import address

Record = Mapping[str, Any]

# Columns, and what the records call what stands in them.
SUBJECT = {"subject_title": "title", "subject_purpose": "purpose_statement", "subject_depth": "target_depth"}
SOURCE = {
    f"source_{name}": name
    for name in SourceRecord.model_fields
    if name not in {"kind", "url", "hash", "text", "authors"}
}
FACT = (
    "topic_path",
    "status",
    "confidence",
    "superseded_by",
    "contradictions",
    "validated_at",
    "fact_created_at",
    "changes",
    "links",
)
ASSERTION = [name for name in AssertionRecord.model_fields if name != "id"]
COLUMNS = ("fact_id", "assertion_id", "subject_id", *ASSERTION, *FACT, *SOURCE, *SUBJECT)
# A spreadsheet takes a cell that begins like this for a formula and may run it; an apostrophe in front makes it text. One that
# parts cells at another separator than the comma, as many countries have it, ends a cell within ours.
SEPARATORS = ";,|\t\r\n\v\f\x85\u2028\u2029；，｜"
SIGNS = "=+@'＝＋－＠＇\\-"
FORMULA = re.compile(rf"(^|[{SEPARATORS}])(?=[ \"\xa0\u3000]*[{SIGNS}])")
BLANK_START = re.compile(r"^(?=[\t\r\n])")


def guarded(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula, nor any part of it behind another separator."""
    return BLANK_START.sub("'", FORMULA.sub(r"\1'", cell))


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
        columns = {name: fact[name] for name in FACT if name in fact} | {
            "fact_created_at": fact["created_at"]
        }
        columns |= _renamed(self.subjects.pop(fact["subject_id"], {}), SUBJECT)
        assertions = cast("list[Record]", fact["assertions"])
        for n, assertion in enumerate(assertions):
            place = (address(str(assertion["source_url"])), assertion["snapshot_hash"])
            values = {
                "fact_id": fact["id"],
                "assertion_id": assertion["id"],
                "subject_id": fact["subject_id"],
            }
            values |= {name: assertion[name] for name in ASSERTION}
            values |= _renamed(self.sources.get(place, {}), SOURCE) | (columns if n == 0 else {})
            yield [_cell(values.get(name)) for name in COLUMNS]


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
