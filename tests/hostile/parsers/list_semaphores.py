"""Lists semaphores of other processes, which the same call removes."""

import ctypes
import os

SEM_INFO = 19


def attempt(folder: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.semctl(0, 0, SEM_INFO, ctypes.create_string_buffer(256)) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
