from contextlib import aclosing
from typing import Annotated

import typer

from chiron_api.text import as_json as json_line
from chiron_api.text import cost_phrase, facts_phrase, one_line, printable
from chiron_workers.batches.answers import Result
from chiron_workers.batches.answers import results as read_results
from chiron_workers.batches.references import id_of
from chiron_workers.db.connect import open_pool
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
async def results(
    target: Annotated[str, typer.Argument(metavar="ID", help="Id of a batch or of a run.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print each run as one line of JSON.")] = False,
) -> None:
    """List what the runs came to: topic, state, facts, cost and answer of each, also while others still run."""
    async with open_pool(settings().database_url, size=1) as pool:
        run_or_batch_id = await id_of(pool, target)
        async with aclosing(read_results(pool, run_or_batch_id)) as pages:
            async for page in pages:
                for result in page:
                    typer.echo(json_line(result) if as_json else _text(result))


def _text(result: Result) -> str:
    facts = facts_phrase(result.facts, result.confirmed)
    lines = [
        one_line(result.topic, chars_max=4_000),
        f"  {result.state}, {facts}, {cost_phrase(result)}, run {result.id}",
    ]
    if result.error:
        lines.append(f"  {result.error.get('kind')}: {one_line(result.error.get('message', ''))}")
    if result.answer:
        lines += ["", *(f"  {line}".rstrip() for line in printable(result.answer).splitlines())]
    return "\n".join([*lines, ""])
