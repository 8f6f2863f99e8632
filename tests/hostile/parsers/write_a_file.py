"""Leaves a file behind."""

from pathlib import Path


def attempt(folder: str) -> None:
    Path(folder, "left").write_text("x")
