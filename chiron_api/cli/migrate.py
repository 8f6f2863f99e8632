import typer
from psycopg import Connection
from psycopg.rows import DictRow

from chiron_api.cli.display.answer import AsJson, print_answer
from chiron_workers.access.audit import has_trail, record_sync
from chiron_workers.db.connect import require_url
from chiron_workers.db.migrate import Migration
from chiron_workers.db.migrate import migrate as bring_up_to_date
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
def migrate(as_json: AsJson = False) -> None:
    """Bring the database's schema up to date. Safe to repeat, and safe when two start at once."""
    url = require_url(settings().database_url)
    names = bring_up_to_date(url, on_applied=_record)
    sentences = [f"Applied {name}." for name in names] or ["The schema is up to date; nothing was missing."]
    print_answer("\n".join(sentences), {"applied": names}, as_json=as_json)


def _record(connection: Connection[DictRow], migration: Migration) -> None:
    if has_trail(connection):
        record_sync(connection, "database.migrate", migration.name, {})
