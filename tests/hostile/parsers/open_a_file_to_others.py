"""Gives everybody rights to a file."""

from pathlib import Path


def attempt(folder: str) -> None:
    Path(folder, "private.txt").chmod(0o666)
