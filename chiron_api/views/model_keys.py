"""Whether a key for Claude is set where this process looks for one."""

import os
from collections.abc import Iterable

from chiron_workers.settings import OFFLINE_MODEL

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
SERVER = "ANTHROPIC_BASE_URL"  # which may ask for no key


def has_key() -> bool:
    """Whether this process has a key."""
    return any(os.environ.get(name) for name in KEYS)


def key_warnings(models: Iterable[str]) -> list[str]:
    """A sentence where runs of these models need a key and none is set here; workers may have one."""
    claude_models = sorted({model for model in models if model != OFFLINE_MODEL})
    if not claude_models or has_key() or os.environ.get(SERVER):
        return []
    return [
        f"No key for {', '.join(claude_models)} is set here. Unless the workers have one the runs will fail: set "
        "ANTHROPIC_API_KEY, in .env as well as in the environment, or submit with --model offline."
    ]
