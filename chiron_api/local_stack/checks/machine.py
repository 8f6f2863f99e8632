"""This machine: Python, the home and its disk, and the key of the model."""

import os
import platform
import shutil
import sys
from pathlib import Path

from chiron_api.local_stack.checks import Check
from chiron_api.local_stack.home import SPACE_ADVICE
from chiron_api.views.model_keys import SERVER, has_key
from chiron_workers.settings import OFFLINE_MODEL, Settings

ORDER = 10
OLDEST_PYTHON = (3, 11)
SPARE_BYTES = 1_000_000_000


def checks(settings: Settings) -> list[Check]:
    """What can be said without asking any service."""
    home = settings.home.expanduser().absolute()
    return [
        _python(),
        _home(home),
        disk(home, shutil.disk_usage(_nearest_existing(home)).free),
        _key(settings),
    ]


def disk(home: Path, free_bytes: int) -> Check:
    """Whether the home's disk has room left."""
    finding = f"{free_bytes / 1e9:.1f} GB are free for {home}."
    return Check("disk", finding, SPACE_ADVICE if free_bytes < SPARE_BYTES else "")


def _python() -> Check:
    advice = f"Install Python {'.'.join(map(str, OLDEST_PYTHON))} or newer and install chiron with it."
    finding = f"Python {platform.python_version()}."
    return Check("python", finding, advice if sys.version_info < OLDEST_PYTHON else "")


def _home(home: Path) -> Check:
    nearest = _nearest_existing(home)
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        return Check("home", f"{home} can be written." if nearest == home else f"{home} can be made.")
    return Check(
        "home",
        f"{nearest} cannot be written.",
        "Make it writable for you, or set CHIRON_HOME to another folder.",
    )


def _key(settings: Settings) -> Check:
    if settings.model == OFFLINE_MODEL:
        return Check("model key", "The offline researcher needs no key.")
    if has_key():
        return Check("model key", f"A key for {settings.model} is set.")
    if url := os.environ.get(SERVER):
        return Check("model key", f"No key is set, which the model server at {url} may allow.")
    return Check(
        "model key",
        f"No key for {settings.model} is set.",
        "Set ANTHROPIC_API_KEY, or CHIRON_MODEL=offline to try things without a model.",
    )


def _nearest_existing(folder: Path) -> Path:
    return next(parent for parent in (folder, *folder.parents) if parent.exists())
