"""Schemas of servers, clean for the Messages API and for our own validation.

A keyword that is not known, has the wrong type or points elsewhere is left out: the server checks its arguments itself,
and the schema here only helps the model to call it rightly. References are replaced by their targets.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from chiron_workers.mcp_client.tools.schema_keywords import (
    SCHEMA_KEYWORDS,
    SCHEMA_LIST_KEYWORDS,
    VALUE_KEYWORDS,
    upgrade,
)

DEPTH_MAX = 24
NODES_MAX = 2_000  # after references are replaced: a few definitions can expand to billions
BYTES_MAX = 32_768  # about 10,000 tokens, in every request of a run
PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")  # the names of arguments that the Messages API accepts
COMBINATORS = ("allOf", "anyOf", "oneOf")


class UnusableSchema(ValueError):
    """A tool cannot be offered with this schema; the message is a clause that says why."""


def clean_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a tool's arguments: a plain object without references, of bounded size.

    Raises:
        UnusableSchema: It is no object, or it is too large.
    """
    clean = _Cleaner(schema).schema(schema)
    if clean.get("type", "object") != "object":
        raise UnusableSchema(f"its arguments must be an object, not {json.dumps(clean['type'])}")
    _merge_alternatives(clean)
    clean = {"type": "object", "properties": {}, **clean}
    for name in clean["properties"]:
        if not PROPERTY.fullmatch(name):
            raise UnusableSchema(f"an argument is named {name[:80]!r}")
    size = len(json.dumps(clean).encode())
    if size > BYTES_MAX:
        raise UnusableSchema(f"its schema has {size:,} bytes; {BYTES_MAX:,} are the most")
    return clean


def clean_output_schema(schema: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The schema of a tool's results, or None where there is none that can be used."""
    if schema is None:
        return None
    try:
        return without_patterns(_Cleaner(schema).schema(schema))
    except UnusableSchema:
        return None


def without_patterns(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without patterns, since a foreign one can hold a whole worker up for hours.

    Keywords that would forbid more without patterns, `not` and `oneOf`, are loosened.
    """
    safe_schema: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            safe_schema[key] = {name: without_patterns(member) for name, member in value.items()}
        elif key == "not" and value:
            continue
        elif key == "oneOf":
            safe_schema.setdefault("anyOf", [without_patterns(member) for member in value])
        elif key in SCHEMA_KEYWORDS and isinstance(value, dict):
            safe_schema[key] = without_patterns(value)
        elif key in SCHEMA_LIST_KEYWORDS:
            safe_schema[key] = [without_patterns(member) for member in value]
        elif key != "pattern":
            safe_schema[key] = value
    return safe_schema


def _merge_alternatives(schema: dict[str, Any]) -> None:
    """Replace alternatives at the top, which the Messages API refuses, by the properties of all of them."""
    parts = [(key, part) for key in COMBINATORS for part in schema.pop(key, [])]
    schema.pop("not", None)
    properties = dict(schema.get("properties", {}))
    for key, part in parts:
        for name, member in part.get("properties", {}).items():
            properties.setdefault(name, member)
        if key == "allOf":
            schema["required"] = [*schema.get("required", []), *part.get("required", [])]
        if part.get("additionalProperties") is False:
            schema.pop("additionalProperties", None)
    if parts:
        schema["properties"] = properties
        if schema.get("additionalProperties") is False:
            del schema["additionalProperties"]
    if "required" in schema:
        names = dict.fromkeys(name for name in schema["required"] if name in properties)
        schema["required"] = list(names)


class _Cleaner:
    """One pass over one schema, which counts its nodes."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._nodes = 0

    def schema(self, node: object, references: tuple[str, ...] = (), depth: int = 0) -> dict[str, Any]:
        self._nodes += 1
        if self._nodes > NODES_MAX:
            raise UnusableSchema(f"its schema has more than {NODES_MAX:,} parts")
        if node is False:
            return {"not": {}}
        if not isinstance(node, Mapping) or depth > DEPTH_MAX:
            return {}
        reference = node.get("$ref")
        if isinstance(reference, str):
            siblings = {
                key: value for key, value in node.items() if key not in ("$ref", "$defs", "definitions")
            }
            target = self._target(reference)
            if reference in references or not isinstance(target, Mapping):
                # A schema that contains itself ends here, where it allows anything.
                return self.schema(siblings, references, depth)
            return self.schema({**target, **siblings}, (*references, reference), depth + 1)
        return self._keywords(upgrade(node), references, depth)

    def _keywords(self, node: Mapping[str, Any], references: tuple[str, ...], depth: int) -> dict[str, Any]:
        def child(value: object) -> dict[str, Any]:
            return self.schema(value, references, depth + 1)

        keywords: dict[str, Any] = {}
        for key, value in node.items():
            if key in VALUE_KEYWORDS:
                clean_value = VALUE_KEYWORDS[key](value)
                if clean_value is not None:
                    keywords[key] = clean_value
            elif key == "properties" and isinstance(value, Mapping):
                keywords[key] = {str(name): child(schema) for name, schema in value.items()}
            elif key in SCHEMA_LIST_KEYWORDS and isinstance(value, list) and value:
                keywords[key] = [child(schema) for schema in value]
            elif key == "additionalProperties" and isinstance(value, bool):
                keywords[key] = value
            elif key in SCHEMA_KEYWORDS and isinstance(value, bool | Mapping):
                keywords[key] = child(value)
        return keywords

    def _target(self, reference: str) -> object:
        if reference == "#":
            return self._root
        if not reference.startswith("#/"):
            return None  # nothing is fetched from elsewhere
        node: object = self._root
        for step in reference[2:].split("/"):
            key = step.replace("~1", "/").replace("~0", "~")
            if isinstance(node, Mapping):
                node = node.get(key)
            elif isinstance(node, list) and key.isdecimal() and int(key) < len(node):
                node = node[int(key)]
            else:
                return None
        return node
