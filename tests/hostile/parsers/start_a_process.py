"""Starts a process that outlives its limits of time."""

import os


def attempt(folder: str) -> None:
    if os.fork() == 0:
        os._exit(0)
