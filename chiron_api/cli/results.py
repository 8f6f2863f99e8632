import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from chiron_api.text import cost_phrase, facts_phrase, one_line, printable
from chiron_api.transfer.rows.row_format import RowFormat
from chiron_workers.batches.answers import Result, columns_asked_for, result_lines
from chiron_workers.batches.answers import results as read_results
from chiron_workers.batches.references import id_of
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import UsageError
from chiron_workers.runs.columns import Column
from chiron_workers.settings import settings
from chiron_workers.states import RunState

cli = typer.Typer()


@cli.command()
async def results(
    target: Annotated[str, typer.Argument(metavar="ID", help="Id of a batch or of a run.")],
    format: Annotated[
        RowFormat | None,
        typer.Option(
            "--format", "-f", help="The rows alone, as one table over all runs, with the facts of each cell."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write the rows to; its ending says the format."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print each run as one line of JSON.")] = False,
) -> None:
    """List what the runs came to: topic, state, facts, cost and answer of each, also while others still run.

    Of a batch that was submitted with columns also the rows; --format and --output give them as one table.
    """
    row_format = _format(format, output, as_json=as_json, force=force)
    async with open_pool(settings().database_url, size=1) as pool:
        run_or_batch_id = await id_of(pool, target)
        columns = await columns_asked_for(pool, run_or_batch_id)
        if row_format is not None:
            await _give_rows(pool, run_or_batch_id, columns, row_format, output)
            return
        async with aclosing(_texts(pool, run_or_batch_id, columns, as_json=as_json)) as texts:
            async for text in texts:
                typer.echo(text, nl=False)
        if not as_json:
            await _print_remedies(pool, run_or_batch_id)


def _format(format: RowFormat | None, output: Path | None, *, as_json: bool, force: bool) -> RowFormat | None:
    """The format of the rows; None where the runs are listed. Raises UsageError for options that do not go together."""
    if output is None:
        if force:
            raise UsageError("--force goes with --output.")
        if format is RowFormat.XLSX:
            raise UsageError("Say with --output where the workbook goes: xlsx cannot be printed.")
    else:
        from chiron_api.atomic_file import refuse_to_overwrite

        refuse_to_overwrite(output, force=force)
    row_format = format or (_format_of(output) if output is not None else None)
    if row_format is not None and as_json:
        raise UsageError("--json lists the runs, --format json gives their rows; take one of them.")
    return row_format


def _format_of(file: Path) -> RowFormat:
    try:
        return RowFormat(file.suffix.lower().removeprefix("."))
    except ValueError:
        raise UsageError(
            f"{file}: rows are written as .csv, .xlsx or .json; name one with --format."
        ) from None


async def _texts(
    pool: Pool, target: UUID, columns: Sequence[Column], *, as_json: bool
) -> AsyncGenerator[str]:
    """The results of many runs at once, since each write takes its time."""
    if as_json:
        async with aclosing(result_lines(pool, target)) as pages:
            async for lines in pages:
                yield lines
        return
    async with aclosing(read_results(pool, target)) as pages_of_results:
        async for page in pages_of_results:
            if not columns:
                yield "".join(map(_text, page))
                continue
            from chiron_api.cli.display.answer_rows import row_texts

            for result in page:
                yield _text(result)
                async for text in row_texts(pool, result.id, columns):
                    yield text


async def _print_remedies(pool: Pool, target: UUID) -> None:
    """Print the remedies of paused runs to standard error, once for all of them."""
    from chiron_api.cli.display.finish_hint import finish_hint
    from chiron_api.cli.display.remedies import lines_of_problem
    from chiron_api.views.batches import cost_to_finish_of
    from chiron_workers.batches.summaries import BatchSummary, find

    item = await find(pool, str(target))
    if isinstance(item, BatchSummary):
        problems = [reason for reason in item.reasons if reason["state"] == RunState.PAUSED]
    else:
        problems = [item.error] if item.error and item.state is RunState.PAUSED else []
    cost = await cost_to_finish_of(pool, item)
    for problem in problems:
        for line in lines_of_problem(problem, has_amount=cost is not None):
            typer.echo(line.strip(), err=True)
    if cost:
        typer.echo(finish_hint(cost), err=True)


async def _give_rows(
    pool: Pool, target: UUID, columns: Sequence[Column], format: RowFormat, output: Path | None
) -> None:
    if not columns:
        raise UsageError(
            "It was submitted without columns, so there are no rows; `chiron results` lists its answers."
        )
    from chiron_api.transfer.rows.formats import TEXTS, write_rows

    if output is not None:
        await write_rows(pool, target, columns, format, output)
        typer.echo(f"{output} written.")
        return
    async for piece in TEXTS[format](pool, target, columns):
        sys.stdout.write(piece)


def _text(result: Result) -> str:
    state = f"{result.state}, nothing found" if result.nothing_found else result.state
    facts = facts_phrase(result.facts, result.confirmed, result.cited)
    lines = [
        f"#{result.number} {one_line(result.topic, chars_max=4_000)}",
        f"  {state}, {facts}, {cost_phrase(result)}, run {result.id}",
    ]
    if result.error:
        lines.append(f"  {result.error.get('kind')}: {one_line(result.error.get('message', ''))}")
    if result.answer:
        lines += ["", *(f"  {line}".rstrip() for line in printable(result.answer).splitlines())]
    return "\n".join([*lines, "", ""])
