from chiron_api.local_stack.checks.check import Check
from chiron_workers.settings import Settings
from chiron_workers.tools import registry


def tool_checks(_: Settings) -> list[Check]:
    """How many tools there are, and each of the user's that cannot be loaded."""
    broken = [
        Check(
            "tools", f"{one.source} is left out: {one.reason}", "Correct it, or take it out of CHIRON_TOOLS."
        )
        for one in registry().broken
    ]
    return broken or [Check("tools", f"{len(registry().all())} are offered to agents.")]
