import os
import sys

import typer

from chiron_api.local_stack.access import flower_password
from chiron_api.local_stack.home import make_folder
from chiron_api.local_stack.ports import port_conflict_of
from chiron_api.local_stack.service_environment import flower_environment
from chiron_workers.errors import ChironError, ConfigurationError
from chiron_workers.settings import settings
from chiron_workers.settings.variables import process_environment

cli = typer.Typer()
COMMAND = [sys.executable, "-P", "-m", "chiron_api.flower_server"]


@cli.command()
def flower() -> None:
    """Run Flower here, in place of this command: a web page that shows workers and runs, and changes none.

    Its user is `chiron`; `chiron key flower` prints the password: CHIRON_FLOWER_PASSWORD, or one that CHIRON_HOME keeps.
    """
    current = settings()
    if not current.broker:
        raise ConfigurationError("No broker is known. Start one with `chiron up`, or set CHIRON_REDIS_URL.")
    make_folder(current.home)
    flower_password(current)
    if sentence := port_conflict_of(current, "flower"):
        raise ChironError(sentence)
    environment = flower_environment(process_environment(current, home=str(current.home)))
    os.chdir(current.home)  # Flower and Celery look for files of theirs in the current folder.
    os.execve(sys.executable, COMMAND, environment)  # noqa: S606  # our own interpreter
