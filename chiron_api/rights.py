"""What may be requested, and what a key needs for it: one table for the HTTP API, its client, the page and MCP."""

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache

from starlette.routing import compile_path

from chiron_api.acts.discovery import all_acts
from chiron_api.acts.operations import Operation
from chiron_workers.states import AccessScope

READ, SUBMIT, ADMIN = AccessScope.READ, AccessScope.SUBMIT, AccessScope.ADMIN
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
TOOL_ROUTE = "POST /v1/tools/{name}"


def _open(name: str, *faces: str, changes: bool = False) -> Operation:
    return Operation(name, None, faces, changes=changes)


def _read(name: str, *faces: str, is_owned: bool = False, costs_money: bool = False) -> Operation:
    return Operation(name, READ, faces, is_owned=is_owned, costs_money=costs_money)


def _change(
    name: str, *faces: str, is_owned: bool = False, costs_money: bool = False, target: str = ""
) -> Operation:
    return Operation(
        name, SUBMIT, faces, changes=True, is_owned=is_owned, costs_money=costs_money, target=target
    )


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
    _read("batches.list", *_both("/batches", "GET")),
    _read(
        "batches.read",
        *_both("/batches/{id}", "GET"),
        "GET /v1/batches/{id}/events",
        "GET /batches/{id}/live",
        "resource chiron://batches/{id}",
        is_owned=True,
    ),
    _read("batches.results", "GET /v1/batches/{id}/results", is_owned=True),
    _read("batches.rows", *_both("/batches/{id}/rows", "GET"), is_owned=True),
    _read(
        "batches.report.read",
        *_both("/batches/{id}/report", "GET"),
        "GET /batches/{id}/report.{format}",
        "resource chiron://batches/{id}/report",
        is_owned=True,
    ),
    _read("batches.estimate", "GET /submit", "POST /submit/estimate"),
    _change(
        "batches.submit",
        "POST /v1/batches",
        "POST /submit",
        "mcp start_research",
        costs_money=True,
        target="batch_id",
    ),
    _change(
        "batches.report",
        *_both("/batches/{id}/report"),
        "mcp write_report",
        is_owned=True,
        costs_money=True,
        target="id",
    ),
    _change("batches.delete", "DELETE /v1/batches/{id}", is_owned=True),
    _read("runs.list", "GET /v1/runs"),
    _read(
        "runs.read",
        *_both("/runs/{id}", "GET"),
        "GET /v1/runs/{id}/events",
        "GET /runs/{id}/live",
        "GET /runs/{id}/calls/{call_id}",
        "mcp get_run",
        "resource chiron://runs/{id}",
        is_owned=True,
    ),
    _read("runs.rows", *_both("/runs/{id}/rows", "GET"), is_owned=True),
    _read(
        "runs.report.read",
        *_both("/runs/{id}/report", "GET"),
        "GET /runs/{id}/report.{format}",
        "mcp get_report",
        "resource chiron://runs/{id}/report",
        is_owned=True,
    ),
    _change("runs.submit", "POST /v1/runs", costs_money=True),
    _change(
        "runs.say", "POST /v1/runs/{id}/messages", "POST /runs/{id}/say", is_owned=True, costs_money=True
    ),
    _change("runs.report", *_both("/runs/{id}/report"), is_owned=True, costs_money=True),
    _change("runs.delete", "DELETE /v1/runs/{id}", is_owned=True),
    # Subjects, and what is known of them, which all who may read share.
    _read("subjects.list", *_both("/subjects", "GET"), "tool list_subjects"),
    _read("subjects.read", *_both("/subjects/{id}", "GET"), "tool get_learning_goal"),
    _read("subjects.active", "tool get_active_subject"),
    _read("subjects.facts", "GET /v1/subjects/{id}/facts"),
    _read("subjects.sources", "GET /v1/subjects/{id}/documents", "GET /subjects/{id}/sources"),
    _read("subjects.changes", "GET /v1/subjects/{id}/diff", "GET /subjects/{id}/changes"),
    _read(
        "subjects.report.read",
        *_both("/subjects/{id}/report", "GET"),
        "GET /subjects/{id}/report.{format}",
        "resource chiron://subjects/{id}/report",
    ),
    _read(
        "knowledge.search",
        "POST /v1/knowledge/search",
        "GET /search",
        "mcp search",
        "tool vector_search",
        "tool knowledge_base",
        costs_money=True,
    ),
    _read("rechecks.read", "GET /v1/rechecks/{id}"),
    _change("subjects.create", "POST /subjects"),
    _change("subjects.goal", "POST /subjects/{id}/goal"),
    _change("subjects.documents", *_both("/subjects/{id}/documents")),
    _change("subjects.recheck", *_both("/subjects/{id}/recheck")),
    _change(
        "subjects.check",
        "POST /v1/subjects/{id}/check",
        "mcp check_subject",
        costs_money=True,
        target="subject_id",
    ),
    _change("subjects.report", *_both("/subjects/{id}/report"), costs_money=True),
    # Learning.
    _read("subjects.learning", "GET /subjects/{id}/learn"),
    _read(
        "subjects.map",
        "GET /v1/subjects/{id}/map",
        "tool get_knowledge_tree",
        "tool get_knowledge_node",
        "resource chiron://subjects/{id}/map",
    ),
    _read(
        "lessons.list",
        "GET /v1/subjects/{id}/lessons",
        "mcp list_lessons",
        "resource chiron://subjects/{id}/lessons",
    ),
    _read(
        "lessons.read",
        *_both("/lessons/{id}", "GET"),
        "GET /lessons/{id}/lesson.{format}",
        "mcp get_lesson",
        "resource chiron://lessons/{id}",
    ),
    _read("quizzes.form", "GET /quizzes"),
    _change("subjects.lessons", *_both("/subjects/{id}/lessons"), costs_money=True),
    _change("lessons.order", "mcp order_lesson", costs_money=True, target="node"),
    # Subscriptions and webhooks.
    _read("subscriptions.list", "GET /v1/subscriptions"),
    _read(
        "subscriptions.read",
        "GET /v1/subscriptions/{id}",
        "GET /v1/subscriptions/{id}/times",
        is_owned=True,
    ),
    _change(
        "subscriptions.create",
        "POST /v1/subscriptions",
        "tool create_subscription",
        costs_money=True,
        target="subscription_id",
    ),
    _change("subscriptions.pause", "POST /v1/subscriptions/{id}/pause", is_owned=True),
    _change("subscriptions.resume", "POST /v1/subscriptions/{id}/resume", is_owned=True),
    _change("subscriptions.delete", "DELETE /v1/subscriptions/{id}", is_owned=True),
    _read("webhooks.list", "GET /v1/webhooks", "GET /deliveries"),
    _read("webhooks.read", "GET /v1/webhooks/{id}", "GET /v1/webhooks/{id}/deliveries", is_owned=True),
    _change("webhooks.create", "POST /v1/webhooks"),
    _change("webhooks.test", "POST /v1/webhooks/{id}/test", is_owned=True),
    _change("webhooks.delete", "DELETE /v1/webhooks/{id}", is_owned=True),
    _change("deliveries.resend", *_both("/deliveries/{id}/resend"), is_owned=True),
    # Tools of agents that people call. What a tool needs is the same over HTTP and over MCP.
    _read("tools.list", "GET /v1/tools", "GET /v1/skills"),
    _read("tools.search", "tool web_search", costs_money=True),
    Operation(
        "tools.read_private",
        SUBMIT,
        ("tool file_reader", "tool data_table", "tool web_fetch"),
        reads_private=True,
    ),
    _change(
        "tools.call",
        "tool decide_proposal",
        "tool propose_change",
        "tool record_assessment",
        "tool save_curriculum",
        "tool save_knowledge_node",
        "tool save_learning_goal",
        "tool set_active_subject",
    ),
    _change("tools.call", "tool store_knowledge", costs_money=True),
    # A tool that the operator has added may do all that a tool can do.
    Operation("tools.call", SUBMIT, (TOOL_ROUTE,), changes=True, costs_money=True, reads_private=True),
    # Keys.
    Operation("keys.list", ADMIN, _both("/keys", "GET")),
    Operation("audit.list", ADMIN, ("GET /v1/audit",)),
    Operation("keys.create", ADMIN, _both("/keys"), changes=True),
    Operation("keys.revoke", ADMIN, ("DELETE /v1/keys/{name}", "POST /keys/{name}/revoke"), changes=True),
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
