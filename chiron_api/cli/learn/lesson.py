import sys
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from chiron_api.acts.lessons import LessonOrder, write_lesson
from chiron_api.atomic_file import atomic_write, refuse_to_overwrite
from chiron_api.cli.batch_end import end_of
from chiron_api.cli.display.markdown import print_markdown
from chiron_api.cli.input.options import takes_input
from chiron_api.cli.learn.subject import Subject
from chiron_api.reports.lessons.formats import LessonFormat, render
from chiron_api.services import Services, open_services
from chiron_workers.errors import ChironError
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.knowledge.lessons.reading import Lesson, latest_lesson
from chiron_workers.learning.lesson_orders import find_node
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.states import RunState


@takes_input(node=typer.Argument(help="The node of its map, by its title or its id."))
async def lesson(  # each is an option of the command
    subject: Subject,
    order: LessonOrder,
    format: Annotated[
        LessonFormat | None, typer.Option("--format", "-f", help="As what it is written out. Default: md.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file it goes to.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Show the lesson on a node; where there is none yet, a run of the role `lesson` writes it from stored facts alone.

    Each sentence names the facts it rests on. Where one of them was withdrawn, superseded or contradicted since, the lesson says
    which sentence is stale and why; --again has it written anew.
    """
    if output is not None:
        refuse_to_overwrite(output, force=force)
    async with open_services(settings(), pool_size=2) as services:
        content = await lesson_on(services, subject, order)
    text = "".join(render(content, LessonFormat.JSON if as_json else format or LessonFormat.MD))
    if output is not None:
        with atomic_write(output) as place:
            place.write_text(text, "utf-8")
        typer.echo(f"{output} written.")
    elif format is None and not as_json and sys.stdout.isatty():
        print_markdown(text)
    else:
        typer.echo(text, nl=False)


async def lesson_on(services: Services, subject: str, order: LessonOrder) -> Lesson:
    """The newest lesson on a node; one that is not there, or is to be fresh, is ordered and waited for.

    Raises:
        ChironError: The writing came to nothing, or waits for somebody.
    """
    pool = services.pool
    subject_id = (await Subjects(Session(pool)).require(subject))["subject_id"]
    node_id = UUID((await find_node(pool, subject_id, order.node))["node_id"])
    content = None if order.again else await latest_lesson(pool, subject_id, node_id)
    if content is not None:
        return content
    batch = (await write_lesson.command(services, subject_id, order)).batch_id
    typer.echo(f"Batch {batch} writes the lesson; `chiron watch {batch}` follows it.", err=True)
    state = await end_of(pool, batch)
    content = await latest_lesson(pool, subject_id, node_id)
    if state is not RunState.COMPLETED or content is None:
        raise ChironError(
            f"The lesson was not written: batch {batch} is {state}. `chiron show {batch}` says why."
        )
    return content
