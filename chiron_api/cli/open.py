import webbrowser
from typing import Annotated

import typer

from chiron_api.cli.display.answer import AsJson, print_answer
from chiron_api.local_stack.addresses import page_link, running_api
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
    link = await page_link(current, address)
    is_opened = not is_printed and not as_json and webbrowser.open(link)
    print_answer(
        f"{address}/" if is_opened else link, {"address": f"{address}/", "link": link}, as_json=as_json
    )
