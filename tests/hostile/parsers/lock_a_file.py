"""Locks a file that others wait for."""

import fcntl
import os
from pathlib import Path


def attempt(folder: str) -> None:
    with Path(os.__file__).open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)
