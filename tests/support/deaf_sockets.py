"""Sockets that hear nothing any more, as if their host had lost its network: not even TCP answers."""

import ctypes
import fcntl
import os
import socket
import struct
import sys
import termios
import time

import pytest

SO_ATTACH_FILTER = 26  # of Linux
RETURN_NOTHING = struct.pack(
    "HBBI", 0x06, 0, 0, 0
)  # a filter of one instruction, which passes 0 bytes of each packet

LOOK_S = 0.005

needs_filters = pytest.mark.skipif(sys.platform != "linux", reason="only Linux filters what a socket hears")


def deafen(descriptor: int) -> None:
    """Drop whatever arrives at a socket from now on, so that the other side gets no answer, nor a reset.

    Waits until all that was sent is acknowledged: else TCP sends it again and again, and is heard.
    """
    while struct.unpack("i", fcntl.ioctl(descriptor, termios.TIOCOUTQ, bytes(4)))[0]:
        time.sleep(LOOK_S)
    program = ctypes.create_string_buffer(RETURN_NOTHING)
    with socket.socket(fileno=os.dup(descriptor)) as copy:
        copy.setsockopt(
            socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HxxxxxxP", 1, ctypes.addressof(program))
        )
