"""Changes a file without cutting it first."""

import os
from pathlib import Path


def attempt(folder: str) -> None:
    os.close(os.open(Path(folder, "private.txt"), os.O_RDWR))
