from enum import StrEnum
from typing import Annotated

import typer

from chiron_api.cli.display.answer import AsJson, print_answer
from chiron_api.local_stack.access import FLOWER_USER, api_key, flower_password
from chiron_workers.errors import ConfigurationError
from chiron_workers.settings import settings

cli = typer.Typer()


class Door(StrEnum):
    """What a secret opens."""

    API = "api"
    FLOWER = "flower"


@cli.command()
def key(
    door: Annotated[
        Door, typer.Argument(metavar="[api|flower]", help="What you want to sign in to.")
    ] = Door.API,
    as_json: AsJson = False,
) -> None:
    """Print the key of the HTTP API and of MCP over HTTP, or the password of Flower's user `chiron`.

    It is CHIRON_API_KEY or CHIRON_FLOWER_PASSWORD where that is set, else the one that CHIRON_HOME keeps, made if there is none.
    """
    current = settings()
    if door is Door.FLOWER:
        password = flower_password(current)
        print_answer(password, {"user": FLOWER_USER, "password": password}, as_json=as_json)
    elif secret := api_key(current):
        print_answer(secret, {"key": secret}, as_json=as_json)
    else:
        raise ConfigurationError("The API asks for no key, since CHIRON_API_WITHOUT_KEY is set.")
