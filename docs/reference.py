"""The page docs/reference.md: tools, roles and kinds of events, asked of the code."""

from collections.abc import Iterator
from typing import Any

from chiron_workers.roles import Role, role_names, role_of
from chiron_workers.runs.event_fields import FIELDS
from chiron_workers.tools import registry

HEAD = """# Tools, roles and events

Written by `docs/generate.py` from the code. How to add a tool or a skill of your own is in [tools.md](tools.md) and
[skills.md](skills.md).

- [Tools](#tools) that agents are offered, with their arguments
- [Roles](#roles) that a run can have
- [Events](#events) that `chiron watch --json`, `chiron logs --json` and the streams of the [HTTP API](http.md) give
"""

TOOLS_HEAD = """
## Tools

`chiron tools` lists those of your installation, with what your folders and MCP servers add. Each can also be called over
`POST /v1/tools/{name}`, by MCP clients and from Python.
"""

ROLES_HEAD = """
## Roles

`chiron submit --role NAME` chooses one. A role is what its runs are told to be, what they are asked first, which tools they may
call, and by which tool they hand in their result. A run that stops without that result is reminded twice, and then
fails with the error `no_result`. A run of a role that says `researches = true` and that is offered `store_knowledge` is
reminded once if it answers its topic without having called a tool, and then fails with `no_tool_calls`.
"""

EVENTS_HEAD = """
## Events

An event is `{"batch_id", "run_id", "seq", "kind", "at", "data"}`. The numbers of a run's events (`seq`) have no gaps. A field
is left out of `data` where it has nothing to say.
"""


def parts() -> Iterator[str]:
    """The page, piece by piece."""
    yield HEAD
    yield TOOLS_HEAD
    for definition in registry().definitions():
        yield from _tool(definition)
    yield ROLES_HEAD
    for name in role_names():
        yield from _role(role_of(name))
    yield EVENTS_HEAD
    for kind, fields in FIELDS.items():
        rows = "".join(f"| `{field}` | {meaning} |\n" for field, meaning in fields.items())
        yield f"\n### {kind}\n\n| field | meaning |\n|---|---|\n{rows}"


def _role(role: Role) -> Iterator[str]:
    tools = ", ".join(f"`{name}`" for name in sorted(role.tools)) or "all that are for every role"
    result = f"a call of `{role.result}`" if role.result else "its answer"
    yield f"\n### {role.name}\n\nTools: {tools}. Result: {result}. First question: `{role.question}`\n"
    yield f"\n```text\n{role.prompt}\n```\n"


def _tool(definition: dict[str, Any]) -> Iterator[str]:
    description = definition["description"].replace("|", "\\|").strip()
    yield f"\n### {definition['name']}\n\n{description}\n"
    if roles := registry().get(definition["name"]).roles:
        yield f"\nOffered to runs of the role {', '.join(sorted(roles))} alone.\n"
    schema = definition["input_schema"]
    if rows := [_argument(schema, name, field) for name, field in schema.get("properties", {}).items()]:
        yield "\n| argument | type | meaning |\n|---|---|---|\n" + "".join(rows)


def _argument(schema: dict[str, Any], name: str, field: dict[str, Any]) -> str:
    note = " Required." if name in schema.get("required", ()) else ""
    if field.get("default") not in {None, ""}:
        note = f" Default: `{field['default']}`."
    meaning = " ".join(field.get("description", "").split()).replace("|", "\\|")
    return f"| `{name}` | {_type(field)} | {meaning}{note} |\n"


def _type(field: dict[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if "anyOf" in field:
        return " or ".join(_type(option) for option in field["anyOf"])
    if "$ref" in field:
        return "object"
    if field.get("type") == "array" and (items := field.get("items")):
        return f"list of {_type(items)}"
    return str(field.get("type", "any"))
