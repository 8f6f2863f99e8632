"""Reads a file that nobody gave it, to hand it out as the text of a document."""

from pathlib import Path

NEEDS = "landlock"


def attempt(folder: str) -> None:
    Path(folder, "private.txt").read_text()
