import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any
from uuid import UUID

import typer

from chiron_api.cli.display.run_log import FIELDS_OF_HEAD, Line, WorkerFiles, line_of_event, merge
from chiron_api.text import one_line
from chiron_workers.batches.summaries import find_run
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.runs.events import heads, read_page
from chiron_workers.settings import settings

POLL_S = 0.5

cli = typer.Typer()


@cli.command()
async def logs(
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run.")],
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run ends.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print each line as JSON.")] = False,
) -> None:
    """Show everything that is known of how a run went: who took it, each model call and tool call, errors in full.

    The events lie in Postgres, so they are complete wherever the run was played. Between them stand the lines that workers
    of this machine's stack wrote while they played it; of workers elsewhere, ask whoever collects their output for the
    run's id. With CHIRON_LOG_LEVEL=debug workers write a line for each call, too.
    """
    current = settings()
    async with open_pool(current.database_url, size=1) as pool:
        summary = await find_run(pool, run_id)
        files = WorkerFiles(current.home / "logs", summary.id)
        async for line in _lines(pool, summary.id, files, follow=follow):
            typer.echo(line.to_json() if as_json else _text(line))


async def _lines(pool: Pool, run_id: UUID, files: WorkerFiles, *, follow: bool) -> AsyncIterator[Line]:
    seq = 0
    while True:
        head = await heads(pool, run_id=run_id)
        events = []
        while page := await read_page(pool, {run_id: seq}):
            seq = page[-1].seq or seq
            events += [line_of_event(event) for event in page]
        for line in merge(events, files.new_lines()):
            yield line
        if not follow or (head.is_over and seq >= head.seqs[run_id]):
            return
        await asyncio.sleep(POLL_S)


def _text(line: Line) -> str:
    fields = line.fields
    if line.source == "event":
        title, details = fields["kind"], fields["data"]
    else:
        title = f"{fields.get('level', '')} {fields.get('event', '')}"
        details = {key: value for key, value in fields.items() if key not in FIELDS_OF_HEAD}
    words = " ".join(f"{key}={_value(value)}" for key, value in details.items())
    at = f"{line.at.astimezone().isoformat(' ', 'milliseconds')}"
    return f"{at}  {line.source:8}  {one_line(title, chars_max=100)}  {words}".rstrip()


def _value(value: Any) -> str:
    if value is None:
        return "unknown"  # such as a cost
    text = one_line(value if isinstance(value, str) else repr(value), chars_max=2_000)
    return repr(text) if isinstance(value, str) and (" " in text or not text) else text
