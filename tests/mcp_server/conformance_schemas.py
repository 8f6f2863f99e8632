"""The tools of the conformance suite whose schemas say what no type hint does."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from chiron_workers.store import Store
from chiron_workers.toolkit import Tool, tool


@tool
async def test_custom_headers(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
) -> str:
    """Tell what a header of the request says, too.

    Args:
        region: Where.
    """
    return region


class ReadySchema(Tool):
    """A tool that brings a schema of its own, with the vocabulary of JSON Schema 2020-12."""

    name = "json_schema_2020_12_tool"
    description = "Tool with JSON Schema 2020-12 features"
    input_schema: dict[str, Any] = {  # noqa: RUF012  # never changed
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contact": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["name"]}, {"required": ["contact"]}]}],
        "if": {"required": ["address"]},
        "then": {"required": ["name"]},
        "else": {"required": ["contact"]},
        "additionalProperties": False,
    }

    def validate(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return arguments

    async def run(self, store: Store, given: Mapping[str, Any]) -> str:
        return f"Called with {sorted(given)}"
