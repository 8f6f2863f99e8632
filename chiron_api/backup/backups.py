"""Backups: the whole database in one file, written by pg_dump while everything runs, and put back in one transaction."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg
from psycopg import sql

from chiron_api.atomic_file import atomic_write
from chiron_api.backup.postgres_clients import (
    connection_arguments,
    environment,
    first_error,
    program_path,
    run_program,
)
from chiron_workers.db.connect import connect
from chiron_workers.db.migrate import migrations, refuse_newer, tables
from chiron_workers.db.queries import load
from chiron_workers.errors import ChironError, Conflict, UsageError

SQL = load(__file__)
MAGIC = b"PGDMP"  # begins each file in pg_dump's custom format
PORTABLE = ("--no-owner", "--no-privileges", "--no-comments")  # any role can restore it
COPY_BYTES = 1 << 20
HEAD_BYTES = 4_096
DISCONNECT_GRACE_S = 2.0  # Postgres lists a connection for a moment after it has closed.


def back_up(database_url: str, target: Path, *, force: bool = False) -> int:
    """Write a backup; its size in bytes. Workers may go on: it holds everything as of one moment.

    The file gets its name when it is complete and on the disk.

    Raises:
        UsageError: The file exists and `force` is not set, it is no file, or its folder does not exist.
        ChironError: Postgres or the disk refuses; nothing is left behind.
    """
    target = target.resolve()  # The target of a symbolic link is written, as by reports and exports.
    if target.exists() and not target.is_file():
        raise UsageError(f"{target} is no file that could be overwritten. Name one, such as chiron.backup.")
    if target.exists() and not force:
        raise UsageError(f"{target} exists. Choose another name, or overwrite it with --force.")
    if not target.parent.is_dir():
        raise UsageError(f"There is no folder {target.parent}.")
    with connect(database_url) as connection:
        is_ours, major = _database_state(connection)
    if not is_ours:
        raise ChironError("This database holds nothing of Chiron's. Is CHIRON_DATABASE_URL right?")
    with atomic_write(target) as file:
        try:
            file.touch(mode=0o600)
        except OSError as error:
            raise ChironError(f"{target} cannot be written: {error.strerror}.") from None
        options = ["--format=custom", "--lock-wait-timeout=60s", *PORTABLE[:2], f"--file={file}"]
        command = [program_path("pg_dump", major), *options, *connection_arguments(database_url)]
        run_program(command, database_url, "The backup failed")
        _fsync(file)
    _fsync(target.parent)
    return target.stat().st_size


def restore(database_url: str, source: Path, *, force: bool = False) -> list[str]:
    """Put a backup back, in one transaction: all of it or nothing.

    Runs that were being played when it was made are taken up by the rescue, as after a crash.

    Args:
        force: Drop what the database holds of Chiron's. Without it a database that holds data is refused.

    Returns:
        The migrations that it lacks, since it was made by an older version.

    Raises:
        UsageError: The file is no backup of Chiron's.
        Conflict: Somebody is connected, or the database holds data.
        ChironError: The backup is newer than this program or the server, or damaged; nothing was changed.
    """
    with connect(database_url) as connection:
        is_ours, major = _database_state(connection)
        versions = _inspect(source, major)
        _refuse_connected_clients(connection)
        if is_ours and not force and connection.execute(SQL["has_data"]).fetchone() != {"has_data": False}:
            raise Conflict(
                "This database holds data. Restore into another one, or say --force to drop all of it first."
            )
        drop = _drop(connection, is_ours)
    _replay(database_url, source, drop, major)
    return [migration.name for migration in migrations() if migration.version not in versions]


def _database_state(connection: psycopg.Connection[dict[str, object]]) -> tuple[bool, int]:
    row = connection.execute(SQL["database_state"]).fetchone()
    assert row is not None
    return bool(row["is_ours"]), int(str(row["major"]))


def _refuse_connected_clients(connection: psycopg.Connection[dict[str, object]]) -> None:
    deadline = time.monotonic() + DISCONNECT_GRACE_S
    while (rows := connection.execute(SQL["connected_clients"]).fetchall()) and time.monotonic() < deadline:
        time.sleep(0.1)
    if rows:
        clients = ", ".join(f"{row['connections']} x {row['name']}" for row in rows)
        raise Conflict(
            f"Programs are connected to this database ({clients}). Stop them first: `chiron down` stops the local stack."
        )


def _drop(connection: psycopg.Connection[dict[str, object]], is_ours: bool) -> bytes:
    if not is_ours:
        return b""
    vector_tables = [str(row["table_name"]) for row in connection.execute(SQL["vector_tables"])]
    names = sql.SQL(", ").join(sql.Identifier(name) for name in [*vector_tables, *tables()])
    return SQL["drop"].format(tables=names).as_bytes(connection)


def _inspect(source: Path, major: int) -> set[int]:
    """The migrations that a backup has seen. Raises as `restore` for a file that cannot be put back."""
    try:
        with source.open("rb") as file:
            magic = file.read(len(MAGIC))
    except OSError as error:
        raise UsageError(f"{source} cannot be read: {error.strerror}.") from None
    if magic != MAGIC:
        raise UsageError(f"{source} is no backup made by `chiron backup`.")
    reader = program_path("pg_restore", major)
    contents = run_program([reader, "--list", str(source)], "", f"{source} cannot be read")
    if not re.search(r" TABLE DATA \S+ schema_migrations ", contents):
        raise UsageError(f"{source} is a backup of something else; it holds nothing of Chiron's.")
    server = re.search(r"Dumped from database version: (\d+)", contents)
    if server and int(server[1]) > major:
        raise ChironError(
            f"{source} comes from PostgreSQL {server[1]} and this server is PostgreSQL {major}. "
            f"Restore it into {server[1]} or newer."
        )
    read_versions = [reader, "--data-only", "--table=schema_migrations", "--file=-", str(source)]
    rows = run_program(read_versions, "", f"{source} cannot be read")
    versions = {int(version) for version in re.findall(r"^(\d+)\t\w", rows, flags=re.MULTILINE)}
    refuse_newer(versions, migrations(), owner=str(source))
    return versions


def _replay(database_url: str, source: Path, drop: bytes, major: int) -> None:
    read_command = [program_path("pg_restore", major), *PORTABLE, "--file=-", str(source)]
    options = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", *connection_arguments(database_url)]
    with tempfile.TemporaryFile() as messages:
        reader = subprocess.Popen(read_command, stdout=subprocess.PIPE, stderr=messages)
        writer = subprocess.Popen(
            [program_path("psql", major), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=messages,
            env=environment(database_url),
        )
        try:
            is_whole = _pump(reader, writer, drop)
        finally:
            reader.kill()
            reader.communicate()
            has_committed = writer.wait() == 0  # without the commit it rolls everything back
        if not (is_whole and has_committed):
            messages.seek(0)
            raise ChironError(
                f"Nothing was restored: {first_error(messages.read().decode(errors='replace'))}"
            )


def _pump(reader: "subprocess.Popen[bytes]", writer: "subprocess.Popen[bytes]", drop: bytes) -> bool:
    """Copy the script from the reader to the writer, and commit only if the reader succeeded: a truncated file just ends."""
    assert reader.stdout is not None
    assert writer.stdin is not None
    try:
        with writer.stdin as script:
            script.write(b"%s\n%s\n" % (SQL["begin"].as_bytes(None), drop))
            # Servers before 17 do not know this setting, which programs from 17 on write for all of them.
            script.write(reader.stdout.read(HEAD_BYTES).replace(b"SET transaction_timeout = 0;\n", b""))
            shutil.copyfileobj(reader.stdout, script, COPY_BYTES)
            if reader.wait() != 0:
                return False
            script.write(SQL["commit"].as_bytes(None) + b"\n")
    except BrokenPipeError:
        return False
    return True


def _fsync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
