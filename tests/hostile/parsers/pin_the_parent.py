"""Chooses the cores that the server may use, here those it uses."""

import os


def attempt(folder: str) -> None:
    os.sched_setaffinity(os.getppid(), os.sched_getaffinity(os.getppid()))
