"""Who calls a tool over MCP, what that needs, and what it is called in the audit trail."""

from collections.abc import Mapping
from typing import Any

from fastmcp.server.dependencies import get_http_request

from chiron_api.mcp_server.instructions import ANNOTATIONS, READS, READS_THE_WEB
from chiron_workers.access.audit import Act
from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.errors import ScopeExceeded
from chiron_workers.states import AccessScope

# The action, and the argument or the member of the result that names its target.
ACTIONS = {
    "start_research": ("batches.submit", "batch_id"),
    "write_report": ("batches.report", "id"),
    "check_subject": ("subjects.check", "subject_id"),
    "cancel_run": ("runs.cancel", "id"),
    "order_lesson": ("lessons.order", "node"),
    "order_questions": ("subjects.questions", "subject_id"),
    "start_quiz": ("quizzes.create", "quiz_id"),
    "answer_question": ("quizzes.answers", "quiz_id"),
    "settle_answer": ("quizzes.settlements", "quiz_id"),
    "create_subscription": ("subscriptions.create", "subscription_id"),
}


def current_principal() -> Principal:
    """Whose message is answered: over HTTP whoever the gate let in, over standard input the user of this machine."""
    try:
        request = get_http_request()
    except RuntimeError:
        return LOCAL
    principal: Principal = request.state.principal
    return principal


def changes_something(tool_name: str) -> bool:
    """Whether a tool may change something; one of somebody's own may."""
    return ANNOTATIONS.get(tool_name) not in (READS, READS_THE_WEB)


def require_scope_for(tool_name: str, principal: Principal) -> None:
    """Raise ScopeExceeded where the key of a principal is for reading alone, and the tool changes something."""
    if changes_something(tool_name) and not principal.may(AccessScope.SUBMIT):
        raise ScopeExceeded(
            f"The key {principal.key_name!r} may {principal.scope}, and {tool_name} needs one that may {AccessScope.SUBMIT}."
        )


def act_of_call(tool_name: str, arguments: Mapping[str, Any], principal: Principal) -> Act:
    """What a call that changes something is called in the audit trail, and what it is done to where that is said before."""
    action, name = ACTIONS.get(tool_name, ("tools.call", ""))
    target = tool_name if tool_name not in ACTIONS else arguments.get(name) or ""
    return Act(principal, action, str(target), {"via": "mcp"})


def made_by(tool_name: str, result: object) -> dict[str, object]:
    """What the result of a call names as its target."""
    _, name = ACTIONS.get(tool_name, ("", ""))
    members = result if isinstance(result, Mapping) else {}
    return {name: members[name]} if members.get(name) else {}
