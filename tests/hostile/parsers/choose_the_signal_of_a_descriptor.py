"""Chooses which signal the owner of a descriptor gets: any, also the one that ends a process."""

import fcntl
import os
import signal


def attempt(folder: str) -> None:
    fcntl.fcntl(os.pipe()[0], fcntl.F_SETSIG, signal.SIGUSR1)
