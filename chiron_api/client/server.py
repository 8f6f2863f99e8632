"""Which server the client talks to, with which key, and how long it waits for it."""

import ipaddress
import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from platformdirs import user_data_path

from chiron_api.client.errors import ChironError

KEY_CHARS_MAX = 1_000


@dataclass(slots=True)
class Server:
    """An address of the HTTP API with the key for it.

    `patience_s` is how long a server that is away is waited for. One that has never answered is not waited for: most
    likely the address is wrong, or nothing is started.
    """

    address: str
    key: str = field(repr=False)
    patience_s: float
    has_answered: bool = False

    @property
    def is_local(self) -> bool:
        """Whether it is this machine."""
        return is_loopback(self.address)


def find_server(base_url: str | None, key: str | None, *, patience_s: float) -> Server:
    """The server that is named, else that of CHIRON_API_URL, else the one of this machine.

    The key is the one that is named, else CHIRON_API_KEY, else for this machine the one that CHIRON_HOME keeps.

    Raises:
        ChironError: The address is none.
    """
    address = (base_url or os.environ.get("CHIRON_API_URL") or _local_address()).rstrip("/")
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ChironError(f"{address!r} is no address of an HTTP API. It looks like http://127.0.0.1:8700.")
    if key is None:
        key = os.environ.get("CHIRON_API_KEY", "").strip() or (_kept_key() if is_loopback(address) else "")
    return Server(address, key, patience_s)


def is_loopback(address: str) -> bool:
    """Whether an address is of this machine. Only there the key of the home is sent, and no proxy is asked."""
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _local_address() -> str:
    host = os.environ.get("CHIRON_API_HOST") or "127.0.0.1"
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  # compared, not listened on
    return f"http://{f'[{reachable}]' if ':' in reachable else reachable}:{os.environ.get('CHIRON_API_PORT') or '8700'}"


def _kept_key() -> str:
    home = os.environ.get("CHIRON_HOME")
    file = (Path(home).expanduser() if home else user_data_path("chiron")) / "api.key"
    try:
        with file.open(encoding="ascii") as source:
            return source.read(KEY_CHARS_MAX).strip()
    except (OSError, UnicodeDecodeError):
        return ""  # the server says that it wants a key
