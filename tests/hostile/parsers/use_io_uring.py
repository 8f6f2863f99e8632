"""Opens a ring through which the kernel would make calls for it, past any filter."""

import ctypes
import errno


def attempt(folder: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(425, 1, None) < 0 and ctypes.get_errno() != errno.EFAULT:
        raise OSError(ctypes.get_errno(), "io_uring_setup")
