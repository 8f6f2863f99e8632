"""The columns of rows, as whoever asks for them names them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the rows that a run is to hand in; `description` says in words what belongs there."""

    name: str
    type: Literal["text", "int", "float", "bool", "date", "url"] = "text"
    description: str = ""


def column_fields(columns: Sequence[str | Column] | None) -> list[object] | None:
    """Columns as a body has them."""
    if columns is None:
        return None
    return [asdict(column) if isinstance(column, Column) else column for column in columns]
