"""Puts a file elsewhere."""

from pathlib import Path


def attempt(folder: str) -> None:
    Path(folder, "private.txt").rename(Path(folder, "moved.txt"))
