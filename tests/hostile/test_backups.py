"""Backups that strangers made: each file of backups/ is one, and its first line says what becomes of it.

`refused: WORDS`, which the refusal says, or `restored: WHY`, where the rows come back and nothing else does. A `.sql` file
is run in a database before it is dumped as earlier versions did it, whole. Those that bring what is not Chiron's are also
run in one database, one after the other, whose backup is restored without it. A `.bytes` file has two more lines: words of
such a dump, and what stands there instead. `{canary}` is a path: whatever writes there was executed.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from support.databases import Databases
from typer.testing import CliRunner, Result

from chiron_api.backup import manifest, restores
from chiron_api.backup.postgres_clients import connection_arguments, program_path
from chiron_api.cli import build
from chiron_workers.settings import settings as read_settings

MEMBERS = sorted((Path(__file__).parent / "backups").iterdir())
FATES = {
    member: tuple(member.read_text().splitlines()[0].lstrip("-# ").split(": ", maxsplit=1))
    for member in MEMBERS
}
REFUSED = [member for member, (fate, _) in FATES.items() if fate == "refused"]
RESTORED = [member for member, (fate, _) in FATES.items() if fate == "restored"]
FOREIGN = [member for member in REFUSED if "which is not Chiron's" in FATES[member][1]]
ROWS = """
insert into subjects (id, title) values ('moon', 'The moon');
insert into batches (id, name, subject_id, run_count, open_runs, request_hash)
values ('01a20493-7518-7443-bcb2-aac5acda7f12', 'B', 'moon', 1, 1, '');
insert into runs (id, batch_id, role, subject_id, topic, model, max_turns)
values ('01a20493-7557-76f3-8424-40b12c186c01', '01a20493-7518-7443-bcb2-aac5acda7f12', 'research', 'moon', 'T', 'M', 5);
"""
CATALOGUE = """
select proname::text from pg_proc where pronamespace = 'public'::regnamespace and prosrc like '%canary%'
union all select relname::text from pg_class where relnamespace = 'public'::regnamespace
union all select nspname::text from pg_namespace where nspname !~ '^pg_'
union all select column_name::text from information_schema.columns where table_name = 'runs'
"""


@pytest.fixture
def canary() -> Iterator[Path]:
    """A path that the server may write to."""
    folder = Path(tempfile.mkdtemp(prefix="canary"))
    folder.chmod(0o777)
    yield folder / "c"
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def chiron(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., Result]]:
    """Runs a command against the database of a URL."""
    monkeypatch.chdir(tmp_path)

    def command(url: str, *arguments: str) -> Result:
        monkeypatch.setenv("CHIRON_DATABASE_URL", url)
        read_settings.cache_clear()
        return CliRunner().invoke(build(), arguments)

    yield command
    monkeypatch.undo()
    read_settings.cache_clear()


@pytest.fixture
def source_url(databases: Databases) -> Iterator[str]:
    """A migrated database with a run."""
    with databases.lend_copy() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(ROWS)
        yield url


@pytest.fixture(scope="module")
def whole_dump(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A backup as earlier versions made it, before somebody writes into it."""
    folder = tmp_path_factory.mktemp("backups")
    dump_with([], databases, folder / "whole.backup", folder / "c")
    return (folder / "whole.backup").read_bytes()


@pytest.fixture(scope="module")
def untouched_url(databases: Databases) -> Iterator[str]:
    """A database with nothing in it, which each refusal leaves so."""
    with databases.lend_blank() as url:
        yield url


def dump(url: str, file: Path, *options: str) -> None:
    """A backup of the whole database, schema and all, as earlier versions made it."""
    program = [
        program_path("pg_dump", 18),
        "--format=custom",
        "--compress=0",
        "--no-owner",
        "--no-privileges",
    ]
    subprocess.run([*program, *options, f"--file={file}", *connection_arguments(url)], check=True)


def written(member: Path, canary: Path) -> str:
    """The text of a member, with the path of its canary."""
    return member.read_text().replace("{canary}", str(canary))


def dump_with(members: list[Path], databases: Databases, file: Path, canary: Path) -> None:
    """A backup of a database in which these were run."""
    with databases.lend_copy() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(ROWS)
            for member in members:
                connection.execute(written(member, canary).encode())
        dump(url, file)
    canary.unlink(missing_ok=True)


def overwrite(member: Path, whole_dump: bytes, file: Path, canary: Path) -> None:
    """A backup with other words in it."""
    _, old, new = written(member, canary).encode().splitlines()
    assert old in whole_dump
    # A string of the table of contents keeps its length, so that the rest of the file stands where it stood.
    assert len(new) <= len(old)
    file.write_bytes(whole_dump.replace(old, new.ljust(len(old))))


def catalogue(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return sorted(name for (name,) in connection.execute(CATALOGUE))


def topics(url: str) -> list[tuple[str]]:
    with psycopg.connect(url) as connection:
        return connection.execute("select topic from runs").fetchall()


@pytest.mark.parametrize("member", REFUSED, ids=lambda member: member.name)
def test_a_backup_of_a_stranger_is_refused_and_runs_nothing(
    member: Path,
    whole_dump: bytes,
    untouched_url: str,
    databases: Databases,
    canary: Path,
    tmp_path: Path,
    chiron: Callable[..., Result],
) -> None:
    file = tmp_path / "a.backup"
    if member.suffix == ".sql":
        dump_with([member], databases, file, canary)
    else:
        overwrite(member, whole_dump, file, canary)
    result = chiron(untouched_url, "restore", "a.backup")
    assert not canary.exists()
    assert result.exit_code == 1, result.output
    assert FATES[member][1] in result.stderr
    assert result.stderr.count("\n") == 1
    assert catalogue(untouched_url) == ["information_schema", "public"]


@pytest.mark.parametrize(
    ("members", "options"),
    [*[([member], []) for member in RESTORED], (FOREIGN, ["--ours-only"])],
    ids=[*[member.name for member in RESTORED], "what is left out on request"],
)
def test_a_backup_of_a_stranger_runs_nothing_and_brings_rows_alone(
    members: list[Path],
    options: list[str],
    empty_url: str,
    databases: Databases,
    canary: Path,
    tmp_path: Path,
    chiron: Callable[..., Result],
) -> None:
    dump_with(members, databases, tmp_path / "a.backup", canary)
    result = chiron(empty_url, "restore", "a.backup", *options)
    assert not canary.exists()
    assert (result.exit_code, result.stderr) == (0, "")
    assert topics(empty_url) == [("T",)]
    assert set(catalogue(empty_url)) <= set(catalogue(databases.url_of(databases.template)))


def test_a_backup_that_lost_its_runs_is_not_restored_without_them(
    source_url: str, empty_url: str, tmp_path: Path, chiron: Callable[..., Result]
) -> None:
    assert chiron(source_url, "backup", "whole.backup").exit_code == 0
    contents = manifest.read(tmp_path / "whole.backup")
    assert contents is not None
    assert contents.rows["runs"] == 1
    with psycopg.connect(source_url, autocommit=True) as connection:
        connection.execute("delete from runs")
    for name, options in {"fewer": (), "none": ("--exclude-table-data=runs",)}.items():
        dump(source_url, tmp_path / f"{name}.backup", *options)
        manifest.append(tmp_path / f"{name}.backup", contents)
    result = chiron(empty_url, "restore", "fewer.backup")
    assert "fewer.backup has 0 rows of runs where its own list says 1" in result.stderr
    result = chiron(empty_url, "restore", "none.backup")
    assert "none.backup lacks the rows of runs" in result.stderr
    assert catalogue(empty_url) == ["information_schema", "public"]
    assert chiron(empty_url, "restore", "whole.backup").exit_code == 0


def test_a_restore_needs_no_superuser(
    source_url: str, databases: Databases, tmp_path: Path, chiron: Callable[..., Result]
) -> None:
    assert chiron(source_url, "backup", "all.backup").exit_code == 0
    role = sql.Identifier(f"plain_{os.getpid()}")
    with databases.lend_blank() as url, psycopg.connect(url, autocommit=True) as superuser:
        superuser.execute("create extension vector")
        superuser.execute("create extension btree_gin")
        superuser.execute(sql.SQL("create role {} login").format(role))
        try:
            database = sql.Identifier(superuser.info.dbname)
            superuser.execute(sql.SQL("alter database {} owner to {}").format(database, role))
            superuser.close()
            plain = url.replace("//postgres:", f"//{role.as_string(None).strip(chr(34))}:")
            for _ in range(2):
                result = chiron(plain, "restore", "all.backup", "--force")
                assert (result.exit_code, result.stderr) == (0, "")
            assert topics(plain) == [("T",)]
            assert chiron(plain, "backup", "again.backup").exit_code == 0
        finally:
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(sql.SQL("drop owned by {}").format(role))
                connection.execute(
                    sql.SQL("alter database {} owner to postgres").format(
                        sql.Identifier(connection.info.dbname)
                    )
                )
                connection.execute(sql.SQL("drop role {}").format(role))


def test_a_superuser_restores_without_its_rights(
    source_url: str, empty_url: str, monkeypatch: pytest.MonkeyPatch, chiron: Callable[..., Result]
) -> None:
    assert chiron(source_url, "backup", "all.backup").exit_code == 0
    witness = """
    do $$ begin
      raise exception 'superuser: %', (select rolsuper from pg_roles where rolname = current_user);
    end $$
    """
    with monkeypatch.context() as patch:
        patch.setitem(
            restores.SQL, "leave_role", sql.SQL(witness)
        )  # runs behind the rows, as whoever copied them
        assert "superuser: f." in chiron(empty_url, "restore", "all.backup").stderr
    result = chiron(empty_url, "restore", "all.backup")
    assert (result.exit_code, result.stderr) == (0, "")
    with psycopg.connect(empty_url) as connection:
        query = "select rolname from pg_roles where rolname like 'chiron_restore%'"
        assert connection.execute(query).fetchall() == []
