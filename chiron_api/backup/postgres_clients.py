"""PostgreSQL's own client programs: which of them fits a server, and how they are run without showing a password."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from chiron_api.local_stack.postgres import binaries
from chiron_workers.errors import ChironError, ConfigurationError


def program(name: str, major: int) -> str:
    """Path of a PostgreSQL program: of the server's own version, else of the oldest that is newer.

    Raises:
        ConfigurationError: There is none.
    """
    found: dict[int, str] = {}
    for place in (shutil.which(name), shutil.which(name, path=_own_folder())):
        if place:
            version = subprocess.run([place, "--version"], capture_output=True, text=True, check=True).stdout
            found[int(re.findall(r"\) (\d+)", version)[0])] = place
    fitting = [version for version in found if version >= major]
    if not fitting:
        raise ConfigurationError(
            f"The server is PostgreSQL {major}, and no {name} of that version or newer is here. "
            f"Install PostgreSQL {major}'s client programs so that {name} is on the PATH."
        )
    return found[min(fitting)]


def address(database_url: str) -> list[str]:
    """The database for an argv, which everybody on the machine can read: without its password.

    Raises:
        ConfigurationError: It needs a secret that can only be handed over in the argv.
    """
    parts = conninfo_to_dict(database_url)
    parts.pop("password", None)
    if parts.pop("sslpassword", None):
        raise ConfigurationError(
            "An sslpassword cannot be handed to PostgreSQL's programs safely; use a key without one."
        )
    return [f"--dbname={make_conninfo('', **parts)}"]


def environment(database_url: str) -> dict[str, str]:
    """The environment for a program that connects, with the password."""
    password = conninfo_to_dict(database_url).get("password")
    return {**os.environ, "PGCONNECT_TIMEOUT": "10", **({"PGPASSWORD": str(password)} if password else {})}


def run(command: list[str | Path], database_url: str, failure: str) -> str:
    """What a program prints. Raises ChironError that begins with `failure` and goes on in the program's words."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env=environment(database_url) if database_url else None,
        restore_signals=False,  # A limit of file sizes is then an error that the program tells of.
    )
    if done.returncode != 0:
        raise ChironError(f"{failure}: {last_words(done.stderr)}")
    return done.stdout


def last_words(complaints: str) -> str:
    """The first error among what a program complained of, as the end of a sentence."""
    lines = [line.strip() for line in complaints.splitlines() if "error" in line.lower() or "FATAL" in line]
    said = re.sub(r"^(psql\S*|pg_\w+): (error: )?", "", lines[0]) if lines else "no reason was given"
    return f"{said.rstrip('.')}."


def _own_folder() -> str:
    try:
        return str(binaries())
    except ConfigurationError:
        return ""
