from chiron_api.local_stack.checks import Check
from chiron_workers.settings import Settings
from chiron_workers.tools import registry

ORDER = 40


def checks(_: Settings) -> list[Check]:
    """How many tools there are, and each of the user's that cannot be loaded."""
    problems = [
        Check(
            "tools",
            f"{tool.source} is left out: {tool.reason}",
            "Correct it, or take it out of CHIRON_TOOLS.",
        )
        for tool in registry().broken
    ]
    return problems or [Check("tools", f"{len(registry().all())} are offered to agents.")]
