import os
import sys
from typing import Annotated

import typer

from chiron_api.local_stack.programs import node_name
from chiron_workers.db.connect import require_url
from chiron_workers.db.migrate import pending
from chiron_workers.errors import ChironError, ConfigurationError
from chiron_workers.settings import settings

cli = typer.Typer()

Concurrency = Annotated[
    int | None, typer.Option(min=1, help="Runs played at once; default CHIRON_CONCURRENCY.")
]
Name = Annotated[str, typer.Option(help="Name in Flower; the process id and the host are added to it.")]


@cli.command()
def worker(concurrency: Concurrency = None, name: Name = "worker") -> None:
    """Run one worker here, in place of this command. `chiron up` starts workers by itself.

    The same as `celery -A chiron_workers worker`, after a look whether the database can be used.
    It imports nothing from the current folder. SIGTERM drains it.
    """
    current = settings()
    if migrations := pending(require_url(current.database_url)):
        raise ChironError(f"The database lacks {', '.join(migrations)}. Run `chiron migrate` first.")
    if not current.broker:
        raise ConfigurationError("No broker is known. Start one with `chiron up`, or set CHIRON_REDIS_URL.")
    runs = str(concurrency or current.concurrency)
    command = [
        sys.executable, "-P", "-m", "chiron_workers", "worker",
        "-n", node_name(name, os.getpid()), "--concurrency", runs, "--loglevel", current.log_level,
    ]  # fmt: skip
    os.execve(sys.executable, command, os.environ | {"CHIRON_CONCURRENCY": runs})  # noqa: S606  # our own interpreter
