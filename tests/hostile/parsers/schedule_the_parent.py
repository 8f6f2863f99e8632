"""Chooses how the server is scheduled, here as all processes are."""

import os


def attempt(folder: str) -> None:
    os.sched_setscheduler(os.getppid(), os.SCHED_OTHER, os.sched_param(0))
