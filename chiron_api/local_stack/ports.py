"""Ports and addresses of the API and Flower: whether they are free, who holds them, and which mean this machine."""

import errno
import ipaddress
import socket
from typing import Any

import psutil

from chiron_workers.errors import ChironError, ConfigurationError
from chiron_workers.settings import Settings


def free_port(host: str = "127.0.0.1") -> int:
    """A port that is free at this moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def is_free(host: str, port: int) -> bool:
    """Whether a server could listen there.

    Raises:
        ConfigurationError: The host is no address of this machine, or the port is reserved for root.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except PermissionError:
        raise ConfigurationError(f"Port {port} is reserved for root. Choose one above 1023.") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return False
        raise ConfigurationError(f"{host} is no address of this machine; 127.0.0.1 is.") from None
    return True


def refuse_taken_ports(settings: Settings, kinds: frozenset[str]) -> None:
    """Raises ChironError where the API's or Flower's port belongs to another program."""
    for kind in sorted(kinds & {"api", "flower"}):
        if sentence := port_conflict_of(settings, kind):
            raise ChironError(sentence)


def port_conflict_of(settings: Settings, kind: str) -> str:
    """A sentence about the program that holds the port of the API or of Flower, empty where it is free."""
    program = "the HTTP API" if kind == "api" else "Flower"
    host, port = getattr(settings, f"{kind}_host"), getattr(settings, f"{kind}_port")
    if is_free(host, port):
        return ""
    advice = f"Stop that program, or set CHIRON_{kind.upper()}_PORT to another port."
    return f"Port {port} for {program} is taken{_holder(port)}. {advice}"


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine alone."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def web_address(host: str, port: int) -> str:
    """The URL to open in a browser on this machine."""
    reachable = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{reachable}:{port}"


def _holder(port: int) -> str:
    try:
        connection = next(entry for entry in psutil.net_connections("tcp") if _listens(entry, port))
        return f" by {psutil.Process(connection.pid).name()} (pid {connection.pid})"
    except (psutil.Error, StopIteration):
        return ""  # Some systems show it only to root.


def _listens(connection: Any, port: int) -> bool:
    return (
        connection.status == psutil.CONN_LISTEN
        and connection.laddr.port == port
        and connection.pid is not None
    )
