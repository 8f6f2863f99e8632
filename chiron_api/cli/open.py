import webbrowser
from typing import Annotated
from urllib.parse import urlencode

import typer

from chiron_api.cli.display.answer import AsJson, print_answer
from chiron_api.local_stack.access import api_key
from chiron_api.local_stack.addresses import running_api
from chiron_workers.access.sessions import create_code
from chiron_workers.db.connect import open_pool
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command("open")
async def open_page(
    is_printed: Annotated[
        bool, typer.Option("--print", help="Only print the link, for a browser that you open yourself.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Open the page of the running API in a browser, signed in.

    The link works once, within five minutes. It signs in whoever opens it: give it to nobody else.
    """
    current = settings()
    address = running_api(current)
    link = f"{address}/"
    if api_key(current):
        async with open_pool(current.database_url, size=1) as pool:
            link = f"{address}/open?{urlencode({'code': await create_code(pool)})}"
    is_opened = not is_printed and not as_json and webbrowser.open(link)
    print_answer(
        f"{address}/" if is_opened else link, {"address": f"{address}/", "link": link}, as_json=as_json
    )
