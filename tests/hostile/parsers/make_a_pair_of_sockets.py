"""Opens a channel that a descriptor could be passed through."""

import socket


def attempt(folder: str) -> None:
    for end in socket.socketpair():
        end.close()
