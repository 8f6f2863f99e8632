"""Changes the priority of the server, here to what it is."""

import os


def attempt(folder: str) -> None:
    parent = os.getppid()
    os.setpriority(os.PRIO_PROCESS, parent, os.getpriority(os.PRIO_PROCESS, parent))
