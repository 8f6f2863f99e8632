"""Becomes another program."""

import os


def attempt(folder: str) -> None:
    os.execv("/bin/true", ["true"])  # noqa: S606  # the call that is tried
