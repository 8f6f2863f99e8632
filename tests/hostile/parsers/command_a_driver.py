"""Commands a driver by the call that types into terminals and marks files, too. It asks for signals here."""

import fcntl
import os

FIOASYNC = 0x5452


def attempt(folder: str) -> None:
    fcntl.ioctl(os.pipe()[0], FIOASYNC, b"\1\0\0\0")
