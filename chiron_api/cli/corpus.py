import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from chiron_api.cli.display.answer import AsJson
from chiron_workers.db.connect import open_pool
from chiron_workers.documents.read_folder import FileDocument, SkippedFile, read_folder
from chiron_workers.errors import NotFound, UsageError
from chiron_workers.knowledge.corpus import AddedCounts, Corpus
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings

# A transaction for each batch of files: a large folder neither fills the memory nor holds locks for long.
BATCH_FILES = 100
SHOWN_SKIPPED = 20

cli = typer.Typer(
    name="corpus",
    help="Documents of one's own as sources: Markdown, plain text, reStructuredText, HTML, PDF and Word files.",
    no_args_is_help=True,
)
Subject = Annotated[
    str, typer.Option("--subject", "-s", help="Subject whose research may use the documents.")
]
Limit = Annotated[int, typer.Option(min=1, max=100, help="Documents at most.")]


@cli.command()
async def add(
    path: Annotated[Path, typer.Argument(help="File, or folder with all its folders.")],
    subject: Subject,
    as_json: AsJson = False,
) -> None:
    """Add documents to the corpus of a subject. A document with the same path within the folder is replaced.

    What cannot be read (another format, binary, more than 10 MB) is named and left out.
    """
    addition, skipped_files = await _add(path, subject)
    if as_json:
        counts = {"added": addition.added, "replaced": addition.replaced, "passages": addition.passages}
        rows = [{"path": _printable_path(file.path), "reason": file.reason} for file in skipped_files]
        _print_json(counts | {"skipped": rows})
    else:
        for file in skipped_files[:SHOWN_SKIPPED]:
            typer.echo(f"Skipped {_printable_path(file.path)}: {file.reason}.")
        if len(skipped_files) > SHOWN_SKIPPED:
            typer.echo(f"Skipped {len(skipped_files) - SHOWN_SKIPPED} more; --json lists them all.")
        typer.echo(
            f"{addition.added} documents added, {addition.replaced} replaced, {len(skipped_files)} skipped; "
            f"{addition.passages} passages can be searched."
        )
    if not addition.passages:
        raise UsageError(f"{path} holds no document that could be read.")


@cli.command("list")
async def list_documents(
    subject: Annotated[
        str | None, typer.Option("--subject", "-s", help="Only documents of this subject.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the documents of the corpus."""
    async with open_pool(settings().database_url, size=2) as pool:
        documents = [dict[str, Any](row) for row in await Corpus(Session(pool)).documents(subject)]
    if as_json:
        _print_json([document | {"added_at": document["added_at"].isoformat()} for document in documents])
        return
    for document in documents:
        typer.echo(f"{document['url']}  {document['title']}  ({document['chars']:,} characters)")
    if not documents:
        typer.echo("The corpus is empty. Add documents with `chiron corpus add PATH --subject S`.")


@cli.command()
async def search(
    query: Annotated[str, typer.Argument(help="A question, or a few words.")],
    subject: Subject,
    limit: Limit = 10,
    as_json: AsJson = False,
) -> None:
    """Search the documents of a subject, best first, as a run's web_search does."""
    async with open_pool(settings().database_url, size=2) as pool:
        corpus = Corpus(Session(pool))
        if not await corpus.documents(subject, limit=1):
            raise NotFound(
                f"The corpus has no documents for {subject!r}. Add some with `chiron corpus add PATH --subject {subject}`."
            )
        hits = await corpus.search(query, subject=subject, limit=limit)
    if as_json:
        _print_json(hits)
        return
    for passage in hits:
        typer.echo(f"{passage['score']:.2f}  {passage['title']}\n      {passage['url']}")
        typer.echo(f"      {' '.join(passage['snippet'].split())[:200]}\n")
    if not hits:
        typer.echo("Nothing was found.")


async def _add(path: Path, subject: str) -> tuple[AddedCounts, list[SkippedFile]]:
    addition, skipped_files = AddedCounts(), list[SkippedFile]()
    files = read_folder(path)
    async with open_pool(settings().database_url, size=2) as pool:
        for batch in _batches(files):
            skipped_files += [file for file in batch if isinstance(file, SkippedFile)]
            async with Session(pool) as session:
                addition += await Corpus(session).add(
                    subject, [file for file in batch if isinstance(file, FileDocument)]
                )
    return addition, skipped_files


def _batches(files: Iterator[FileDocument | SkippedFile]) -> Iterator[list[FileDocument | SkippedFile]]:
    while batch := list(islice(files, BATCH_FILES)):
        yield batch


def _print_json(value: object) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def _printable_path(path: str) -> str:
    """A path that can be printed, whatever its bytes."""
    return path.encode(errors="surrogateescape").decode(errors="replace")
