"""The columns of the rows that the runs of a batch hand in."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from chiron_workers.errors import UsageError
from chiron_workers.states import ColumnType

COLUMNS_MAX = 50
NAME_CHARS_MAX = 60
DESCRIPTION_CHARS_MAX = 500
TOPIC = "topic"  # the column that stands in front of those of every table
# Other words for the types, as JSON schema and people have them.
TYPE_WORDS = {kind.value: kind for kind in ColumnType} | {
    "string": ColumnType.TEXT,
    "str": ColumnType.TEXT,
    "integer": ColumnType.INT,
    "number": ColumnType.FLOAT,
    "boolean": ColumnType.BOOL,
    "uri": ColumnType.URL,
}
_NAME = re.compile(r"[^\W\d](?:[\w .-]*[\w.-])?")
_UNPRINTABLE = re.compile("[\0-\x08\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `description` says in words what belongs there."""

    name: str
    type: ColumnType = ColumnType.TEXT
    description: str = ""


def read_columns(text: str) -> tuple[Column, ...]:
    """The columns that a text such as "name, year:int, source" names; those without a type hold text.

    Raises:
        UsageError: It names none, or one that cannot be.
    """
    return checked_columns([read_column(part) for part in text.split(",")])


def read_column(text: str) -> Column:
    """The column that a text such as "year:int" names. Raises UsageError for a type that there is not."""
    name, colon, word = (part.strip() for part in text.partition(":"))
    return Column(name, type_of(word, name) if colon else ColumnType.TEXT)


def type_of(word: str, name: str) -> ColumnType:
    """The type that a word means. Raises UsageError where it means none."""
    if kind := TYPE_WORDS.get(word.casefold()):
        return kind
    raise UsageError(
        f"columns: {name[:60]!r} cannot be of the type {word[:60]!r}; the types are {', '.join(ColumnType)}."
    )


def checked_columns(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns as they are. Raises UsageError, saying what would be right, for those that no table can have."""
    if not 1 <= len(columns) <= COLUMNS_MAX:
        raise UsageError(f"columns: a table has between 1 and {COLUMNS_MAX} of them (got {len(columns):,}).")
    names: set[str] = set()
    for place, column in enumerate(columns, start=1):
        if refusal := _refusal(column, names):
            raise UsageError(f"columns: number {place} {refusal}")
        names.add(column.name.casefold())
    return tuple(columns)


def _refusal(column: Column, earlier_names: set[str]) -> str:
    name = column.name
    if not name:
        return "has no name. Write the names with commas between them, such as: name, year:int, source."
    if len(name) > NAME_CHARS_MAX:
        return f"has a name of {len(name):,} characters; {NAME_CHARS_MAX} are allowed."
    if not _NAME.fullmatch(name):
        return f"cannot be called {name!r}: a name begins with a letter and has letters, digits, spaces, _, - and dots."
    if name.casefold() in earlier_names:
        return f"is called {name!r}, as one before it is."
    if name.casefold() == TOPIC:
        return f"cannot be called {name!r}: the topic stands in front of the columns of every table."
    if len(column.description) > DESCRIPTION_CHARS_MAX or _UNPRINTABLE.search(column.description):
        return f"is described in more than {DESCRIPTION_CHARS_MAX} characters, or in some that are no text."
    return ""


def stored(columns: Sequence[Column]) -> list[dict[str, str]]:
    """Columns as a row of their batch keeps them."""
    return [asdict(column) for column in columns]


def columns_of(entries: Sequence[Mapping[str, Any]] | None) -> tuple[Column, ...]:
    """Columns from what a row of their batch keeps."""
    return tuple(Column(**{**entry, "type": ColumnType(entry["type"])}) for entry in entries or ())
