import psycopg
import pytest
from psycopg.rows import dict_row
from typer.testing import CliRunner, Result

from chiron_api.cli import build
from chiron_api.local_stack.checks import broker
from chiron_workers.settings import settings as read_settings


@pytest.fixture
def chiron(settings, monkeypatch, tmp_path):
    """Runs a command against the test's own services, as in a pipe."""
    for name in ("home", "database_url", "redis_url", "model"):
        monkeypatch.setenv(f"CHIRON_{name.upper()}", str(getattr(settings, name)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(broker, "PING_WITHIN_S", 0.1)  # no worker of a test answers this process
    read_settings.cache_clear()

    def command(*arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(build(), arguments, input=stdin)

    yield command
    read_settings.cache_clear()


@pytest.fixture
def rows(database_url):
    """Runs SQL and gives its rows."""

    def read(query: str, *args) -> list[dict]:
        with psycopg.connect(database_url, row_factory=dict_row) as connection:
            return connection.execute(query, args or None).fetchall()

    return read
