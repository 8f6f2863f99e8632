"""The environment: whether all that begins with CHIRON_ is a setting."""

from chiron_api.local_stack.checks import Check
from chiron_workers.settings import Settings
from chiron_workers.settings.environment import environment_warnings

ORDER = 15


def checks(settings: Settings) -> list[Check]:  # every module of checks takes them
    """What is misspelt there."""
    for warning in environment_warnings():
        return [
            Check("environment", warning, "Correct these names, or unset them. docs/settings.md lists all.")
        ]
    return [Check("environment", "Every variable that begins with CHIRON_ is a setting.")]
