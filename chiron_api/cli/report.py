import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from chiron_api.acts.reports import WRITERS, Writing
from chiron_api.atomic_file import refuse_to_overwrite
from chiron_api.cli.display.markdown import print_markdown
from chiron_api.cli.input.options import takes_input
from chiron_api.crate.signatures import read_private_key
from chiron_api.reports.crate.options import PackingOptions
from chiron_api.reports.crate.privacy import TextChoice
from chiron_api.reports.formats import FORMATS, FormatName
from chiron_api.reports.scope import resolve_scope
from chiron_api.reports.write import join_pieces, write
from chiron_api.services import Services, open_services
from chiron_api.text import as_json as json_line
from chiron_workers.batches.references import id_of, is_reference, named
from chiron_workers.db.connect import Pool
from chiron_workers.errors import ChironError, NotFound, UsageError
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.states import RunState

MARKDOWN = FormatName("md")
CONNECTIONS = 2  # a page is read while another is made use of

Reported = Annotated[
    str | None,
    typer.Argument(metavar="[ID]", help="Id of a batch or of a run, or the name of a subject or of a batch."),
]
Signature = Annotated[
    Path | None,
    typer.Option(
        metavar="KEYFILE",
        help="Sign the crate with this private key, Ed25519 in PEM, for `chiron verify --key`.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="File to write, or folder for obsidian and crate. Default: what is text is printed.",
    ),
]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        help="With --write: print batch_id and run_ids as JSON, and do not wait for the report.",
    ),
]

cli = typer.Typer()


@cli.command()
@takes_input(prefix="With --write: ")
async def report(  # noqa: PLR0913, PLR0917  # each is an option of the command
    target: Reported = None,
    subject: Annotated[
        str | None, typer.Option("--subject", "-s", help="A subject, by its name or id.")
    ] = None,
    format: Annotated[
        FormatName | None,
        typer.Option("--format", "-f", help="What to write. Default: md, which a terminal shows rendered."),
    ] = None,
    output: Output = None,
    candidates: Annotated[
        bool, typer.Option("--candidates", help="Also facts that are not sure enough yet, marked.")
    ] = False,
    texts: Annotated[
        TextChoice | None,
        typer.Option(
            help="Which sources' texts go into a crate: those of public pages (the default), all, or none."
        ),
    ] = None,
    sign: Signature = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Overwrite the file, or write into a folder that holds other files."),
    ] = False,
    write_answer: Annotated[
        bool,
        typer.Option(
            "--write",
            help="First have a model write an answer from the facts; each sentence is checked against the facts that it cites.",
        ),
    ] = False,
    *,
    order: Writing,
    watch: Annotated[bool, typer.Option("--watch", help="With --write: follow the writing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Report what is known: findings with numbered sources, contradictions, what is missing, and what it cost.

    All of that is read from the database; no model writes it. With --write a run of the role `writer` composes an answer
    from the facts, which the report then begins with; the same facts are written about once.
    """
    require_one(target, subject)
    if not write_answer and (order != Writing() or watch or as_json):
        raise UsageError(
            "--again, --model, --budget-usd, --budget-tokens, --watch and --json go with --write."
        )
    report_format = FORMATS[format or MARKDOWN]
    if output is None and not report_format.is_text:
        raise UsageError(f"Say with --output where the report goes: {format} cannot be printed.")
    if texts is not None and not report_format.pack:
        raise UsageError("--texts needs --format crate: other reports hold no texts of sources.")
    if sign is not None and not report_format.pack:
        raise UsageError("--sign needs --format crate: other reports are not signed.")
    packing = PackingOptions(texts or TextChoice.PUBLIC, force, read_private_key(sign) if sign else None)
    if output is not None and report_format.render:
        refuse_to_overwrite(output, force=force)  # before the work
    from chiron_api.reports.gathering import gather  # which showing help does without

    async with open_services(settings(), pool_size=CONNECTIONS) as services:
        pool = services.pool
        selection = await resolve_scope(pool, await selection_of(pool, target, subject))
        if write_answer and not await written(services, selection, order, watch=watch, as_json=as_json):
            return
        content = await gather(
            pool, selection, with_candidates=candidates, with_selections=report_format.has_selections
        )
        if report_format.pack and output is not None:
            typer.echo(await report_format.pack(pool, content, output, packing))
            return
    if output is not None:
        typer.echo(write(content, report_format, output, force=force))
    elif report_format.render:
        _print(map(str, report_format.render(content)), is_rendered=format is None)


def _print(parts: Iterable[str], *, is_rendered: bool) -> None:
    if is_rendered and sys.stdout.isatty():
        print_markdown("".join(parts))
    else:
        sys.stdout.writelines(join_pieces(parts))


async def written(
    services: Services, selection: UUID | str, order: Writing, *, watch: bool, as_json: bool
) -> bool:
    """Have an answer written and wait for it, unless only its ids are to be printed; whether the report can be shown.

    Raises:
        ChironError: The writing came to nothing, or waits for somebody.
    """
    from chiron_api.cli.batch_end import end_of
    from chiron_workers.knowledge.report_rows import find_target

    kind = (await find_target(services.pool, selection)).kind
    receipt = await WRITERS[kind].command(services, selection, order)
    if as_json:
        typer.echo(json_line({"batch_id": receipt.batch_id, "run_ids": receipt.run_ids}))
        return False
    batch = str(receipt.batch_id)
    if watch:
        from chiron_api.cli.display.progress import show_events

        state = await show_events(batch)
    else:
        if receipt.is_new:
            typer.echo(f"Batch {batch} writes the report; `chiron watch {batch}` follows it.", err=True)
        state = await end_of(services.pool, receipt.batch_id)
    if state is not RunState.COMPLETED:
        raise ChironError(
            f"The report was not written: batch {batch} is {state}. `chiron show {batch}` says why and what helps; "
            "--again begins another one, which is paid for again."
        )
    return True


def require_one(target: str | None, subject: str | None) -> None:
    """Raises UsageError unless either a target or a subject is given."""
    if (target is None) == (subject is None):
        raise UsageError("Name one thing: the id of a batch or a run, or a subject with --subject.")


async def selection_of(pool: Pool, target: str | None, subject: str | None) -> UUID | str:
    """The batch or run that a target means, or the subject that it or `subject` names; a subject comes before a batch.

    Raises:
        UsageError: The target means several.
        NotFound: It means nothing.
    """
    if target is None:
        return subject or ""
    subjects = Subjects(Session(pool))
    if is_reference(target):
        try:
            return await id_of(pool, target)
        except NotFound:
            if await subjects.find(target):
                return target
            raise
    if await subjects.find(target):
        return target
    target_id = await named(pool, target)
    if target_id is None:
        raise NotFound(f"{await subjects.unknown(target)} No batch has this name either.")
    return target_id
