import json
import os
import socket
from pathlib import Path

import psycopg
import pytest
import redis

from chiron_api.local_stack.checks import Check, broker, database, duties, machine, sandbox, search, web
from chiron_api.local_stack.checks.database import pgvector, server_version
from chiron_api.local_stack.checks.machine import disk
from chiron_api.local_stack.ports import free_port
from chiron_workers.documents.sandbox.confinement import Confinement
from chiron_workers.settings import Settings

HOMEBREW = "PostgreSQL 16.10 (Homebrew) on aarch64-apple-darwin23.6.0, compiled by Apple clang"
PACKAGED = "PostgreSQL 16.10 (Debian 16.10-1.pgdg12+1) on x86_64-pc-linux-gnu, compiled by gcc"
OF_DEBIAN = "PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc"


def test_what_is_right_is_ok_and_what_is_missing_makes_the_exit_code_1(chiron, monkeypatch) -> None:
    monkeypatch.setenv("CHIRON_API_PORT", str(free_port()))
    monkeypatch.setenv("CHIRON_FLOWER_PORT", str(free_port()))
    result = chiron("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(result.stdout)["checks"]}
    assert result.exit_code == 1
    assert {name for name, check in checks.items() if not check["ok"]} == {"workers"}
    assert "chiron worker" in checks["workers"]["advice"]


def test_migrate_says_what_it_applied_and_then_that_nothing_was_missing(chiron, database_url: str) -> None:
    assert chiron("migrate").stdout == "The schema is up to date; nothing was missing.\n"
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("drop schema public cascade")
        connection.execute("create schema public")
    assert "Applied 0001_runs.\n" in chiron("migrate").stdout


@pytest.mark.parametrize(
    ("model", "variables", "ok"),
    [
        ("claude-opus-5-5", {}, False),
        ("claude-opus-5-5", {"ANTHROPIC_API_KEY": "key"}, True),
        ("claude-opus-5-5", {"ANTHROPIC_BASE_URL": "http://127.0.0.1:8080"}, True),
        ("offline", {}, True),
    ],
)
def test_a_missing_key_is_a_problem_only_where_one_is_needed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, model: str, variables: dict[str, str], *, ok: bool
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = machine.checks(settings.model_copy(update={"model": model}))
    assert _only(found, "model key").ok is ok


@pytest.mark.parametrize(
    ("confinement", "is_linux", "words", "missing_words"),
    [
        (Confinement(has_seccomp=True, landlock=7), True, ["no network", "no files"], ["could"]),
        (Confinement(has_seccomp=True), True, ["no network", "could read files"], ["could reach"]),
        (Confinement(), True, ["limits of time", "could reach the network"], ["no network"]),
        (Confinement(), False, ["limits of time", "This system has no more"], ["Linux", "container"]),
    ],
)
def test_what_holds_parsers_is_told(
    confinement: Confinement, words: list[str], missing_words: list[str], *, is_linux: bool
) -> None:
    check = sandbox.check(confinement, is_linux=is_linux)
    assert check.ok
    for word in words:
        assert word in check.found
    for word in missing_words:
        assert word not in check.found


@pytest.mark.parametrize(
    ("model", "search_setting", "finding"),
    [
        ("offline", "auto", "corpus. The offline researcher asks none of the web."),
        ("offline", "auto,duckduckgo", "corpus. The offline researcher asks none of the web."),
        ("claude-opus-5-5", "auto", "claude, corpus."),
        ("other", "auto", f"corpus. {search.WEB}"),
        ("other", "auto,duckduckgo", "corpus, duckduckgo."),
    ],
)
def test_the_providers_that_runs_of_the_model_ask_are_named(
    settings: Settings, model: str, search_setting: str, finding: str
) -> None:
    [check] = search.checks(settings.model_copy(update={"model": model, "search": search_setting}))
    assert (check.ok, check.found) == (True, f"Asked for sources: {finding}")


def test_the_offline_researcher_without_a_provider_is_a_problem(settings: Settings) -> None:
    [check] = search.checks(settings.model_copy(update={"model": "offline", "search": "duckduckgo"}))
    assert check.advice == "Set CHIRON_SEARCH=auto."


def test_a_nearly_full_disk_is_a_problem(tmp_path: Path) -> None:
    assert disk(tmp_path, 2_000_000_000).ok
    assert "CHIRON_HOME" in disk(tmp_path, 900_000_000).advice


def test_a_wrong_password_is_named_and_not_repeated(
    settings: Settings, database_url: str, short_dir: Path
) -> None:
    rules = short_dir / "pg" / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text("local all locked scram-sha-256\n" + before)
    try:
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute("create role locked login password 'right'")
            connection.execute("select pg_reload_conf()")
        found = _database(settings, database_url.replace("postgres:@", "locked:wrong-one@"))
        assert "password authentication failed" in found.found
        assert "password in CHIRON_DATABASE_URL" in found.advice
        assert "wrong-one" not in found.found + found.advice
        without = _database(settings, database_url.replace("postgres:@", "locked@"))
        assert "Add the password" in without.advice
    finally:
        rules.write_text(before)
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute("select pg_reload_conf()")
            connection.execute("drop role locked")


def test_each_way_not_to_reach_postgres_has_its_own_advice(settings: Settings, database_url: str) -> None:
    path = database_url.split("/")[3].split("?", maxsplit=1)[0]
    found = {
        "create database": database_url.replace(path, "nowhere"),
        "Create the role": database_url.replace("postgres:@", "nobody@"),
        "Start it": f"postgresql://postgres@127.0.0.1:{free_port()}/chiron",
        "chiron up": "postgresql://postgres@/chiron?host=/nonexistent",
        "Correct the host": "postgresql://postgres@host.invalid/chiron",
        "Write it as": "postgresql://[broken",
    }
    for advice, url in found.items():
        check = _database(settings, url)
        assert advice in check.advice, (advice, check)
        assert "\n" not in check.found + check.advice


def test_a_database_without_extension_and_schema_is_told_to_migrate(
    settings: Settings, database_url: str
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("drop schema public cascade")
        connection.execute("create schema public")
    found = database.checks(settings)
    assert [check.name for check in found if not check.ok] == ["pgvector", "schema"]
    assert all("chiron migrate" in check.advice for check in found if not check.ok)


def test_an_old_server_and_an_old_extension_are_told_apart() -> None:
    assert server_version(150_004).ok
    assert "15 or newer" in server_version(140_010).advice
    assert pgvector("0.8.6", "0.8.0", server=HOMEBREW).ok
    assert "alter extension vector update" in pgvector("0.8.6", "0.7.0", server=HOMEBREW).advice
    assert "chiron migrate" in pgvector("0.10.0", None, server=HOMEBREW).advice


@pytest.mark.parametrize("version", [None, "0.7.4"])
def test_advice_on_pgvector_works_on_the_system_that_the_server_runs_on(version: str | None) -> None:
    package = "apt install postgresql-16-pgvector"
    assert package in pgvector(version, None, server=PACKAGED).advice
    for server in (HOMEBREW, OF_DEBIAN):  # Debian's own is too old
        advice = pgvector(version, None, server=server).advice
        assert "apt install" not in advice
        assert "unset CHIRON_DATABASE_URL" in advice


def test_each_way_not_to_reach_redis_has_its_own_advice(settings: Settings, valkey: str) -> None:
    with redis.Redis.from_url(valkey) as client:
        client.execute_command("ACL", "SETUSER", "locked", "on", ">right", "~*", "+@all")
    host = valkey.rsplit("@", maxsplit=1)[-1].removeprefix("redis://")
    found = {
        "Correct the password": f"redis://locked:wrong-one@{host}",
        "Start it": f"redis://127.0.0.1:{free_port()}/0",
        "Write it as": "http://127.0.0.1",
        "chiron up": "",
    }
    for advice, url in found.items():
        check = _only(broker.checks(settings.model_copy(update={"redis_url": url})), "redis")
        assert advice in check.advice, (advice, check)
        assert "wrong-one" not in check.found + check.advice


def test_a_broker_that_cannot_be_reached_is_told_apart_from_redis(settings: Settings) -> None:
    broken = settings.model_copy(update={"broker_url": f"redis://:secret@127.0.0.1:{free_port()}/0"})
    found = broker.checks(broken)
    assert [(check.name, check.ok) for check in found] == [("redis", True), ("broker", False)]
    assert "CHIRON_BROKER_URL" in found[1].advice
    assert "secret" not in found[1].found


def test_a_port_of_another_program_is_named_with_its_setting(settings: Settings) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = settings.model_copy(update={"api_port": other.getsockname()[1], "flower_port": free_port()})
        api, flower = web.checks(taken)
    assert (api.ok, flower.ok) == (False, True)
    assert f"(pid {os.getpid()})" in api.found
    assert "CHIRON_API_PORT" in api.advice


def _database(settings: Settings, url: str) -> Check:
    found = database.checks(settings.model_copy(update={"database_url": url}))
    assert [check.ok for check in found] == [False]
    return found[0]


def _only(checks: list[Check], name: str) -> Check:
    return next(check for check in checks if check.name == name)


def test_what_duties_fail_at_is_a_problem_with_its_reason(settings: Settings) -> None:
    assert duties.checks(settings) == []
    with psycopg.connect(settings.database_url, autocommit=True) as connection:
        connection.execute(
            "insert into duty_failures (duty, item, reason, failures, retry_at)"
            " values ('rechecks', 'a-b', 'PermissionError: /books', 3, now())"
        )
    [check] = duties.checks(settings)
    assert not check.ok
    assert check.found.startswith("rechecks a-b, 3 times in a row, last at ")
    assert check.found.endswith(": PermissionError: /books")
