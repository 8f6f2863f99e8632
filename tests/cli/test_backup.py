"""Backup and restore by the real pg_dump and psql: all of it or nothing, and never a password in an argv."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from support.json_lines import json_lines
from support.research_rows import Shelf
from support.worker_processes import chiron as chiron_process
from support.worker_processes import environment, wait_until

from chiron_api.backup import postgres_clients
from chiron_workers.db.migrate import migrate, migrations, pending
from chiron_workers.errors import ConfigurationError
from chiron_workers.settings import Settings
from chiron_workers.settings import settings as read_settings

TABLES = (
    "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1"
)


def contents(url: str) -> dict[str, list]:
    """All rows of all tables, sorted, but for the entries of restores."""
    found = {}
    with psycopg.connect(url) as connection:
        for (table,) in connection.execute(TABLES).fetchall():
            query = sql.SQL("select t::text from {} t order by 1").format(sql.Identifier(table))
            rows = connection.execute(query).fetchall()
            found[table] = [row for row in rows if table != "audit" or ",database.restore," not in row[0]]
    return found


@pytest.fixture
def at(chiron, monkeypatch):
    """Runs a command against the database of a URL."""

    def command(url: str, *arguments: str):
        monkeypatch.setenv("CHIRON_DATABASE_URL", url)
        read_settings.cache_clear()
        return chiron(*arguments)

    return command


@pytest.fixture
def migrated_url(databases):
    """URL of a migrated database that nobody is connected to."""
    with databases.lend_copy() as url:
        yield url


@pytest.fixture
def filled(at, migrated_url) -> str:
    """URL of a database with a batch in it."""
    assert at(migrated_url, "submit", "A", "B", "--subject", "S").exit_code == 0
    return migrated_url


@dataclass(frozen=True)
class SharedBackup:
    """A backup that tests restore and leave as it is, and what was in its database."""

    path: str
    contents: dict[str, list]


@pytest.fixture(scope="module")
def shared_backup(databases, valkey, tmp_path_factory) -> Iterator[SharedBackup]:
    home = tmp_path_factory.mktemp("backup")
    with databases.lend_copy() as url:
        settings = Settings(_env_file=None, home=home, database_url=url, redis_url=valkey, model="offline")
        for command in (("submit", "A", "B", "--subject", "S"), ("backup", "all.backup")):
            assert chiron_process(settings, *command).returncode == 0
        yield SharedBackup(str(home / "all.backup"), contents(url))


def said(found) -> str:
    assert found.exit_code != 0
    assert found.stderr.count("\n") == 1, found.stderr
    return found.stderr.removeprefix("chiron: ").strip()


def left(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir() if not file.name.endswith(".log"))


def test_what_is_restored_is_what_was_backed_up(at, filled, empty_url, tmp_path):
    found = at(filled, "backup", "all.backup")
    assert (found.exit_code, found.stderr) == (0, "")
    assert re.fullmatch(
        r"Wrote all.backup \(0\.\d MiB\). `chiron restore all.backup` puts it back.\n", found.stdout
    )
    assert (tmp_path / "all.backup").stat().st_mode & 0o777 == 0o600
    found = at(empty_url, "restore", "all.backup")
    assert (found.exit_code, found.stderr) == (0, "")
    assert contents(empty_url) == contents(filled)
    newest = json.loads(at(empty_url, "audit", "--json").stdout.splitlines()[0])
    assert (newest["action"], newest["target"]) == ("database.restore", "all.backup")
    assert pending(empty_url) == []
    assert at(empty_url, "submit", "C", "--subject", "S").exit_code == 0


def test_a_migrated_database_without_data_takes_a_backup_too(at, shared_backup, empty_url):
    migrate(empty_url)
    assert at(empty_url, "restore", shared_backup.path).exit_code == 0
    assert contents(empty_url) == shared_backup.contents


def test_a_backup_of_an_older_version_is_restored_and_then_migrated(at, released_url, migrated_url):
    assert at(released_url, "backup", "old.backup").exit_code == 0
    found = at(migrated_url, "restore", "old.backup")
    assert (found.exit_code, f"is up to date now ({migrations()[2].name}" in found.stdout) == (0, True)
    assert pending(migrated_url) == []
    with psycopg.connect(migrated_url) as connection:
        assert connection.execute("select count(*) from runs where state = 'running'").fetchone() == (2,)
    assert json_lines(at(migrated_url, "list", "--json").stdout)[0]["name"] == "In flight"


def test_a_file_that_exists_is_not_overwritten_unasked(at, filled, tmp_path):
    (tmp_path / "all.backup").write_text("precious")
    found = at(filled, "backup", "all.backup")
    assert (found.exit_code, "Choose another name, or overwrite it with --force" in said(found)) == (2, True)
    assert (tmp_path / "all.backup").read_text() == "precious"
    assert at(filled, "backup", "all.backup", "--force").exit_code == 0
    assert (tmp_path / "all.backup").read_bytes().startswith(b"PGDMP")
    assert at(filled, "backup", "nowhere/all.backup").exit_code == 2


@pytest.mark.parametrize("target", [".", "pipe"])
def test_what_is_no_file_is_not_replaced_even_with_force(at, filled, tmp_path, target):
    os.mkfifo(tmp_path / "pipe")
    found = at(filled, "backup", target, "--force")
    assert (found.exit_code, "is no file that could be overwritten" in said(found)) == (2, True)
    assert (tmp_path / "pipe").is_fifo()
    assert left(tmp_path) == ["pipe"]


@pytest.mark.skipif(not shutil.which("prlimit"), reason="needs prlimit")
def test_a_disk_that_is_full_leaves_no_half_file(filled, settings, tmp_path):
    command = [
        "prlimit",
        "--fsize=4000",
        sys.executable,
        "-m",
        "chiron_api",
        "backup",
        "all.backup",
        "--force",
    ]
    (tmp_path / "all.backup").write_text("precious")
    found = subprocess.run(
        command, env=environment(settings), cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )  # fmt: skip
    assert (found.returncode, found.stderr) == (
        1,
        "chiron: The backup failed: could not write to output file: File too large.\n",
    )
    assert left(tmp_path) == ["all.backup"]
    assert (tmp_path / "all.backup").read_text() == "precious"


def test_a_database_that_is_not_chirons_is_not_backed_up(at, empty_url, tmp_path):
    assert "holds nothing of Chiron's" in said(at(empty_url, "backup", "all.backup"))
    assert left(tmp_path) == []


def test_data_is_dropped_only_with_force(at, shared_backup, released_url):
    migrate(released_url)
    before = contents(released_url)
    assert "say --force to drop all of it" in said(at(released_url, "restore", shared_backup.path))
    assert contents(released_url) == before
    assert at(released_url, "restore", shared_backup.path, "--force").exit_code == 0
    assert contents(released_url) == shared_backup.contents


def test_nothing_is_restored_while_somebody_is_connected(at, shared_backup, empty_url):
    with psycopg.connect(empty_url, application_name="chiron-renewal"):
        found = said(at(empty_url, "restore", shared_backup.path))
    assert found.startswith("Programs are connected to this database (1 x chiron-renewal). Stop them first")
    assert contents(empty_url) == {}


def test_what_is_no_backup_is_refused(at, empty_url, filled, tmp_path):
    (tmp_path / "letter").write_text("Dear all,")
    found = at(empty_url, "restore", "letter")
    assert (found.exit_code, "is no backup made by `chiron backup`" in said(found)) == (2, True)
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute("create table stranger (id int)")
    dump = [postgres_clients.program_path("pg_dump", 18), "--format=custom", "--file", tmp_path / "other"]
    subprocess.run([*dump, *postgres_clients.connection_arguments(empty_url)], check=True)
    assert "holds nothing of Chiron's" in said(at(filled, "restore", "other", "--force"))
    found = at(empty_url, "restore", "missing")
    assert (found.exit_code, "missing cannot be read: No such file or directory." in said(found)) == (2, True)


def test_a_file_that_is_cut_short_changes_nothing(at, filled, empty_url, tmp_path):
    with psycopg.connect(filled) as connection:  # so that data makes up most of the file
        connection.execute(
            "insert into subjects (id, title) select 's-' || n, md5(n::text) from generate_series(1, 20000) n"
        )
    at(filled, "backup", "all.backup")
    whole = (tmp_path / "all.backup").read_bytes()
    migrate(empty_url)
    before = contents(empty_url)
    for share in (0.3, 0.9, 0.999):
        (tmp_path / "cut.backup").write_bytes(whole[: int(len(whole) * share)])
        said(at(empty_url, "restore", "cut.backup"))
        assert contents(empty_url) == before, share
    with psycopg.connect(empty_url, autocommit=True) as connection:
        query = (
            "select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        )
        wait_until(lambda: not connection.execute(query).fetchone(), what="nobody is left connected")


def test_a_backup_of_a_newer_version_is_refused(at, filled, empty_url):
    with psycopg.connect(filled) as connection:
        connection.execute(
            "insert into schema_migrations (version, name) values (9999, '9999_from_the_future')"
        )
    at(filled, "backup", "new.backup")
    assert "is at schema version 9999, newer than this program" in said(
        at(empty_url, "restore", "new.backup")
    )
    assert contents(empty_url) == {}


def test_a_table_of_somebody_else_in_the_way_is_named_and_nothing_changes(at, shared_backup, empty_url):
    with psycopg.connect(empty_url) as connection:
        connection.execute("create table runs (id int)")
    found = said(at(empty_url, "restore", shared_backup.path))
    assert found == 'Migration 0001_runs fails: relation "runs" already exists. Put that right.'
    assert contents(empty_url) == {"runs": []}


def test_passwords_are_in_no_argv():
    url = "postgresql://me:s3cret%40@db.example:5433/chiron?sslmode=require"
    [shown] = postgres_clients.connection_arguments(url)
    assert "s3cret" not in shown
    assert all(
        part in shown
        for part in ("user=me", "host=db.example", "port=5433", "sslmode=require", "dbname=chiron")
    )
    assert postgres_clients.environment(url)["PGPASSWORD"] == "s3cret@"
    with pytest.raises(ConfigurationError, match="sslpassword"):
        postgres_clients.connection_arguments("postgresql://me@db.example/chiron?sslpassword=s3cret")


def test_a_server_newer_than_every_program_is_named():
    with pytest.raises(
        ConfigurationError, match="The server is PostgreSQL 99, and no pg_dump of that version"
    ):
        postgres_clients.program_path("pg_dump", 99)


def test_a_backup_names_tables_of_ones_own_and_leaves_them_out(at, filled, empty_url):
    with psycopg.connect(filled, autocommit=True) as connection:
        connection.execute("create table reading_list (id int); create view my_runs as select id from runs")
        connection.execute("create function mine() returns int language sql return 1")
    result = at(filled, "backup", "all.backup")
    assert result.exit_code == 0
    assert "left out, as it is not Chiron's" in result.stderr
    assert "function public.mine, table public.reading_list, view public.my_runs. Back it up" in result.stderr
    assert json.loads(at(filled, "backup", "all.backup", "--force", "--json").stdout)["left_out"] == [
        "function public.mine",
        "table public.reading_list",
        "view public.my_runs",
    ]
    assert at(empty_url, "restore", "all.backup").exit_code == 0
    assert contents(empty_url) == {
        name: rows for name, rows in contents(filled).items() if name != "reading_list"
    }


def test_the_facts_that_runs_met_are_restored_as_they_were(at, filled, empty_url):
    shelf = Shelf(filled)
    run, other = (row[0] for row in shelf.connection.execute("select id from runs order by id").fetchall())
    fact = shelf.fact("s", "Ice floats.", "https://a.org/", run_id=run)
    shelf.confirm(fact, "Ice floats on water.", "https://b.org/", run_id=other)
    met = "insert into run_facts (run_id, fact_id, how) values (%s, %s, 'searched'), (%s, %s, 'cited')"
    shelf.connection.execute(met, [other, fact, other, fact])
    shelf.connection.close()
    before = contents(filled)
    assert len(before["run_facts"]) == 4
    assert at(filled, "backup", "met.backup").exit_code == 0
    assert at(empty_url, "restore", "met.backup").exit_code == 0
    assert contents(empty_url)["run_facts"] == before["run_facts"]
