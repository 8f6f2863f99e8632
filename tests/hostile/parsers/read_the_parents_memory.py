"""Reads the memory of another process."""

import ctypes
import os


def attempt(folder: str) -> None:
    here, there = ctypes.create_string_buffer(8), ctypes.create_string_buffer(8)
    places = [(ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8) for buffer in (here, there)]
    libc = ctypes.CDLL(None, use_errno=True)
    # Its own memory, which every process may read by this call: the same address of another needs rights.
    if libc.process_vm_readv(os.getpid(), places[0], 1, places[1], 1, 0) < 0:
        raise OSError(ctypes.get_errno(), "process_vm_readv")
