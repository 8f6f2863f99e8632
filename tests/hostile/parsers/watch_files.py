"""Asks to be told which files others use."""

import ctypes
import os


def attempt(folder: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.inotify_init1(0) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
