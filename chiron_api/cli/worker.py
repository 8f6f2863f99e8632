import os
import sys
from typing import Annotated

import typer

from chiron_api.local_stack.programs import node_name
from chiron_workers.db.connect import require_url
from chiron_workers.db.migrate import pending
from chiron_workers.errors import ChironError, ConfigurationError
from chiron_workers.settings import settings
from chiron_workers.settings.cores import worker_count

cli = typer.Typer()

Concurrency = Annotated[
    int | None, typer.Option(min=1, help="Runs that each process plays at once; default CHIRON_CONCURRENCY.")
]
Name = Annotated[str, typer.Option(help="Name in Flower; the process id and the host are added to it.")]
Processes = Annotated[
    int, typer.Option(min=0, help="Worker processes; 0: as CHIRON_WORKERS says, or one for each core.")
]


@cli.command()
def worker(concurrency: Concurrency = None, name: Name = "worker", processes: Processes = 1) -> None:
    """Run one worker here, or several, in place of this command. `chiron up` starts workers by itself.

    The same as `celery -A chiron_workers worker`, after a look whether the database can be used.
    It imports nothing from the current folder. SIGTERM drains it. Of several processes one that ends is started again.
    """
    current = settings()
    if migrations := pending(require_url(current.database_url)):
        raise ChironError(f"The database lacks {', '.join(migrations)}. Run `chiron migrate` first.")
    if not current.broker:
        raise ConfigurationError("No broker is known. Start one with `chiron up`, or set CHIRON_REDIS_URL.")
    runs = str(concurrency or current.concurrency)
    count, python = processes or worker_count(current), [sys.executable, "-P", "-m"]
    command = [
        *python, "chiron_workers", "worker",
        "-n", node_name(name, os.getpid()), "--concurrency", runs, "--loglevel", current.log_level,
    ]  # fmt: skip
    if count > 1:
        command = [*python, "chiron_workers.worker.processes", str(count), name, runs, current.log_level]
    os.execve(sys.executable, command, os.environ | {"CHIRON_CONCURRENCY": runs})  # noqa: S606  # our own interpreter
