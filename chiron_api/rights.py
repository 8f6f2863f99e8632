"""What may be requested, and what a key needs for it: one table for the HTTP API, its client, the page and MCP."""

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache

from starlette.routing import compile_path

from chiron_api.acts.discovery import all_acts
from chiron_api.acts.operations import Operation
from chiron_workers.states import AccessScope

READ, SUBMIT = AccessScope.READ, AccessScope.SUBMIT
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
TOOL_ROUTE = "POST /v1/tools/{name}"


def _open(name: str, *faces: str, changes: bool = False) -> Operation:
    return Operation(name, None, faces, changes=changes)


def _read(name: str, *faces: str, is_owned: bool = False, costs_money: bool = False) -> Operation:
    return Operation(name, READ, faces, is_owned=is_owned, costs_money=costs_money)


def _change(name: str, *faces: str, **options: bool) -> Operation:
    return Operation(name, SUBMIT, faces, changes=True, **options)  # type: ignore[arg-type]  # flags alone


def _both(path: str, method: str = "POST") -> tuple[str, str]:
    """A path of the API that the page has as well."""
    return f"{method} /v1{path}", f"{method} {path}"


OPERATIONS = (
    *(act.operation for act in all_acts()),
    _open("service.health", "GET /healthz", "GET /readyz"),
    _open("assets.read", "GET /assets/{hash}/{name}"),
    _open("sessions.open", "GET /open", "POST /open"),
    _read("sessions.close", "POST /close"),
    _read("mcp.messages", "GET /mcp", "POST /mcp", "DELETE /mcp"),
    _read("service.metrics", "GET /metrics"),
    _read("service.document", "GET /openapi.json", "GET /docs"),
    _read("service.look", "GET /system", "GET /system/live"),
    _read("home.look", "GET /", "GET /live"),
    # Batches and runs.
    _read("batches.results", "GET /v1/batches/{id}/results", is_owned=True),
    _read("batches.estimate", "GET /submit", "POST /submit/estimate"),
    # Subjects, and what is known of them, which all who may read share.
    _read("subjects.active", "tool get_active_subject"),
    _change("subjects.documents", *_both("/subjects/{id}/documents")),
    # Learning.
    _read("subjects.learning", "GET /subjects/{id}/learn"),
    _read("quizzes.form", "GET /quizzes"),
    # Tools of agents that people call. What a tool needs is the same over HTTP and over MCP.
    Operation("tools.search", READ, ("tool web_search",), costs_money=True, reaches_out=True),
    Operation("tools.read_private", SUBMIT, ("tool file_reader", "tool data_table"), reads_private=True),
    Operation("tools.read_private", SUBMIT, ("tool web_fetch",), reads_private=True, reaches_out=True),
    _read("tools.calculate", "tool calculate"),
    _change("tools.call", "tool propose_change", "tool record_assessment"),
    _change("tools.call", "tool save_curriculum", "tool set_active_subject", is_repeatable=True),
    _change(
        "tools.call",
        "tool decide_proposal",
        "tool save_knowledge_node",
        "tool save_learning_goal",
        is_repeatable=True,
        replaces=True,
    ),
    _change("tools.call", "tool store_knowledge", costs_money=True, is_repeatable=True, reaches_out=True),
    # A tool that the operator has added may do all that a tool can do.
    Operation(
        "tools.call",
        SUBMIT,
        (TOOL_ROUTE,),
        changes=True,
        costs_money=True,
        reads_private=True,
        replaces=True,
        reaches_out=True,
    ),
)
_BY_FACE = {face: operation for operation in OPERATIONS for face in operation.faces}
_OWN_TOOL = _BY_FACE[TOOL_ROUTE]


def find(method: str, path: str) -> tuple[Operation, str] | None:
    """What a request is, by the path that it is routed by, and what that names; empty where the answer alone names it.

    None: no route takes it.
    """
    method = "GET" if method == "HEAD" else method
    for pattern, operation in _routes().get((method, _noun(path)), ()):
        if match := pattern.match(path):
            target = next(iter(match.groupdict().values()), "")
            return _of_agents_tool(target) if operation is _OWN_TOOL else operation, target
    return None


def of_route(method: str, template: str) -> Operation | None:
    """The operation of a route, by its template."""
    return _BY_FACE.get(f"{method} {template}")


def of_tool(name: str) -> Operation:
    """The operation of a tool that is called over MCP; one that the operator has added may do all that a tool can do."""
    return _BY_FACE.get(f"mcp {name}") or _of_agents_tool(name)


def _of_agents_tool(name: str) -> Operation:
    # Not those that MCP alone has: a tool that the operator has added may be called as one of them.
    return _BY_FACE.get(f"tool {name}", _OWN_TOOL)


def is_open(path: str) -> bool:
    """Whether a path is for everybody."""
    operations = [match[0] for method in ("GET", "POST") if (match := find(method, path))]
    return any(operation.scope is None for operation in operations)


def required_scope(method: str, path: str) -> AccessScope:
    """The smallest scope that a request needs; one that no route takes needs one as well."""
    if match := find(method, path):
        return match[0].scope or READ
    return READ if method in SAFE_METHODS else SUBMIT


def unlisted(routes: Iterable[tuple[str, str]]) -> list[str]:
    """The routes, each a method and a template, that the table does not have."""
    return sorted(f"{method} {template}" for method, template in routes if of_route(method, template) is None)


@cache
def _routes() -> dict[tuple[str, str], list[tuple[re.Pattern[str], Operation]]]:
    """The routes by method and noun, each as the router compiles it."""
    routes: dict[tuple[str, str], list[tuple[re.Pattern[str], Operation]]] = defaultdict(list)
    for face, operation in _BY_FACE.items():
        method, _, template = face.partition(" ")
        if template.startswith("/"):
            routes[method, _noun(template)].append((compile_path(template)[0], operation))
    return dict(routes)


def _noun(path: str) -> str:
    return path.removeprefix("/v1").strip("/").partition("/")[0]
