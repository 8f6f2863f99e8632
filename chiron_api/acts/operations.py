"""What may be requested, over whichever face, and what a key needs for it."""

from dataclasses import dataclass

from chiron_workers.states import AccessScope


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that may be requested.

    Args:
        name: What it is called in the audit trail, if it changes something.
        scope: The smallest scope of a key that may; None: everybody may, without a key.
        faces: `METHOD /v1/path` of the API and of its client, `METHOD /path` of the page, `tool NAME` of agents, which the API
            and MCP offer too, `mcp NAME` of a tool that MCP alone has, `resource URI` of MCP.
        changes: Something is different afterwards.
        costs_money: It may have a model or a paid service called; the key pays.
        reads_private: It reads what only the serving machine can: files of CHIRON_FILES, and addresses that a caller names.
        is_owned: What its path names has an owner, and is not there for others.
        target: The argument, or the member of the result, by which a call over MCP names what it is done to.
        is_repeatable: Doing it again with the same input changes nothing more.
        replaces: It ends or overwrites something for good.
        reaches_out: A model or a service outside has a part in it, or it reads the web.
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
        """Whether the audit trail has it."""
        return self.changes or self.reads_private
