"""Hosts that are lost without a word: Postgres ends the processes behind their connections within a minute."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo
from psycopg.pq import TransactionStatus
from support.deaf_sockets import deafen, needs_filters
from support.own_postgres import own_postgres
from support.worker_processes import wait_until

from benchmarks.patient_postgres import pg_ctl
from chiron_api.local_stack.ports import free_port
from chiron_workers.db.connect import OPTIONS, connect
from chiron_workers.db.connections import SteadyThreadConnection

LOCK = 7_777
ENDED_WITHIN_S = 60.0
STATES = ("idle", "in a statement", "waiting for a lock", "sending rows")
STATEMENTS = {
    "in a statement": "select pg_sleep(3600)",
    "waiting for a lock": f"select pg_advisory_lock({LOCK})",
    "sending rows": "select repeat('x', 1000) from generate_series(1, 1000000)",
}


@pytest.fixture
def tcp_url(short_dir: Path) -> Iterator[str]:
    """A database of a server that is reached over TCP."""
    with own_postgres(short_dir / "tcp") as postgres:
        server, port = postgres.server, free_port()
        options = f"-c listen_addresses=127.0.0.1 -p {port} -k {server.get_postmaster_info().socket_dir}"
        pg_ctl(["-w", "-o", options, "restart"], pgdata=server.pgdata, user=server.system_user)
        yield make_conninfo(postgres.url, host="127.0.0.1", port=port, sslmode="disable")


@needs_filters
def test_the_processes_of_a_lost_host_end_within_a_minute_whatever_they_do(tcp_url: str) -> None:
    with ExitStack() as resources, connect(tcp_url) as witness:
        witness.execute("select pg_advisory_lock(%s)", [LOCK])
        processes = {}
        for state in STATES:
            # Its own keepalive would give up and say so, which a host that is lost does not.
            connection = SteadyThreadConnection.connect(tcp_url, options=OPTIONS)
            resources.callback(connection.close)
            processes[connection.info.backend_pid] = state
            if statement := STATEMENTS.get(state):
                connection.pgconn.send_query(statement.encode())
                while connection.pgconn.flush():
                    pass
                assert connection.pgconn.transaction_status == TransactionStatus.ACTIVE
            deafen(connection.pgconn.socket)
        began = time.monotonic()

        def alive() -> set[str]:
            rows = witness.execute("select pid from pg_stat_activity").fetchall()
            return {processes[row["pid"]] for row in rows if row["pid"] in processes}

        assert alive(), "the processes ended before their host was lost"
        try:
            wait_until(lambda: not alive(), ENDED_WITHIN_S, "the end of all processes")
        finally:
            print(f"after {time.monotonic() - began:.0f} s alive: {alive()}")
