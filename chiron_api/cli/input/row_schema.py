"""Columns from the JSON schema of a row."""

import json
from pathlib import Path
from typing import Any

from chiron_workers.errors import UsageError
from chiron_workers.runs.columns import Column, checked_columns, type_of
from chiron_workers.states import ColumnType

BYTES_MAX = 1024 * 1024
ROW_KEYWORDS = {
    "$schema",
    "$id",
    "title",
    "description",
    "type",
    "properties",
    "required",
    "additionalProperties",
}
COLUMN_KEYWORDS = {"type", "format", "title", "description"}
FORMATS = {"date": ColumnType.DATE, "uri": ColumnType.URL, "url": ColumnType.URL}


def read_schema(file: Path) -> tuple[Column, ...]:
    """The columns that a JSON schema of a row describes: one for each of its properties.

    Raises:
        UsageError: The file cannot be read, or says what no column can be held to.
    """
    document = _document(file)
    if unknown := sorted(document.keys() - ROW_KEYWORDS):
        raise UsageError(
            f"{file}: {unknown[0]!r} is not known here; the schema of a row has type and properties."
        )
    properties = document.get("properties")
    if document.get("type", "object") != "object" or not isinstance(properties, dict):
        raise UsageError(
            f"{file}: a row is an object; its schema has properties, each of which makes a column."
        )
    try:
        return checked_columns([_column(str(name), schema) for name, schema in properties.items()])
    except UsageError as error:
        raise UsageError(f"{file}: {error}") from None


def _document(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as stream:
            data = stream.read(BYTES_MAX + 1)
        document = json.loads(data.decode("utf-8-sig")) if len(data) <= BYTES_MAX else None
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{file}: this is no JSON.") from None
    if len(data) > BYTES_MAX:
        raise UsageError(f"{file} is larger than {BYTES_MAX // 1024**2} MB.")
    if not isinstance(document, dict):
        raise UsageError(f"{file}: a JSON schema is an object.")
    return document


def _column(name: str, schema: Any) -> Column:
    if not isinstance(schema, dict):
        raise UsageError(f"{name[:60]}: the schema of a column is an object.")
    if unknown := sorted(schema.keys() - COLUMN_KEYWORDS):
        raise UsageError(
            f"{name[:60]}: {unknown[0]!r} is not known here; a column has type, format (date or uri) and description."
        )
    words = schema.get("description", schema.get("title", ""))
    return Column(name, _type(name, schema), words if isinstance(words, str) else "")


def _type(name: str, schema: dict[str, Any]) -> ColumnType:
    types = schema.get("type", "string")
    # Every cell may be empty, whether the schema says so or not.
    words = [word for word in (types if isinstance(types, list) else [types]) if word != "null"]
    if len(words) != 1 or not isinstance(words[0], str):
        raise UsageError(f"{name[:60]}: a column has one type beside null.")
    kind = type_of(words[0], name)
    if "format" not in schema:
        return kind
    if kind is not ColumnType.TEXT or str(schema["format"]) not in FORMATS:
        raise UsageError(
            f"{name[:60]}: the format of a text is date or uri (got {str(schema['format'])[:60]!r})."
        )
    return FORMATS[str(schema["format"])]
