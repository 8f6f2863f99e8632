from functools import partial
from typing import Annotated

import typer

from chiron_api.acts.facts import FactsQuery, list_facts
from chiron_api.acts.moments import Side
from chiron_api.answers.facts import ListedFact
from chiron_api.cli.display.answer import AsJson, print_list
from chiron_api.cli.input.options import takes_input
from chiron_api.cli.input.pages import first_items
from chiron_api.cli.input.times import time_option
from chiron_api.services import open_services
from chiron_api.text import local_time, one_line
from chiron_workers.settings import settings
from chiron_workers.states import HIDDEN_STATUSES

cli = typer.Typer()


@cli.command()
@takes_input(
    without=("limit", "after"),
    subject_id=typer.Option("--subject", "-s"),
    since=time_option(help=f"Only facts stored since: {Side.PAST.forms}."),
)
async def facts(
    page: FactsQuery,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Facts at most.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List facts, newest first, of all subjects or of one. --json prints a line a fact.

    `chiron search` finds those that answer a question, and `chiron show FACT` has all that is stored of one.
    """
    async with open_services(settings(), pool_size=1) as services:
        items = await first_items(limit, page, partial(list_facts, services))
    print_list(items, _text, "No facts were stored then." if page.since else "No facts yet.", as_json=as_json)


def _text(fact: ListedFact) -> str:
    status = f" [{fact.status}]" if fact.status in HIDDEN_STATUSES else ""
    return (
        f"{local_time(fact.created_at, '%Y-%m-%d %H:%M')}  {fact.subject_id}  "
        f"{one_line(fact.content, chars_max=2_000)}{status}\n"
        f"    {fact.id}  {one_line(fact.source_url)}  (confidence {fact.confidence:.2f})"
    )
