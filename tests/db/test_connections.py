"""Ways to Postgres that are not a plain socket: TLS, and poolers, which are refused."""

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg import AsyncConnection, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import DictRow
from psycopg.sql import SQL
from support.certificates import Certificate, make_certificate
from support.proxy import socket_of, threaded_proxy
from support.worker_processes import wait_until

from chiron_api.local_stack.ports import free_port, is_free
from chiron_workers.db.connect import SERVER_KEEPALIVE, Pool, connect, fetch_all, open_pool
from chiron_workers.db.migrate import migrate
from chiron_workers.db.pool import SteadyPool
from chiron_workers.errors import ChironError, ConfigurationError, ServiceUnavailable

PGBOUNCER = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"))


async def test_without_services_the_first_words_say_how_to_start_them() -> None:
    url = "postgresql://postgres@/chiron?host=/nonexistent"
    message = r"^Chiron's services do not run\. Start them with `chiron up`\. \(Postgres .*No such file.*CHIRON_DATABASE_URL"
    with pytest.raises(ServiceUnavailable, match=message):
        connect(url)


@pytest.fixture
def guest(database_url: str) -> Iterator[str]:
    """A role that Postgres asks for its password, unlike all others of a test."""
    role = f"guest_{os.getpid()}"
    with connect(database_url) as connection:
        (row,) = connection.execute("select current_setting('hba_file') as file").fetchall()
        file = Path(row["file"])
        rules = file.read_text()
        connection.execute(
            sql.SQL("create role {} login password 'open-sesame'").format(sql.Identifier(role))
        )
        file.write_text(f"local all {role} scram-sha-256\n{rules}")
        connection.execute("select pg_reload_conf()")
        try:
            wait_until(lambda: _is_asked_for_password(database_url, role), what="the reload")
            yield role
        finally:
            file.write_text(rules)
            connection.execute("select pg_reload_conf()")
            connection.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))


def _is_asked_for_password(database_url: str, role: str) -> bool:
    try:
        connect(make_conninfo(database_url, user=role)).close()
    except ServiceUnavailable:
        return True
    return False


NOBODY_LISTENS = {
    "socket": ({"host": "/nonexistent"}, r"^Chiron's services do not run.*No such file"),
    "port": (
        {"host": "127.0.0.1", "port": "1"},
        r"^Postgres cannot be reached: .*Connection refused.*chiron status",
    ),
    "host": ({"host": "nowhere.invalid"}, r"^Postgres cannot be reached: .*nowhere\.invalid"),
}
REFUSALS = {
    "database": ({"dbname": "nowhere"}, 'database "nowhere" does not exist'),
    "role": ({"user": "nobody_at_all"}, 'role "nobody_at_all" does not exist'),
    "password": ({"user": "guest", "password": "wrong"}, "password authentication failed"),
    "no password": ({"user": "guest"}, "no password supplied"),
}


@pytest.mark.parametrize(
    ("case", "is_patient"),
    [*((case, False) for case in (*NOBODY_LISTENS, *REFUSALS)), *((case, True) for case in REFUSALS)],
)
async def test_a_pool_asks_once_where_asking_again_is_no_use(
    database_url: str, guest: str, caplog: pytest.LogCaptureFixture, case: str, is_patient: bool
) -> None:
    changes, message = (NOBODY_LISTENS | REFUSALS)[case]
    changes = changes | ({"user": guest} if changes.get("user") == "guest" else {})
    with pytest.raises(ServiceUnavailable, match=message):
        async with open_pool(make_conninfo(database_url, **changes), size=2, is_patient=is_patient):
            pass
    # One, mostly: the next comes after half a second, and twenty fit into the ten seconds of a server's patience.
    assert sum("error connecting" in text for text in caplog.messages) <= 4


async def test_the_connection_that_was_used_last_goes_out_next(database_url: str) -> None:
    async with open_pool(database_url, size=3) as pool:
        connections = [await pool.getconn() for _ in range(3)]
        for connection in connections:
            await pool.putconn(connection)
        for _ in range(4):
            async with pool.connection() as connection:
                assert connection is connections[-1]


async def test_a_pool_that_shrinks_keeps_the_connection_that_is_used(database_url: str) -> None:
    pool = SteadyPool(
        database_url,
        away_s=None,
        connection_class=AsyncConnection[DictRow],
        min_size=1,
        max_size=3,
        max_idle=0.1,
        open=False,
    )
    async with pool:
        connections = [await pool.getconn() for _ in range(3)]
        for connection in connections:
            await pool.putconn(connection)
        async with asyncio.timeout(30):
            while pool.get_stats()["pool_size"] > 1:
                async with pool.connection() as connection:
                    latest = connection
                await asyncio.sleep(0.01)
        assert not latest.closed


async def test_a_server_that_proves_its_name_is_used_over_tls(
    database_url: str, certificate: Certificate
) -> None:
    with threaded_proxy(socket_of(database_url), certificate=certificate, is_postgres=True) as proxy:
        url = proxy.postgres_url(
            database_url, host="localhost", sslmode="verify-full", sslrootcert=certificate.file
        )
        async with open_pool(url, size=2) as pool:
            assert await fetch_all(pool, sql.SQL("select 1 as answer")) == [{"answer": 1}]
            async with pool.connection() as connection:
                assert connection.pgconn.ssl_in_use
        assert migrate(url) == []
        with connect(url) as single:
            assert single.pgconn.ssl_in_use


@pytest.mark.parametrize("case", ["another name", "another authority"])
def test_a_server_that_does_not_prove_its_name_is_refused(
    database_url: str, certificate: Certificate, tmp_path: Path, case: str
) -> None:
    shown = make_certificate(tmp_path, name="elsewhere" if case == "another name" else "localhost")
    trusted = shown if case == "another name" else certificate
    with threaded_proxy(socket_of(database_url), certificate=shown, is_postgres=True) as proxy:
        url = proxy.postgres_url(
            database_url, host="localhost", sslmode="verify-full", sslrootcert=trusted.file
        )
        with pytest.raises(ServiceUnavailable, match="certificate"):
            connect(url)


@pytest.fixture
def pgbouncer(database_url: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a database behind pgbouncer in transaction mode, with more lines of its configuration."""
    if PGBOUNCER is None:
        pytest.skip("needs Debian's package pgbouncer")
    parts = conninfo_to_dict(database_url)
    folder = Path(tempfile.mkdtemp(prefix="chiron-pgbouncer"))
    folder.chmod(0o755)
    with threaded_proxy(socket_of(database_url)) as upstream:
        port = free_port()
        (folder / "ini").write_text(
            f"[databases]\n* = host=127.0.0.1 port={upstream.port} user={parts['user']}\n[pgbouncer]\n"
            f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
            f"pool_mode = transaction\n{request.param}\n"
        )
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        process = subprocess.Popen(
            [PGBOUNCER, *user, str(folder / "ini")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            wait_until(lambda: not is_free("127.0.0.1", port), what="pgbouncer")
            yield f"postgresql://{parts['user']}@127.0.0.1:{port}/{parts['dbname']}"
        finally:
            process.kill()
            process.wait()
            shutil.rmtree(folder)


@pytest.mark.parametrize("pgbouncer", ["", "ignore_startup_parameters = options"], indirect=True)
def test_nothing_is_migrated_through_a_pooler(pgbouncer: str) -> None:
    with pytest.raises(ConfigurationError, match="leads to a connection pooler"):
        migrate(pgbouncer)


@pytest.mark.parametrize("pgbouncer", ["ignore_startup_parameters = options"], indirect=True)
async def test_no_pool_is_opened_through_a_pooler(pgbouncer: str) -> None:
    with pytest.raises(ConfigurationError, match="give it the address of PostgreSQL"):
        async with open_pool(pgbouncer, size=2):
            pass


async def test_a_session_without_our_settings_is_refused_whoever_dropped_them(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chiron_workers.db.connect.OPTIONS", "-c application_name=chiron")
    with pytest.raises(ChironError, match="connection pooler"):
        async with open_pool(database_url, size=2):
            pass


async def test_postgres_ends_the_process_behind_a_connection_whose_host_is_lost(pool: Pool) -> None:
    query = SQL("select name, reset_val, unit from pg_settings where name = any(%(names)s)")
    rows = await fetch_all(pool, query, {"names": list(SERVER_KEEPALIVE)})
    values = {row["name"]: f"{row['reset_val']}{row['unit'] or ''}" for row in rows}
    assert {name: value.replace("000ms", "s") for name, value in values.items()} == SERVER_KEEPALIVE
