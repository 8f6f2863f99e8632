"""Starts a process by a call whose flags no filter can read."""

import ctypes
import errno


def attempt(folder: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(435, None, 0)  # clone3 without arguments: where it is known, they are what is wrong
    if ctypes.get_errno() == errno.ENOSYS:
        raise OSError(errno.ENOSYS, "clone3")
