import typer

from chiron_workers.db.connect import require_url
from chiron_workers.db.migrate import migrate as bring_up_to_date
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
def migrate() -> None:
    """Bring the database's schema up to date. Safe to repeat, and safe when two start at once."""
    names = bring_up_to_date(require_url(settings().database_url))
    for name in names:
        typer.echo(f"Applied {name}.")
    if not names:
        typer.echo("The schema is up to date; nothing was missing.")
