"""Which tools a run is offered."""

from typing import Any

from chiron_workers.roles import role_of
from chiron_workers.toolkit.registry import Registry


def offered_definitions(registry: Registry, role: str, *, has_columns: bool) -> list[dict[str, Any]]:
    """The definitions of the tools that runs of a role are offered, as the Messages API takes them.

    Args:
        has_columns: Whether they return rows.
    """
    may_call = role_of(role).may_call
    return registry.definitions(
        lambda tool: may_call(tool.name, reserved_for=tool.roles) and (has_columns or not tool.needs_columns)
    )
