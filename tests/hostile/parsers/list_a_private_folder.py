"""Looks what there is to read."""

import os

NEEDS = "landlock"


def attempt(folder: str) -> None:
    os.listdir(folder)  # noqa: PTH208  # the call that is tried
