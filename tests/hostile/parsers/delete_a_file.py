"""Deletes a file."""

from pathlib import Path


def attempt(folder: str) -> None:
    Path(folder, "private.txt").unlink()
