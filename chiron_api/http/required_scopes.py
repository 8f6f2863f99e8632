"""What a key must be for to send a request, and what a request is called in the audit trail."""

from dataclasses import dataclass

from chiron_workers.states import AccessScope

OPEN_PATHS = frozenset({"/healthz", "/readyz", "/open"})
OPEN_FOLDERS = ("/assets/",)
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# Requests that send much and change nothing. Tools of MCP say for themselves what they need.
READING_POSTS = frozenset({"/v1/knowledge/search", "/submit/estimate", "/open", "/close", "/mcp"})
ADMIN_FOLDERS = ("/v1/keys", "/v1/audit", "/keys")
ACTIONS = {
    "batches.create": "batches.submit",
    "runs.create": "runs.submit",
    "submit.create": "batches.submit",
    "keys.delete": "keys.revoke",
    "runs.messages": "runs.say",
    "subjects.curriculum": "curricula.order",
    "subjects.journey": "journeys.start",
    "tools.change": "tools.call",
}


@dataclass(frozen=True, slots=True)
class Act:
    """A request that changes something; `target` is empty where the answer alone names it."""

    action: str
    target: str


def is_open(path: str) -> bool:
    """Whether a path is for everybody."""
    return path in OPEN_PATHS or path.startswith(OPEN_FOLDERS)


def required_scope(method: str, path: str) -> AccessScope:
    """The smallest scope that a request needs: to read, unless it changes something or is about keys."""
    if any(path == folder or path.startswith(f"{folder}/") for folder in ADMIN_FOLDERS):
        return AccessScope.ADMIN
    return AccessScope.READ if act_of(method, path) is None else AccessScope.SUBMIT


def act_of(method: str, path: str) -> Act | None:
    """What a request changes, from its path: /v1/NOUN/ID/VERB, with or without /v1. None: nothing."""
    if method in SAFE_METHODS or path in READING_POSTS:
        return None
    noun, target, *verbs = [*path.removeprefix("/v1").strip("/").split("/"), ""][:3]
    method_verb = {"DELETE": "delete"}.get(method, "change" if target else "create")
    action = f"{noun}.{verbs[0] if verbs and verbs[0] else method_verb}"
    return Act(ACTIONS.get(action, action), target)
