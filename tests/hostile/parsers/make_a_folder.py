"""Makes a folder."""

from pathlib import Path


def attempt(folder: str) -> None:
    Path(folder, "new").mkdir()
