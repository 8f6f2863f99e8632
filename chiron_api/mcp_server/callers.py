"""Who calls a tool over MCP, what that needs, and what it is called in the audit trail."""

from collections.abc import Mapping
from typing import Any

from fastmcp.server.dependencies import get_http_request

from chiron_api.acts.remedies import request_of
from chiron_api.rights import of_tool
from chiron_workers.access.audit import Act
from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.errors import ChironError, ScopeExceeded
from chiron_workers.states import AccessScope


def current_principal() -> Principal:
    """Whose message is answered: over HTTP whoever the gate let in, over standard input the user of this machine."""
    try:
        request = get_http_request()
    except RuntimeError:
        return LOCAL
    principal: Principal = request.state.principal
    return principal


def require_scope_for(tool_name: str, principal: Principal) -> None:
    """Raise ScopeExceeded where a tool needs more than the key of a principal may."""
    scope = of_tool(tool_name).scope or AccessScope.READ
    if not principal.may(scope):
        raise ScopeExceeded(
            f"The key {principal.key_name!r} may {principal.scope}, and {tool_name} needs one that may {scope}."
        )


def act_of_call(tool_name: str, arguments: Mapping[str, Any], principal: Principal) -> Act | None:
    """What a call is called in the audit trail, and what it is done to where that is said before; None: it is not recorded."""
    operation = of_tool(tool_name)
    if not operation.is_recorded:
        return None
    target = arguments.get(operation.target) or "" if operation.target else tool_name
    return Act(principal, operation.name, str(target), {"via": "mcp"})


def made_by(tool_name: str, result: object) -> dict[str, object]:
    """What the result of a call names as its target."""
    name = of_tool(tool_name).target
    members = result if isinstance(result, Mapping) else {}
    return {name: members[name]} if members.get(name) else {}


def with_remedies(error: ChironError) -> str:
    """An error as a model reads it: what happened, and what helps, by which tool, without commands, as it has no shell."""
    helps = "; ".join(_words_of(request_of(remedy)) for remedy in error.remedies)
    return f"{error} What helps: {helps}." if helps else str(error)


def _words_of(remedy: Mapping[str, Any]) -> str:
    return f"{remedy['words']} ({remedy['tool']})" if "tool" in remedy else str(remedy["words"])
