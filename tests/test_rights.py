"""The table of rights, held against all that can be requested: over HTTP, by the client, on the page and over MCP."""

import json
from collections import defaultdict

import pytest
from client.test_operations import ALL_CALLS
from starlette.routing import Route

from chiron_api.http import app
from chiron_api.http.app import build_app
from chiron_api.http.document import document
from chiron_api.mcp_server.instructions import hints_of
from chiron_api.mcp_server.resources import TEMPLATES
from chiron_api.mcp_server.tools import client_tools
from chiron_api.rights import OPERATIONS, find, of_route, of_tool
from chiron_workers.settings import Settings
from chiron_workers.states import AccessScope
from chiron_workers.tools import registry

# Where they ask hosted services, the budget of a key pays, and one that may only read and has none asks them nothing.
PAID_SEARCHES = {"knowledge.search", "tools.search"}
FACES = {face: operation for operation in OPERATIONS for face in operation.faces}


def test_the_table_has_every_route_tool_and_resource_and_nothing_else(settings: Settings) -> None:
    routes = {
        f"{method} {route.path}"
        for route in build_app(settings).routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    of_agents = {tool.name for tool in registry().all()}
    tools = {f"{'tool' if tool.name in of_agents else 'mcp'} {tool.name}" for tool in client_tools().all()}
    resources = {f"resource {address}" for address, *_ in TEMPLATES}
    transport = {f"{method} /mcp" for method in ("GET", "POST", "DELETE")}
    assert routes | tools | resources | transport == FACES.keys()
    assert sum(len(operation.faces) for operation in OPERATIONS) == len(FACES), "a face is of two operations"


def test_an_application_with_a_route_that_the_table_lacks_is_not_served(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def secret() -> None:
        """Nothing."""

    monkeypatch.setattr(app, "all_routes", lambda: [Route("/v1/secrets", secret)])
    with pytest.raises(RuntimeError, match="GET /v1/secrets"):
        build_app(settings)


def test_what_changes_something_or_reads_what_is_private_is_not_for_a_key_that_may_only_read() -> None:
    for operation in OPERATIONS:
        if operation.scope in (None, AccessScope.READ):
            assert not operation.changes, operation.name
            assert not operation.reads_private, operation.name
            assert not operation.costs_money or operation.name in PAID_SEARCHES


def test_the_page_does_nothing_with_another_scope_than_the_api() -> None:
    scopes = defaultdict(set)
    for face, operation in FACES.items():
        method, _, path = face.partition(" ")
        scopes[method, path.removeprefix("/v1")].add(operation.scope)
    assert [place for place, several in scopes.items() if len(several) > 1] == []


def test_a_tool_needs_the_same_over_http_and_over_mcp() -> None:
    for tool in registry().all():
        match = find("POST", f"/v1/tools/{tool.name}")
        assert match == (of_tool(tool.name), tool.name)
    for added_tool in ("one_of_my_own", "get_report", "list_lessons"):  # the latter are MCP's alone
        match = find("POST", f"/v1/tools/{added_tool}")
        assert match is not None
        assert (match[0].scope, match[0].is_recorded) == (AccessScope.SUBMIT, True)
    assert of_tool("one_of_my_own").scope is AccessScope.SUBMIT


def test_the_hints_of_mcp_say_what_the_table_says() -> None:
    for tool in client_tools().all():
        hints = hints_of(tool.name)
        assert hints.read_only_hint == (not of_tool(tool.name).changes), tool.name


def test_the_document_and_the_client_say_what_the_table_says() -> None:
    for path, methods in document()["paths"].items():
        for method, details in methods.items():
            operation = of_route(method.upper(), path)
            assert operation is not None
            assert details.get("x-required-scope") == operation.scope
            assert details.get("x-reads-private", False) == operation.reads_private
            assert details.get("x-costs-money", False) == operation.costs_money
            assert details.get("x-changes", False) == operation.changes
    assert json.loads(json.dumps(document())) == document()
    for name, call in ALL_CALLS:
        operation = of_route(call.method, call.path)
        assert operation is not None, name
        assert call.method == "GET" or operation.changes or not operation.reads_private


@pytest.mark.parametrize(
    ("method", "path", "name", "target"),
    [
        ("HEAD", "/v1/runs/7", "runs.read", "7"),
        ("POST", "/v1/runs/7/messages", "runs.say", "7"),
        ("POST", "/runs/7/say", "runs.say", "7"),
        ("POST", "/v1/tools/file_reader", "tools.read_private", "file_reader"),
        ("POST", "/v1/tools/list_subjects", "subjects.list", "list_subjects"),
        ("DELETE", "/v1/keys/ada", "keys.revoke", "ada"),
    ],
)
def test_a_request_is_known_by_the_path_that_it_is_routed_by(
    method: str, path: str, name: str, target: str
) -> None:
    match = find(method, path)
    assert match is not None
    assert (match[0].name, match[1]) == (name, target)


@pytest.mark.parametrize(
    "path", ["/v1/keys/", "/v1//keys", "/v1/keys/a/b", "/v1/runs", "/V1/keys", "/v1/keys\n", "/nothing"]
)
def test_a_path_that_no_route_takes_is_no_request(path: str) -> None:
    assert find("DELETE", path) is None
