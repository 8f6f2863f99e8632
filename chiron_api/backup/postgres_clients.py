"""PostgreSQL's own client programs: the one that fits a server, and running it without showing a password."""

import functools
import os
import re
import shutil
import subprocess

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from chiron_api.local_stack.postgres import binaries
from chiron_workers.errors import ChironError, ConfigurationError


def program_path(name: str, major: int) -> str:
    """Path of a PostgreSQL program: of the server's own version, else of the oldest that is newer.

    Raises:
        ConfigurationError: None is installed.
    """
    paths = _paths(name)
    versions = [version for version in paths if version >= major]
    if not versions:
        raise ConfigurationError(
            f"The server is PostgreSQL {major}, and no {name} of that version or newer is here. "
            f"Install PostgreSQL {major}'s client programs so that {name} is on the PATH."
        )
    return paths[min(versions)]


@functools.cache
def newest_program_path(name: str) -> str:
    """Path of a PostgreSQL program that needs no server, and reads what older ones wrote.

    Raises:
        ConfigurationError: None is installed.
    """
    if not (paths := _paths(name)):
        raise ConfigurationError(f"There is no {name}. Install PostgreSQL's client programs.")
    return paths[max(paths)]


def connection_arguments(database_url: str) -> list[str]:
    """The database as an argument without its password, since everybody on the machine can read an argv.

    Raises:
        ConfigurationError: It needs a secret that can only be passed in the argv.
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


def run_program(command: list[str], database_url: str, failure: str) -> str:
    """What a program prints. Raises ChironError that begins with `failure` and goes on in the program's words."""
    process = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env=environment(database_url) if database_url else None,
        restore_signals=False,  # The program then reports a limit of file sizes as an error.
    )
    if process.returncode != 0:
        raise ChironError(f"{failure}: {first_error(process.stderr)}")
    return process.stdout


def first_error(messages: str) -> str:
    """The first error line of a program's messages, as the end of a sentence."""
    lines = [line.strip() for line in messages.splitlines() if "error" in line.lower() or "FATAL" in line]
    error = re.sub(r"^(psql\S*|pg_\w+): (error: )?", "", lines[0]) if lines else "no reason was given"
    return f"{error.rstrip('.')}."


def _paths(name: str) -> dict[int, str]:
    """The path of each major version of a program."""
    paths: dict[int, str] = {}
    for path in (shutil.which(name), shutil.which(name, path=_embedded_folder())):
        if path:
            version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
            paths[int(re.findall(r"\) (\d+)", version)[0])] = path
    return paths


def _embedded_folder() -> str:
    try:
        return str(binaries())
    except ConfigurationError:
        return ""
