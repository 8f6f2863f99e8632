"""Puts a link where somebody may follow it."""

from pathlib import Path


def attempt(folder: str) -> None:
    Path(folder, "link").symlink_to("/etc/passwd")
