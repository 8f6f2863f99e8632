"""Locks a part of a file that others wait for."""

import fcntl
import os
from pathlib import Path


def attempt(folder: str) -> None:
    with Path(os.__file__).open() as file:
        fcntl.lockf(file, fcntl.LOCK_SH)
