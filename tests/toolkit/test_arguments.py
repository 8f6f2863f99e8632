"""Schema and validation say the same: what the schema allows is accepted, and what is accepted fits the schema."""

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field
from pydantic_core import to_jsonable_python
from typing_extensions import TypedDict

from chiron_workers.errors import ToolValidationError
from chiron_workers.toolkit import tool
from chiron_workers.toolkit.function_tool import FunctionTool, tool_of


class Depth(enum.Enum):
    SHALLOW = "shallow"
    DEEP = "deep"


class Span(BaseModel):
    begin: int
    end: int | None = None


@dataclass
class Node:
    title: str
    weights: list[float]
    children: list["Node"] = field(default_factory=list)


class Hit(TypedDict):
    url: str
    score: float


HINTS: dict[str, Any] = {
    "str": str,
    "short str": Annotated[str, Field(min_length=1, max_length=3)],
    "patterned str": Annotated[str, Field(pattern="^[a-z]+$")],
    "int": int,
    "bounded int": Annotated[int, Field(ge=1, le=50)],
    "float": float,
    "score": Annotated[float, Field(ge=0, le=1)],
    "above 0": Annotated[float, Field(gt=0)],
    "bool": bool,
    "Literal": Literal["hybrid", "vector", 3],
    "Enum": Depth,
    "Optional int": int | None,
    "Optional str": str | None,
    "int or str": int | str,
    "list": list[int],
    "short list": Annotated[list[str], Field(min_length=1, max_length=2)],
    "tuple": tuple[int, str],
    "set": set[int],
    "dict": dict[str, float],
    "model": Span,
    "Optional model": Span | None,
    "dataclass that contains itself": Node,
    "TypedDict": Hit,
    "list of models": list[Span],
    "dict of lists": dict[str, list[Depth]],
    "list or model": list[int] | Span,
    "any": dict[str, Any],
}

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.sampled_from(
    ["", "a", "abcd", "3", " 7 ", "1,000", "0.5", "true", "null", "Hybrid", "DEEP", "[1]", "{}"]
)
SCALARS = st.none() | st.booleans() | NUMBERS | st.integers(-2, 60) | st.text(max_size=5) | WORDS
KEYS = st.sampled_from(["begin", "end", "title", "weights", "children", "url", "score", "other"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@cache
def made(name: str) -> FunctionTool:
    def take(value: object) -> None:
        """Take a value."""

    take.__annotations__["value"] = HINTS[name]
    return tool_of(tool(take))


def valid(name: str) -> st.SearchStrategy[Any]:
    """JSON that the hint's schema allows."""
    spans = st.fixed_dictionaries({"begin": st.integers()}, optional={"end": st.none() | st.integers()})
    floats = st.floats(allow_nan=False, allow_infinity=False)
    nodes = st.recursive(
        st.fixed_dictionaries({"title": st.text(), "weights": st.lists(floats, max_size=2)}),
        lambda inner: st.fixed_dictionaries(
            {
                "title": st.text(),
                "weights": st.lists(floats, max_size=2),
                "children": st.lists(inner, max_size=2),
            }
        ),
        max_leaves=4,
    )
    depths = st.sampled_from(["shallow", "deep"])
    found: dict[str, Callable[[], st.SearchStrategy[Any]]] = {
        "str": st.text,
        "short str": lambda: st.text(min_size=1, max_size=3),
        "patterned str": lambda: st.from_regex(r"\A[a-z]+\Z"),
        "int": st.integers,
        "bounded int": lambda: st.integers(1, 50),
        "float": lambda: floats | st.integers(-(2**53), 2**53),
        "score": lambda: st.floats(0, 1) | st.integers(0, 1),
        "above 0": lambda: st.floats(0, exclude_min=True, allow_infinity=False),
        "bool": st.booleans,
        "Literal": lambda: st.sampled_from(["hybrid", "vector", 3]),
        "Enum": lambda: depths,
        "Optional int": lambda: st.none() | st.integers(),
        "Optional str": lambda: st.none() | st.text(),
        "int or str": lambda: st.integers() | st.text(),
        "list": lambda: st.lists(st.integers()),
        "short list": lambda: st.lists(st.text(), min_size=1, max_size=2),
        "tuple": lambda: st.tuples(st.integers(), st.text()).map(list),
        "set": lambda: st.lists(st.integers(), unique=True),
        "dict": lambda: st.dictionaries(st.text(), floats),
        "model": lambda: spans,
        "Optional model": lambda: st.none() | spans,
        "dataclass that contains itself": lambda: nodes,
        "TypedDict": lambda: st.fixed_dictionaries({"url": st.text(), "score": floats}),
        "list of models": lambda: st.lists(spans, max_size=3),
        "dict of lists": lambda: st.dictionaries(st.text(), st.lists(depths, max_size=2), max_size=2),
        "list or model": lambda: st.lists(st.integers()) | spans,
        "any": lambda: st.dictionaries(st.text(), VALUES, max_size=3),
    }
    return found[name]()


@pytest.mark.parametrize("name", HINTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_what_the_schema_allows_is_accepted(name: str, data: st.DataObject) -> None:
    value = data.draw(valid(name))
    Draft202012Validator(made(name).input_schema).validate({"value": value})
    made(name).validate({"value": value})


@pytest.mark.parametrize("name", HINTS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=VALUES)
def test_what_the_schema_forbids_is_mended_or_refused_with_the_field(name: str, value: Any) -> None:
    schema = Draft202012Validator(made(name).input_schema)
    try:
        taken = made(name).validate({"value": value})
    except ToolValidationError as error:
        assert not schema.is_valid({"value": value}), f"allowed, and refused: {error}"
        assert error.field.startswith("value")
        assert str(error).startswith("value")
    else:
        mended = {"value": to_jsonable_python(taken["value"])}
        assert schema.is_valid(mended), f"{value!r} was taken as {mended['value']!r}"
