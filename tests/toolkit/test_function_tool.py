from dataclasses import dataclass
from enum import Enum, StrEnum
from textwrap import indent
from typing import Annotated, Any, Literal, NewType
from uuid import UUID, uuid4

import pytest
from pydantic import BaseModel, Field

from chiron_workers.errors import ToolRegistrationError, ToolValidationError
from chiron_workers.toolkit import Tool, tool
from chiron_workers.toolkit.function_tool import tool_of

SubjectId = NewType("SubjectId", str)


class Depth(StrEnum):
    SHALLOW = "shallow"
    DEEP = "deep"


class Level(Enum):
    LOW = 1
    HIGH = 2


class Node(BaseModel):
    title: str
    weight: Annotated[float, Field(ge=0, le=1)] = 0.5
    children: list["Node"] = []


class Span(BaseModel):
    """Where a quote stands."""

    start: int
    end: int | None = None


@dataclass
class Point:
    x: float
    y: float = 0.0


@tool
async def everything(
    store: object,
    *,
    query: str,
    subject_id: SubjectId,
    node_id: UUID | None = None,
    top_k: Annotated[int, Field(ge=1, le=50)] = 5,
    mode: Literal["hybrid", "vector", "keyword"] = "hybrid",
    depth: Depth = Depth.SHALLOW,
    level: Level | None = None,
    score: float = 0.0,
    exact: bool = False,
    tags: list[str] | None = None,
    counts: dict[str, int] | None = None,
    span: Span | None = None,
    target: int | list[int] | None = None,
) -> dict[str, Any]:
    """Find facts.

    Best first, at most `top_k`.

    Args:
        store: The knowledge.
        query: What you want to know,
            in your own words.
        top_k: How many facts at most.
        span: Where to look.

    Returns:
        What was found.
    """
    return {"query": query}


REQUIRED = {"query": "q", "subject_id": "s"}


def validated(**arguments: Any) -> dict[str, Any]:
    return tool_of(everything).validate(REQUIRED | arguments)


def problem(**arguments: Any) -> str:
    with pytest.raises(ToolValidationError) as caught:
        validated(**arguments)
    assert caught.value.tool == "everything"
    return str(caught.value)


def test_the_definition_has_the_format_of_the_messages_api():
    definition = tool_of(everything).definition()
    assert set(definition) == {"name", "description", "input_schema"}
    assert definition["name"] == "everything"
    assert definition["description"] == (
        "Find facts.\n\nBest first, at most `top_k`.\n\nReturns: What was found."
    )


def test_a_one_line_description_has_one_blank_line_before_what_it_returns():
    @tool
    def count() -> int:
        """Count.

        Returns:
            How many.
        """
        return 1

    assert tool_of(count).description == "Count.\n\nReturns: How many."


@pytest.mark.parametrize(
    "returns",
    [
        "kelvin: the melting point at normal pressure.",
        "cancelled: runs that ended at once; asked: runs that will.",
        "kelvin: the melting point.\ncelsius: the same.",
        "status (stored; candidate: out of sight), fact_id.",
        "What was found: nothing.",
    ],
)
def test_what_is_returned_keeps_its_name(returns: str):
    def measure() -> int:
        return 1

    measure.__doc__ = "Measure.\n\nReturns:\n" + indent(returns, "    ")
    assert tool_of(tool(measure)).description == f"Measure.\n\nReturns: {returns}"


def test_the_schema_says_what_the_hints_and_the_docstring_say():
    schema = tool_of(everything).input_schema
    assert schema["type"] == "object"
    assert schema["required"] == ["query", "subject_id"]
    assert schema["additionalProperties"] is False
    fields = schema["properties"]
    assert "store" not in fields
    assert fields["query"] == {
        "type": "string",
        "description": "What you want to know,\nin your own words.",
    }
    assert fields["top_k"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 50,
        "default": 5,
        "description": "How many facts at most.",
    }
    assert fields["subject_id"] == {"type": "string"}
    assert fields["mode"]["enum"] == ["hybrid", "vector", "keyword"]
    assert fields["depth"] == {"enum": ["shallow", "deep"], "type": "string", "default": "shallow"}
    assert fields["node_id"]["anyOf"] == [{"type": "string", "format": "uuid"}, {"type": "null"}]
    assert fields["exact"] == {"type": "boolean", "default": False}
    assert fields["tags"]["anyOf"][0] == {"type": "array", "items": {"type": "string"}}


def test_models_are_written_out_in_place_and_closed():
    schema = tool_of(everything).input_schema
    assert "$defs" not in schema
    assert schema["properties"]["span"] == {
        "anyOf": [
            {
                "type": "object",
                "description": "Where a quote stands.",
                "properties": {
                    "start": {"type": "integer"},
                    "end": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
                },
                "required": ["start"],
                "additionalProperties": False,
            },
            {"type": "null"},
        ],
        "default": None,
        "description": "Where to look.",
    }


def test_a_field_called_title_keeps_its_place_and_a_recursive_model_its_definition():
    @tool
    def grow(*, node: Node) -> str:
        """Grow a node."""
        return node.title

    schema = tool_of(grow).input_schema
    assert schema["properties"]["node"] == {"$ref": "#/$defs/Node"}
    node = schema["$defs"]["Node"]
    assert node["properties"]["title"] == {"type": "string"}
    assert node["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    assert node["additionalProperties"] is False
    with pytest.raises(ToolValidationError) as caught:
        tool_of(grow).validate({"node": {"title": "a", "children": [{"title": "b", "weight": 2}]}})
    assert str(caught.value) == "node.children[0].weight: must be a number from 0 to 1 (got 2)"


@pytest.mark.parametrize(
    ("name", "sent", "meant"),
    [
        ("top_k", "3", 3),
        ("top_k", " 3 ", 3),
        ("top_k", 3.0, 3),
        ("score", "1,000", 1000.0),
        ("score", "1,000.5", 1000.5),
        ("exact", "true", True),
        ("exact", "No", False),
        ("query", 2024, "2024"),
        ("mode", "Hybrid", "hybrid"),
        ("mode", " VECTOR ", "vector"),
        ("depth", "DEEP", Depth.DEEP),
        ("level", "high", Level.HIGH),
        ("level", "1", Level.LOW),
        ("level", 2, Level.HIGH),
        ("tags", '["a", "b"]', ["a", "b"]),
        ("tags", "null", None),
        ("tags", "", None),
        ("node_id", "null", None),
        ("counts", '{"a": "1,000"}', {"a": 1000}),
        ("span", '{"start": "4"}', Span(start=4)),
        ("span", {"start": 1, "end": "null"}, Span(start=1)),
        ("target", "[1, 2]", [1, 2]),
        ("target", "7", 7),
    ],
)
def test_arguments_are_taken_as_models_send_them(name, sent, meant):
    found = validated(**{name: sent})[name]
    assert found == meant
    assert type(found) is type(meant)


def test_an_id_arrives_as_a_uuid():
    node_id = uuid4()
    assert validated(node_id=str(node_id))["node_id"] == node_id


def test_null_for_an_argument_with_a_default_means_the_default():
    assert "top_k" not in validated(top_k=None)


@pytest.mark.parametrize(
    ("name", "sent", "line"),
    [
        ("mode", "zzz", "mode: must be one of hybrid|vector|keyword (got 'zzz')"),
        ("top_k", "many", "top_k: must be a whole number from 1 to 50 (got 'many')"),
        ("top_k", "٣", "top_k: must be a whole number from 1 to 50 (got '٣')"),
        ("top_k", 51, "top_k: must be a whole number from 1 to 50 (got 51)"),
        ("top_k", 1.5, "top_k: must be a whole number from 1 to 50 (got 1.5)"),
        ("score", "nan", "score: must be a finite number (got 'nan')"),
        ("score", float("inf"), "score: must be a finite number (got Infinity)"),
        ("exact", "maybe", "exact: must be true or false (got 'maybe')"),
        ("query", None, "query: must be a string (got null)"),
        ("query", ["q"], 'query: must be a string (got ["q"])'),
        ("tags", "a, b", "tags: must be a list (got 'a, b')"),
        ("tags", ["a", None], "tags[1]: must be a string (got null)"),
        ("counts", {"a": "x"}, "counts.a: must be a whole number (got 'x')"),
        ("depth", "wide", "depth: must be one of shallow|deep (got 'wide')"),
        ("level", "3", "level: must be one of 1|2 (got '3')"),
        ("node_id", "n1", "node_id: must be a UUID (got 'n1')"),
        ("span", {}, "span.start: is required (a whole number)"),
        ("span", {"start": 1, "stop": 2}, "span.stop: is not known; known are start, end"),
        ("span", "here", "span: must be an object (got 'here')"),
        ("target", "x", "target: must be a whole number or a list or null (got 'x')"),
        ("topk", 3, "topk: is not an argument; did you mean top_k?"),
    ],
)
def test_an_error_names_the_field_and_what_was_expected(name, sent, line):
    assert problem(**{name: sent}) == line


def test_all_problems_of_a_call_come_in_one_error():
    with pytest.raises(ToolValidationError) as caught:
        tool_of(everything).validate({"top_k": 0, "mode": "zzz", "query": "q"})
    assert str(caught.value).splitlines() == [
        "subject_id: is required (a string)",
        "top_k: must be a whole number from 1 to 50 (got 0)",
        "mode: must be one of hybrid|vector|keyword (got 'zzz')",
    ]
    assert caught.value.field == "subject_id"


def test_what_was_sent_is_cut_to_a_length():
    assert len(problem(mode="z" * 10_000)) < 200


def test_arguments_that_are_no_object_are_refused():
    with pytest.raises(ToolValidationError, match=r"arguments: must be an object \(got \[1\]\)"):
        tool_of(everything).validate([1])  # type: ignore[arg-type]


def test_dataclasses_and_constraints_of_text_work():
    @tool
    def place(point: Point, *, name: Annotated[str, Field(min_length=1)]) -> float:
        """Place a point."""
        return point.x

    found = tool_of(place)
    assert found.validate({"point": '{"x": "1"}', "name": "n"})["point"] == Point(1.0)
    with pytest.raises(ToolValidationError) as caught:
        found.validate({"point": {"x": "nan", "z": 1}, "name": ""})
    assert str(caught.value).splitlines() == [
        "point.x: must be a finite number (got 'nan')",
        "name: must be a string of at least 1 character (got '')",
    ]


def test_a_function_stays_the_function_it_was():
    @tool
    def double(number: int) -> int:
        """Double a number."""
        return 2 * number

    assert double(4) == 8


def test_any_arguments_are_refused_at_registration():
    def loose(*args: int) -> None:
        """Loose."""

    def looser(**options: int) -> None:
        """Looser."""

    for function in (loose, looser):
        with pytest.raises(ToolRegistrationError, match="takes any arguments") as caught:
            tool(function)
        assert caught.value.tool == function.__name__


def test_what_cannot_be_described_to_a_model_is_refused():
    def bare(number) -> None:  # type: ignore[no-untyped-def]
        """Bare."""

    def silent(number: int) -> None: ...

    def odd(store: Tool, number: object, *, lock: type[Any] | complex | Tool) -> None:
        """Odd."""

    with pytest.raises(ToolRegistrationError, match="`number` has no type hint"):
        tool(bare)
    with pytest.raises(ToolRegistrationError, match="no docstring"):
        tool(silent)
    with pytest.raises(ToolRegistrationError, match="hint of `lock`"):
        tool(odd)


def test_an_undecorated_function_is_no_tool():
    with pytest.raises(ToolRegistrationError, match="decorate it"):
        tool_of(len)


def test_a_number_stays_a_number_where_a_string_would_do_as_well():
    @tool
    def mixed(value: int | str, other: float | str) -> None:
        """Take either."""

    assert tool_of(mixed).validate({"value": 3, "other": 3}) == {"value": 3, "other": 3.0}
    assert tool_of(mixed).validate({"value": "3", "other": "x"}) == {"value": "3", "other": "x"}
