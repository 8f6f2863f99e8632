from typing import Annotated

import typer

from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.learn.subject import Subject
from chiron_api.views.coverage_maps import MapFormat, load_map, render
from chiron_workers.db.connect import open_pool
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings


async def show_map(
    subject: Subject,
    format: Annotated[
        MapFormat, typer.Option("--format", "-f", help="As what it is printed.")
    ] = MapFormat.TREE,
    as_json: AsJson = False,
) -> None:
    """Print the coverage map of a subject. `*` marks what the goal cannot be reached without."""
    async with open_pool(settings().database_url, size=2) as pool:
        session = Session(pool)
        subject_id = (await Subjects(session).require(subject))["subject_id"]
        coverage = await load_map(session, subject_id)
    shape = MapFormat.JSON if as_json else format
    if not coverage.tops and shape is not MapFormat.JSON:
        typer.echo(
            f'{subject_id} has no map yet. `chiron learn start {subject_id} --goal "..."` has one drawn up.'
        )
        return
    typer.echo(render(coverage, shape), nl=False)
