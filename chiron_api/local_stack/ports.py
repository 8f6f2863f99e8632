"""Ports and addresses that people reach: who has them, and which must not be open without a password."""

import errno
import ipaddress
import socket
from typing import Any

import psutil

from chiron_workers.errors import ChironError, ConfigurationError
from chiron_workers.settings import Settings


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody has at this moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def is_free(host: str, port: int) -> bool:
    """Whether a server could listen there.

    Raises:
        ConfigurationError: The host is none of this machine's, or the port is reserved for root.
    """
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
    except PermissionError:
        raise ConfigurationError(f"Port {port} is reserved for root. Choose one above 1023.") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return False
        raise ConfigurationError(f"{host} is no address of this machine; 127.0.0.1 is.") from None
    return True


def taken(what: str, *, host: str, port: int, setting: str) -> str:
    """A sentence about a port that another program has, or nothing."""
    if is_free(host, port):
        return ""
    return f"Port {port} for {what} is taken{_holder(port)}. Stop that program, or set {setting} to another port."


def refuse_taken(settings: Settings, kinds: frozenset[str]) -> None:
    """Raises ChironError where the API's or Flower's port belongs to another program."""
    for kind in sorted(kinds & {"api", "flower"}):
        if sentence := taken_by_kind(settings, kind):
            raise ChironError(sentence)


def taken_by_kind(settings: Settings, kind: str) -> str:
    """A sentence about the port of the API or of Flower, or nothing where it is free."""
    if kind == "api":
        return taken(
            "the HTTP API", host=settings.api_host, port=settings.api_port, setting="CHIRON_API_PORT"
        )
    return taken("Flower", host=settings.flower_host, port=settings.flower_port, setting="CHIRON_FLOWER_PORT")


def refuse_open_flower(settings: Settings) -> None:
    """Flower can stop workers and shows topics: beyond this machine it asks for a password.

    Raises:
        ConfigurationError: It would be open to the network, or its password cannot be handed over.
    """
    password = settings.flower_password.get_secret_value()
    if not password and not is_loopback(settings.flower_host):
        raise ConfigurationError(
            f"Flower would be open to everybody on {settings.flower_host}. "
            "Set CHIRON_FLOWER_PASSWORD, or leave CHIRON_FLOWER_HOST at 127.0.0.1."
        )
    if "," in password:
        raise ConfigurationError(
            "CHIRON_FLOWER_PASSWORD must not contain a comma; Flower cuts it there. Choose another one."
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def web_address(host: str, port: int) -> str:
    """What to open in a browser on this machine."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{shown}:{port}"


def _holder(port: int) -> str:
    try:
        found = next(each for each in psutil.net_connections("tcp") if _listens(each, port))
        return f" by {psutil.Process(found.pid).name()} (pid {found.pid})"
    except (psutil.Error, StopIteration):
        return ""  # Some systems tell it only to root.


def _listens(connection: Any, port: int) -> bool:
    return (
        connection.status == psutil.CONN_LISTEN
        and connection.laddr.port == port
        and connection.pid is not None
    )
