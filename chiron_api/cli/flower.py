import os
import sys

import typer

from chiron_api.local_stack.ports import port_conflict_of, refuse_open_flower
from chiron_workers.errors import ChironError, ConfigurationError
from chiron_workers.settings import Settings, settings

cli = typer.Typer()

USER = "chiron"


@cli.command()
def flower() -> None:
    """Run Flower here, in place of this command: a web page that shows workers and runs.

    Its user is `chiron`, its password CHIRON_FLOWER_PASSWORD. Without one only this machine reaches it.
    """
    current = settings()
    refuse_open_flower(current)
    if not current.broker:
        raise ConfigurationError("No broker is known. Start one with `chiron up`, or set CHIRON_REDIS_URL.")
    if sentence := port_conflict_of(current, "flower"):
        raise ChironError(sentence)
    current.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.execve(sys.executable, _command(current), os.environ | _access(current))  # noqa: S606  # our own interpreter


def _command(current: Settings) -> list[str]:
    return [
        sys.executable, "-P", "-m", "chiron_workers", "flower",
        f"--address={current.flower_host}",
        f"--port={current.flower_port}",
        "--persistent=True",
        f"--db={current.home.absolute() / 'flower.db'}",
        "--state_save_interval=60000",
        "--purge_offline_workers=600",
    ]  # fmt: skip


def _access(current: Settings) -> dict[str, str]:
    """Flower's password as a variable, since everybody on the machine can read a command line."""
    password = current.flower_password.get_secret_value()
    if not password:
        return {"FLOWER_UNAUTHENTICATED_API": "true"}
    return {"FLOWER_BASIC_AUTH": f"{USER}:{password}", "FLOWER_UNAUTHENTICATED_API": "false"}
