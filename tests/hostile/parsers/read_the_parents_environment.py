"""Reads the keys that the worker was started with."""

import os
from pathlib import Path

NEEDS = "landlock"


def attempt(folder: str) -> None:
    Path(f"/proc/{os.getppid()}/environ").read_bytes()
