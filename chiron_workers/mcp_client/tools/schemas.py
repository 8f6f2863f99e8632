"""What servers say of their tools' arguments, made into schemas that the Messages API and our own checks can take.

A keyword that is not known, has the wrong type or points elsewhere is left out: the server checks its arguments itself,
and a schema here only helps the model to call it rightly. References are written out in place.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from chiron_workers.mcp_client.tools.schema_keywords import LISTS, PLAIN, SCHEMAS, modern

DEPTH_MAX = 24
NODES_MAX = 2_000  # after references are written out: a few definitions can stand for billions
BYTES_MAX = 32_768  # about 10,000 tokens, in every request of a run
PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")  # what the Messages API takes as the name of an argument
COMBINED = ("allOf", "anyOf", "oneOf")


class UnusableSchema(ValueError):
    """A tool cannot be offered with this schema; the message is a clause that says why."""


def usable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a tool's arguments: a plain object without references, of bounded size.

    Raises:
        UnusableSchema: It is no object, or it is too large.
    """
    found = _Cleaner(schema).schema(schema)
    if found.get("type", "object") != "object":
        raise UnusableSchema(f"its arguments must be an object, not {json.dumps(found['type'])}")
    _spread(found)
    found = {"type": "object", "properties": {}, **found}
    for name in found["properties"]:
        if not PROPERTY.fullmatch(name):
            raise UnusableSchema(f"an argument is named {name[:80]!r}")
    size = len(json.dumps(found).encode())
    if size > BYTES_MAX:
        raise UnusableSchema(f"its schema has {size:,} bytes; {BYTES_MAX:,} are the most")
    return found


def usable_output(schema: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The schema of a tool's results, or None where there is none that can be used."""
    if schema is None:
        return None
    try:
        return checkable(_Cleaner(schema).schema(schema))
    except UnusableSchema:
        return None


def checkable(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without patterns, since one written by somebody else can hold a whole worker up for hours.

    What would forbid more without them is loosened too.
    """
    found: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            found[key] = {name: checkable(inner) for name, inner in value.items()}
        elif key == "not" and value:
            continue
        elif key == "oneOf":
            found.setdefault("anyOf", [checkable(inner) for inner in value])
        elif key in SCHEMAS and isinstance(value, dict):
            found[key] = checkable(value)
        elif key in LISTS:
            found[key] = [checkable(inner) for inner in value]
        elif key != "pattern":
            found[key] = value
    return found


def _spread(schema: dict[str, Any]) -> None:
    """Alternatives at the top, which the Messages API refuses, become the properties of all of them."""
    parts = [(key, part) for key in COMBINED for part in schema.pop(key, [])]
    schema.pop("not", None)
    properties = dict(schema.get("properties", {}))
    for key, part in parts:
        for name, inner in part.get("properties", {}).items():
            properties.setdefault(name, inner)
        if key == "allOf":
            schema["required"] = [*schema.get("required", []), *part.get("required", [])]
        if part.get("additionalProperties") is not False:
            continue
        schema.pop("additionalProperties", None)
    if parts:
        schema["properties"] = properties
        if schema.get("additionalProperties") is False:
            del schema["additionalProperties"]
    if "required" in schema:
        known = dict.fromkeys(name for name in schema["required"] if name in properties)
        schema["required"] = list(known)


class _Cleaner:
    """One pass over one schema."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._nodes = 0

    def schema(self, node: object, opened: tuple[str, ...] = (), depth: int = 0) -> dict[str, Any]:
        self._nodes += 1
        if self._nodes > NODES_MAX:
            raise UnusableSchema(f"its schema has more than {NODES_MAX:,} parts")
        if node is False:
            return {"not": {}}
        if not isinstance(node, Mapping) or depth > DEPTH_MAX:
            return {}
        reference = node.get("$ref")
        if isinstance(reference, str):
            beside = {
                key: value for key, value in node.items() if key not in ("$ref", "$defs", "definitions")
            }
            target = self._target(reference)
            if reference in opened or not isinstance(
                target, Mapping
            ):  # it contains itself: anything goes there
                return self.schema(beside, opened, depth)
            return self.schema({**target, **beside}, (*opened, reference), depth + 1)
        return self._keywords(modern(node), opened, depth)

    def _keywords(self, node: Mapping[str, Any], opened: tuple[str, ...], depth: int) -> dict[str, Any]:
        def inner(value: object) -> dict[str, Any]:
            return self.schema(value, opened, depth + 1)

        found: dict[str, Any] = {}
        for key, value in node.items():
            if key in PLAIN:
                kept = PLAIN[key](value)
                if kept is not None:
                    found[key] = kept
            elif key == "properties" and isinstance(value, Mapping):
                found[key] = {str(name): inner(schema) for name, schema in value.items()}
            elif key in LISTS and isinstance(value, list) and value:
                found[key] = [inner(schema) for schema in value]
            elif key == "additionalProperties" and isinstance(value, bool):
                found[key] = value
            elif key in SCHEMAS and isinstance(value, bool | Mapping):
                found[key] = inner(value)
        return found

    def _target(self, reference: str) -> object:
        if reference == "#":
            return self._root
        if not reference.startswith("#/"):
            return None  # somewhere else: nothing is fetched for it
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
