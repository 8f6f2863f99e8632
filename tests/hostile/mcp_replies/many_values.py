"""Structured content of hundreds of thousands of values, against a schema of many alternatives."""

SCHEMA = {
    "type": "object",
    "properties": {"x": {"type": "array", "items": {"anyOf": [{"const": n} for n in range(400)]}}},
}
RESULT = {"content": [], "structuredContent": {"x": [1] * 900_000}}
