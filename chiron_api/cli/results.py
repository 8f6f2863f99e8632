import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from chiron_api.reports.write import refuse_to_overwrite
from chiron_api.text import as_json as json_line
from chiron_api.text import cost_phrase, facts_phrase, one_line, printable
from chiron_api.transfer.rows.csv_rows import note_of
from chiron_api.transfer.rows.formats import TEXTS, RowFormat, write_rows
from chiron_workers.batches.answers import Result
from chiron_workers.batches.answers import results as read_results
from chiron_workers.batches.references import id_of
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import UsageError
from chiron_workers.knowledge.rows.reading import AnswerRow, Cell, all_rows, columns_asked_for
from chiron_workers.knowledge.rows.values import written
from chiron_workers.runs.columns import Column
from chiron_workers.settings import settings

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
        async with aclosing(read_results(pool, run_or_batch_id)) as pages:
            async for page in pages:
                for result in page:
                    typer.echo(json_line(result) if as_json else _text(result))
                    if columns and not as_json:
                        async for line in _row_lines(pool, result.id, columns):
                            typer.echo(line)


def _format(format: RowFormat | None, output: Path | None, *, as_json: bool, force: bool) -> RowFormat | None:
    """The format of the rows; None where the runs are listed. Raises UsageError for options that do not go together."""
    if output is None:
        if force:
            raise UsageError("--force goes with --output.")
        if format is RowFormat.XLSX:
            raise UsageError("Say with --output where the workbook goes: xlsx cannot be printed.")
    else:
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


async def _give_rows(
    pool: Pool, target: UUID, columns: Sequence[Column], format: RowFormat, output: Path | None
) -> None:
    if not columns:
        raise UsageError(
            "It was submitted without columns, so there are no rows; `chiron results` lists its answers."
        )
    if output is not None:
        await write_rows(pool, target, columns, format, output)
        typer.echo(f"{output} written.")
        return
    async for piece in TEXTS[format](pool, target, columns):
        sys.stdout.write(piece)


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


async def _row_lines(pool: Pool, run_id: UUID, columns: Sequence[Column]) -> AsyncIterator[str]:
    """The rows of a run, a block of lines each."""
    async for page in all_rows(pool, run_id, columns):
        for row in page:
            yield _row_text(row, columns)


def _row_text(row: AnswerRow, columns: Sequence[Column]) -> str:
    width = max(len(column.name) for column in columns)
    lines = [
        f"    {column.name:{width}}  {_cell_text(cell)}"
        for column, cell in zip(columns, row.cells, strict=True)
    ]
    return "\n".join([f"  Row {row.n}", *lines, ""])


def _cell_text(cell: Cell) -> str:
    if cell.value is None:
        return f"— {one_line(cell.reason)}"
    note = f"  ({one_line(note_of(cell))})" if cell.changes else ""
    return f"{one_line(written(cell.value))}{note}"
