"""Opens a way to the network."""

import socket


def attempt(folder: str) -> None:
    socket.socket().close()
