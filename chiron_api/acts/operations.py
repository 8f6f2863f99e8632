"""The rows of the table in `chiron_api.rights`: what may be requested, and what a key needs for it."""

from dataclasses import dataclass

from chiron_workers.states import AccessScope


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that may be requested, and what a key needs for it.

    Args:
        name: What it is called in the audit trail, if it changes something.
        scope: The smallest scope that allows it; None: no key is needed.
        faces: `METHOD /v1/path` of the API and of its client, `METHOD /path` of the page, `tool NAME` of agents, which the API
            and MCP offer too, `mcp NAME` of a tool that MCP alone has, `resource URI` of MCP.
        changes: It changes something.
        costs_money: It may cause calls of a model or a paid service; the key pays.
        reads_private: It reads what only the server can reach: files of CHIRON_FILES, and addresses that a caller names.
        is_owned: The thing in its path has an owner; others get 404.
        target: The argument, or the field of the result, with the target of a call over MCP.
        is_repeatable: Idempotent.
        replaces: It ends or overwrites something for good.
        reaches_out: It calls a model or a service outside, or reads the web.
    """

    name: str
    scope: AccessScope | None
    faces: tuple[str, ...]
    changes: bool = False
    costs_money: bool = False
    reads_private: bool = False
    is_owned: bool = False
    target: str = ""
    is_repeatable: bool = False
    replaces: bool = False
    reaches_out: bool = False

    @property
    def is_recorded(self) -> bool:
        """Whether it gets an entry in the audit trail."""
        return self.changes or self.reads_private
