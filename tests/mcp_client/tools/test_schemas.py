import json
import math
import time
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from chiron_workers.errors import ToolValidationError
from chiron_workers.mcp_client.tools.arguments import validate_arguments
from chiron_workers.mcp_client.tools.schemas import UnusableSchema, clean_schema, without_patterns
from chiron_workers.mcp_client.tools.validator import SchemaValidator
from chiron_workers.toolkit.coercion import Coercion

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "items",
                    "enum",
                    "required",
                    "$ref",
                    "anyOf",
                    "allOf",
                    "pattern",
                    "not",
                    "a",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


def arguments(schema: dict[str, Any], given: Any) -> dict[str, Any]:
    return validate_arguments("t", SchemaValidator.for_schema(without_patterns(clean_schema(schema))), given)


def refusal(schema: dict[str, Any], given: Any) -> str:
    with pytest.raises(ToolValidationError) as caught:
        arguments(schema, given)
    return str(caught.value)


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@given(
    schema=st.dictionaries(st.text(max_size=5), anything, max_size=4)
    | st.fixed_dictionaries({"properties": anything})
)
def test_whatever_a_server_sends_becomes_a_valid_schema_or_is_refused(schema: dict[str, Any]):
    try:
        found = clean_schema(schema)
    except UnusableSchema:
        return
    Draft202012Validator.check_schema(found)
    json.dumps(found, allow_nan=False)
    assert found["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf", "$ref", "$defs"} & found.keys()
    without_patterns(found)


@given(values=st.dictionaries(st.sampled_from("abc"), anything, max_size=3))
def test_whatever_a_model_sends_is_accepted_or_refused_with_a_field(values: dict[str, Any]):
    schema = of(
        a={"type": ["integer", "null"]},
        b={"anyOf": [{"type": "array"}, {"enum": ["x"]}]},
        c={"type": "string"},
    )
    try:
        found = arguments(schema, values)
    except ToolValidationError as error:
        assert error.field
    else:
        assert Draft202012Validator(schema).is_valid(found)


def test_references_are_written_out_and_one_that_contains_itself_ends():
    tree = {
        "type": "object",
        "properties": {"name": {"$ref": "#/$defs/Name"}, "child": {"$ref": "#/$defs/Tree"}},
    }
    schema = {**of(tree={"$ref": "#/$defs/Tree"}), "$defs": {"Tree": tree, "Name": {"type": "string"}}}
    found = clean_schema(schema)
    inner = found["properties"]["tree"]["properties"]
    assert inner["name"] == {"type": "string"}
    assert "$ref" not in json.dumps(found)
    assert arguments(schema, {"tree": {"child": {"child": {"name": "x"}}}})


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string"}, 'must be an object, not "string"'),
        (of(**{f"field{n}": {"description": "x" * 900} for n in range(50)}), "bytes"),
        (of(**{f"f{n}": {} for n in range(3000)}), "more than 2,000 parts"),
        (of(**{"a b": {"type": "string"}}), "'a b'"),
        (
            {
                **of(x={"$ref": "#/$defs/d0"}),
                "$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 9} for n in range(9)},
            },
            "more than 2,000 parts",
        ),
    ],
)
def test_what_cannot_be_offered_is_refused_with_the_reason(schema: dict[str, Any], words: str):
    began = time.monotonic()
    with pytest.raises(UnusableSchema, match=words.replace("(", r"\(")):
        clean_schema(schema)
    assert time.monotonic() - began < 20


def test_older_drafts_and_wrong_keywords_are_mended():
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        **of(
            pair={"type": "array", "items": [{"type": "integer"}, {"type": "string"}]},
            above={"type": "number", "minimum": 1, "exclusiveMinimum": True, "required": True},
            odd={"type": "colour", "pattern": "[", "minLength": -1, "enum": []},
            maybe={"type": "string", "nullable": True},
        ),
    }
    found = clean_schema(schema)["properties"]
    assert found == {
        "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
        "above": {"type": "number", "exclusiveMinimum": 1},
        "odd": {},
        "maybe": {"type": ["string", "null"]},
    }


def test_alternatives_at_the_top_become_the_properties_of_all():
    by_id, by_name = ({**of(**{key: {"type": "string"}}), "required": [key]} for key in ("id", "name"))
    found = clean_schema({"type": "object", "oneOf": [by_id, by_name]})
    assert found == {"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}}}
    assert clean_schema({"allOf": [by_id, by_name]})["required"] == ["id", "name"]


def test_a_pattern_that_takes_for_ever_holds_nobody_up():
    began = time.monotonic()
    assert arguments(of(x={"type": "string", "pattern": "^(a+)+$"}), {"x": "a" * 40 + "!"})
    assert time.monotonic() - began < 20


def test_a_check_that_would_take_long_is_left_to_the_server():
    schema = of(x={"type": "array", "items": {"anyOf": [{"const": n} for n in range(900)]}})
    began = time.monotonic()
    assert len(arguments(schema, {"x": ["nowhere"] * 50_000})["x"]) == 50_000
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("schema", "sent", "meant"),
    [
        ({"type": "integer"}, "3", 3),
        ({"type": "number"}, "2.5", 2.5),
        ({"type": "boolean"}, "True", True),
        ({"type": "string"}, 7, "7"),
        ({"type": "array", "items": {"type": "integer"}}, '["1", 2]', [1, 2]),
        (of(n={"type": "integer"}), '{"n": "4"}', {"n": 4}),
        ({"type": ["integer", "null"]}, "null", None),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "5", 5),
        ({"enum": ["Fast", "Slow"]}, "fast", "Fast"),
        ({}, "3", "3"),
    ],
)
def test_arguments_are_taken_as_they_were_meant(schema: dict[str, Any], sent: Any, meant: Any):
    assert arguments(of(x=schema), {"x": sent}) == {"x": meant}


CIRCLE = of(kind={"const": "circle"}, radius={"type": "integer"}) | {"required": ["kind", "radius"]}
SQUARE = of(kind={"const": "square"}, side={"type": "number"}, filled={"type": "boolean"}) | {
    "required": ["side"]
}
SHAPES = {"oneOf": [CIRCLE, SQUARE]}


@pytest.mark.parametrize(
    ("schema", "sent", "meant"),
    [
        (of(side={"type": "number"}), {"side": "3"}, {"side": 3}),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"a": "3", "b": "4"}, {"a": 3, "b": 4}),
        ({"type": "object", "additionalProperties": SQUARE}, {"a": {"side": "3"}}, {"a": {"side": 3}}),
        ({"allOf": [of(a={"type": "integer"}), of(b={"type": "boolean"})]}, {"a": "3", "b": "true"}, {"a": 3, "b": True}),
        (SHAPES, {"kind": "circle", "radius": "3"}, {"kind": "circle", "radius": 3}),
        (SHAPES, {"kind": "square", "side": "3", "filled": "true"}, {"kind": "square", "side": 3, "filled": True}),
        (SHAPES, '{"kind": "square", "side": "3"}', {"kind": "square", "side": 3}),
        ({"anyOf": [CIRCLE, SQUARE, {"type": "null"}]}, {"side": "3"}, {"side": 3}),
        ({"anyOf": [{"type": "string"}, SQUARE]}, {"side": "3"}, {"side": 3}),
        ({"type": "array", "items": SHAPES}, [{"side": "3"}], [{"side": 3}]),
        ({"anyOf": [of(a=CIRCLE) | {"required": ["a"]}, of(a=SQUARE)]}, {"a": {"side": "3"}}, {"a": {"side": 3}}),
    ],
)  # fmt: skip
def test_values_inside_an_object_are_taken_as_they_were_meant(schema: dict[str, Any], sent: Any, meant: Any):
    assert arguments(of(shape=schema), {"shape": sent}) == {"shape": meant}


def test_an_object_that_fits_no_alternative_is_refused_with_its_field():
    assert refusal(of(shape=SHAPES), {"shape": {"kind": "circle", "side": "wide"}}).startswith(
        "shape: must be"
    )


def test_alternatives_within_alternatives_are_tried_in_steps_that_add_up_and_do_not_multiply():
    schema, value = of(n={"type": "integer"}) | {"required": ["n"]}, {"n": "3"}
    for _ in range(7):
        schema, value = {"anyOf": [{"type": "object", "required": ["x"]}, of(a=schema)]}, {"a": value}
    steps = Coercion()
    with patch.object(Coercion, "_fits", autospec=True, side_effect=Coercion._fits) as fits:
        assert steps.value(value, schema)["a"]["a"]["a"]["a"]["a"]["a"]["a"] == {"n": 3}
    assert fits.call_count < 200


def test_null_for_what_may_be_left_out_is_left_out():
    assert arguments(of(x={"type": "integer"}), {"x": None}) == {}


def test_what_is_wrong_is_one_line_for_each_field():
    schema = {
        **of(n={"type": "integer", "minimum": 1}, mode={"enum": ["a", "b"]}, deep=of(list={"type": "array"})),
        "required": ["n", "mode"],
        "additionalProperties": False,
    }
    assert refusal(schema, {"n": "x", "mood": "a", "deep": {"list": 5}}).splitlines() == [
        "n: must be a whole number at least 1 (got 'x')",
        "deep.list: must be a list (got 5)",
        "mode: is required (one of a|b)",
        "mood: is not known; did you mean mode?",
    ]
    assert refusal(schema, "no JSON") == "arguments: must be an object (got 'no JSON')"


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_keywords_with_numbers_that_json_does_not_have_are_dropped(number: float):
    schema = of(
        a={"type": "number", "minimum": number, "maximum": 5, "multipleOf": number, "default": number},
        b={"enum": ["x", {"deep": [number]}], "const": [number], "default": {"deep": number}},
        c={"anyOf": [{"exclusiveMaximum": number}, {"type": "array", "items": {"minimum": number}}]},
    )
    found = clean_schema(schema)
    assert found["properties"]["a"] == {"type": "number", "maximum": 5}
    assert found["properties"]["b"] == {}
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("words", [r"\ud800", r"a\udfffb"])
def test_arguments_in_a_text_that_utf_8_cannot_hold_are_refused_with_their_field(words: str):
    schema = of(f={"type": "object"}, ok={"type": "string"})
    assert refusal(schema, {"ok": "x", "f": f'{{"q": ["{words}"]}}'}).startswith("f: ")
    assert refusal(schema, {"f": f'{{"{words}": 1}}'}).startswith("f: ")
    assert refusal({"type": "object"}, f'{{"g": "{words}"}}').startswith("g: ")


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_arguments_in_a_text_with_numbers_that_json_does_not_have_are_refused(number: str):
    assert refusal(of(f={"type": "object"}), {"f": f'{{"q": {number}}}'}).startswith("f: ")
