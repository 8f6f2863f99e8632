"""Backups: the rows of all tables of Chiron's in one file, written by pg_dump while everything runs."""

import os
from dataclasses import dataclass
from pathlib import Path

from chiron_api.atomic_file import atomic_write
from chiron_api.backup import manifest
from chiron_api.backup.archive import Archive
from chiron_api.backup.postgres_clients import connection_arguments, program_path, run_program
from chiron_workers.db.connect import connect
from chiron_workers.db.migrate import functions, tables, views
from chiron_workers.db.queries import load
from chiron_workers.errors import ChironError, UsageError

SQL = load(__file__)
# Partitions and vectors, which no migration names. pg_dump reads these as regular expressions, as Postgres does.
MONTH = "[0-9][0-9][0-9][0-9]_[0-9][0-9]"
PATTERNS = (
    f"(entries|tool_results|events)_{MONTH}",
    f"(entries|tool_results|events)_before_{MONTH}",
    "vectors_[0-9]+",
)
STRANGERS_MAX = 20


@dataclass(frozen=True, slots=True)
class Backup:
    """What was written. `left_out` is what the database holds beside Chiron's own, such as `table public.notes`."""

    size_bytes: int
    left_out: list[str]


def back_up(database_url: str, target: Path, *, force: bool = False) -> Backup:
    """Write a backup. Workers may go on: it holds everything as of one moment.

    The file gets its name when it is complete, was read back whole, and is on the disk.

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
        row = connection.execute(SQL["database_state"]).fetchone()
        assert row is not None
        if not row["is_ours"]:
            raise ChironError("This database holds nothing of Chiron's. Is CHIRON_DATABASE_URL right?")
        ours = {"relations": [*tables(), *views()], "functions": functions(), "patterns": list(PATTERNS)}
        strangers = connection.execute(SQL["strangers"], {**ours, "limit": STRANGERS_MAX}).fetchall()
    with atomic_write(target) as file:
        try:
            file.touch(mode=0o600, exist_ok=False)
        except OSError as error:
            raise ChironError(f"{target} cannot be written: {error.strerror}.") from None
        _dump(database_url, file, schema=str(row["schema"]), major=int(str(row["major"])))
        _append_manifest(file, target)
        _fsync(file)
    _fsync(target.parent)
    return Backup(target.stat().st_size, [str(stranger["name"]) for stranger in strangers])


def _dump(database_url: str, file: Path, *, schema: str, major: int) -> None:
    identifier = '"' + schema.replace('"', '""') + '"'
    selection = [f"--table={identifier}.{name}" for name in (*tables(), *PATTERNS)]
    options = ["--format=custom", "--data-only", "--encoding=UTF8", "--lock-wait-timeout=60s"]
    program = [program_path("pg_dump", major), *options, f"--file={file}", *selection]
    run_program([*program, *connection_arguments(database_url)], database_url, "The backup failed")


def _append_manifest(file: Path, target: Path) -> None:
    archive = Archive.open(file)
    rows = {entry.name: archive.count(entry) for entry in archive.tables.values()}
    try:
        manifest.append(file, manifest.Manifest(rows=rows))
    except OSError as error:
        raise ChironError(f"{target} cannot be written: {error.strerror}.") from None


def _fsync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
