from datetime import datetime
from typing import Annotated
from uuid import UUID

import typer

from chiron_api.acts.moments import Side
from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.display.difference import difference_lines
from chiron_api.cli.input.times import time_option
from chiron_api.text import as_json as json_line
from chiron_workers.batches.references import id_of
from chiron_workers.batches.summaries import run_summary
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import NotFound, UsageError
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.knowledge.subject_diff import LISTED_MAX, SubjectDiff, between, between_batches
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
async def diff(
    batches: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[EARLIER LATER]", help="Ids of two batches of one subject.", show_default=False
        ),
    ] = None,
    subject: Annotated[
        str | None, typer.Option("--subject", "-s", help="Subject, in place of batches.")
    ] = None,
    since: Annotated[datetime | None, time_option(help=f"From when on: {Side.PAST.forms}.")] = None,
    until: Annotated[
        datetime | None, time_option(help="Up to when, in the same forms. Default: now.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=LISTED_MAX, help="Entries of each kind at most.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Show what has become of a subject: between the ends of two of its batches, or since a time.

    New facts, those whose confidence or status is another now, that further sources confirm, that were withdrawn or
    contradicted, and sources that are gone or no longer say what facts rest on.
    """
    difference = await _difference(batches or [], subject, since, until, limit)
    typer.echo(json_line(difference) if as_json else "\n".join(difference_lines(difference)))


async def _difference(
    batches: list[str], subject: str | None, since: datetime | None, until: datetime | None, limit: int
) -> SubjectDiff:
    if batches and (subject or since or until):
        raise UsageError("Give two batches, or --subject with --since; not both.")
    if len(batches) not in (0, 2):
        raise UsageError("Give two batches, the earlier one first.")
    if not batches and not (subject and since):
        raise UsageError(
            "Give two batches, or a subject and a time: `chiron diff --subject S --since 2026-03-01`."
        )
    async with open_pool(settings().database_url, size=2) as pool:
        if batches:
            ids = [await _batch_id(pool, batch) for batch in batches]
            if ids[0] == ids[1]:
                raise UsageError(f"Both are batch {ids[0]}; `chiron list` shows which came before it.")
            return await between_batches(Session(pool), *ids, limit=limit)
        assert subject and since
        return await between(Session(pool), slug(subject), since, until, limit=limit)


async def _batch_id(pool: Pool, text: str) -> UUID:
    batch_id = await id_of(pool, text)
    try:
        run = await run_summary(pool, batch_id)
    except NotFound:
        return batch_id
    raise UsageError(f"{text} is a run of batch {run.batch_id}; give two batches.")
