"""The table of docs/tools.md: what schema each Python type gives and what it accepts, asked of the toolkit itself."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from chiron_workers.errors import ToolValidationError
from chiron_workers.toolkit import tool
from chiron_workers.toolkit.function_tool import FunctionTool, tool_of


class Depth(Enum):  # noqa: D101  # what the table shows
    SHALLOW = "shallow"
    DEEP = "deep"


class Span(BaseModel):  # noqa: D101
    begin: int
    end: int | None = None


@dataclass
class Point:  # noqa: D101
    x: float
    y: float


class Hit(TypedDict):  # noqa: D101
    url: str


ID = "6f2c0d0e-0000-4000-8000-000000000001"
# Each with values as models send them: what is taken, and what is refused.
TYPES: list[tuple[str, Any, list[Any]]] = [
    ("str", str, ["tides", 42, None]),
    ("Annotated[str, Field(max_length=3)]", Annotated[str, Field(max_length=3)], ["abc", "abcd"]),
    ("int", int, [3, "3", 3.0, "1,000", True, 3.5, "three", "null"]),
    ("Annotated[int, Field(ge=1, le=50)]", Annotated[int, Field(ge=1, le=50)], [5, "5", 0]),
    ("float", float, [0.5, "0.5", 1, "nan", "half"]),
    ("bool", bool, [True, "true", "yes", 1, "maybe"]),
    ("int | None", int | None, [3, None, "null", "", "x"]),
    ('Literal["hybrid", "vector"]', Literal["hybrid", "vector"], ["hybrid", "Hybrid", "zzz"]),
    ("Enum", Depth, ["deep", "DEEP", "middle"]),
    ("list[int]", list[int], [[1, "2"], "[1, 2]", 1, [1, "x"]]),
    ("tuple[int, str]", tuple[int, str], [[1, "a"], [1]]),
    ("set[int]", set[int], [[1, 1, 2], "x"]),
    ("dict[str, float]", dict[str, float], [{"a": "0.5"}, '{"a": 1}', [1]]),
    ("dict[str, Any]", dict[str, Any], [{"a": [1, None]}, "x"]),
    ("BaseModel", Span, [{"begin": 1}, '{"begin": "1"}', {"begin": 1, "stop": 2}, {}]),
    ("dataclass", Point, [{"x": 1, "y": "2"}, {"x": 1}]),
    ("TypedDict", Hit, [{"url": "x"}, {"url": 1, "title": "t"}]),
    ("int | str", int | str, [3, "3", None]),
    ("date", date, ["2026-01-31", "31.1.2026"]),
    ("datetime", datetime, ["2026-01-31T12:00:00Z", "noon"]),
    ("UUID", UUID, [ID, "7"]),
]


def rows() -> Iterator[str]:
    """One line of Markdown for each type."""
    for written, hint, values in TYPES:
        found = _made(hint)
        taken, refused = [], []
        for value in values:
            try:
                result = found.validate({"value": value})["value"]
            except ToolValidationError as error:
                lines = str(error).replace("value.", "").replace("value[", "[").removeprefix("value: ")
                refused.append(f"{_code(value)}: {_cell(', '.join(lines.splitlines()))}")
            else:
                same = type(result) is type(value) and result == value
                taken.append(_code(value) if same else f"{_code(value)} → `{_cell(_short(result))}`")
        schema = json.dumps(found.input_schema["properties"]["value"])
        yield f"| `{_cell(written)}` | `{_cell(schema)}` | {', '.join(taken)} | {'; '.join(refused)} |\n"


def _made(hint: Any) -> FunctionTool:
    def take(value: object) -> None:
        """Take a value."""

    take.__annotations__["value"] = hint
    return tool_of(tool(take))


def _short(result: object) -> str:
    return repr(result).replace("datetime.", "").replace("__main__.", "")


def _code(value: object) -> str:
    return f"`{_cell(json.dumps(value))}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
