import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from chiron_api.cli.display.activity import show_count
from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.display.remedies import pasteable
from chiron_api.text import as_json as json_line
from chiron_api.text import count, one_line
from chiron_workers.access.audit import long_command
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.documents.omissions import Omission, describe
from chiron_workers.documents.read_folder import FileDocument, SkippedFile, read_folder
from chiron_workers.errors import NotFound, UsageError
from chiron_workers.knowledge.corpus import AddedCounts, Corpus, path_of
from chiron_workers.knowledge.facts.grounds import GroundChange, check_grounds
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.states import Ground

# A transaction for each batch of files: a large folder neither fills the memory nor holds locks for long.
BATCH_FILES = 100
SHOWN_SKIPPED = 20
GAP_CHARS = 1_000
Gaps = dict[str, tuple[Omission, ...]]  # what each document holds and its text does not, by its path

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
    """Add documents to the corpus of a subject. A file that was added before is replaced, and so is one that has moved.

    Of two files with the same path in two folders both stay, the later one with its folder's name in its address. Says which
    documents are new, have changed, are unchanged or gone (a document whose file is not in the folder any more leaves the
    corpus), and which facts lose their words by that or have them again. What a document holds and its text does not, such as
    pictures without words, is listed. What cannot be read (another format, binary, more than 10 MB) is named and left out.
    """
    addition, skipped_files, gone_urls, changes, gaps = await _add(path, subject)
    if as_json:
        counts = {"added": addition.added, "replaced": addition.replaced, "passages": addition.passages}
        rows = [{"path": _printable_path(file.path), "reason": file.reason} for file in skipped_files]
        news = {
            "new": addition.new_urls,
            "changed": addition.changed_urls,
            "unchanged": len(addition.unchanged_urls),
            "apart": addition.apart_urls,
        }
        facts = [
            {"fact_id": change.fact_id, "url": change.source_url, "ground": change.ground}
            for change in changes
        ]
        left_out = [
            {"path": _printable_path(path), "left_out": [asdict(part) for part in parts]}
            for path, parts in gaps.items()
        ]
        ends = {"gone": gone_urls, "facts": facts, "left_out": left_out, "skipped": rows}
        typer.echo(json_line(counts | news | ends))
    else:
        for file in skipped_files[:SHOWN_SKIPPED]:
            typer.echo(f"Skipped {_printable_path(file.path)}: {file.reason}.")
        if len(skipped_files) > SHOWN_SKIPPED:
            typer.echo(f"Skipped {len(skipped_files) - SHOWN_SKIPPED} more; --json lists them all.")
        for line in _gap_lines(gaps):
            typer.echo(line)
        typer.echo(_counts_line(addition, gone_urls, skipped_files))
        for line in _news(addition, gone_urls, changes):
            typer.echo(line)
    if not (addition.passages or gone_urls):
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
        for document in documents:
            typer.echo(json_line(document))
        return
    for document in documents:
        typer.echo(f"{document['url']}  {document['title']}  ({document['chars']:,} characters)")
    if not documents:
        typer.echo(
            f"{_emptiness(subject)} Add documents with {pasteable('corpus', 'add', 'PATH', '--subject', subject or 'S')}."
        )


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
                f"{_emptiness(subject)} Add some with {pasteable('corpus', 'add', 'PATH', '--subject', subject)}."
            )
        passages = await corpus.search(query, subject=subject, limit=limit)
    if as_json:
        for passage in passages:
            typer.echo(json_line(passage))
        return
    for passage in passages:
        typer.echo(f"{passage['score']:.2f}  {passage['title']}\n      {passage['url']}")
        typer.echo(f"      {' '.join(passage['snippet'].split())[:200]}\n")
    if not passages:
        typer.echo("Nothing was found.")


def _emptiness(subject: str | None) -> str:
    return "The corpus is empty." if subject is None else f"The corpus has no documents for {subject!r}."


def _gap_lines(gaps: Gaps) -> Iterator[str]:
    for path, left_out in islice(gaps.items(), SHOWN_SKIPPED):
        yield f"Left out of {_printable_path(path)}: {one_line(describe(left_out), chars_max=GAP_CHARS)}."
    if len(gaps) > SHOWN_SKIPPED:
        yield f"Left out of {len(gaps) - SHOWN_SKIPPED:,} more documents; --json lists them all."


async def _add(
    path: Path, subject: str
) -> tuple[AddedCounts, list[SkippedFile], list[str], list[GroundChange], Gaps]:
    addition, skipped_files, gone_urls, gaps = AddedCounts(), list[SkippedFile](), list[str](), Gaps()
    files = show_count(read_folder(path), "Reading documents")
    folder = await asyncio.to_thread(_folder, path)
    async with (
        open_pool(settings().database_url, size=3) as pool,
        long_command(pool, "documents.add", subject) as result,
    ):
        for batch in _batches(files):
            skipped_files += [file for file in batch if isinstance(file, SkippedFile)]
            documents = [file for file in batch if isinstance(file, FileDocument)]
            gaps |= {file.path: file.document.left_out for file in documents if file.document.left_out}
            async with Session(pool) as session:
                addition += await Corpus(session).add(subject, documents)
        if folder:
            gone_urls = await _remove_missing(pool, folder, subject, addition, skipped_files)
        changed_urls = [*addition.new_urls, *addition.changed_urls, *addition.unchanged_urls, *gone_urls]
        changes = [
            change
            for start in range(0, len(changed_urls), BATCH_FILES)
            for change in await check_grounds(pool, changed_urls[start : start + BATCH_FILES])
        ]
        result |= {"new": len(addition.new_urls), "removed": len(gone_urls)}
    return addition, skipped_files, gone_urls, changes, gaps


def _folder(path: Path) -> str:
    """The absolute path of a folder; empty for a file, beside which nothing is missing."""
    return str(path.absolute()) if path.is_dir() else ""


async def _remove_missing(
    pool: Pool, folder: str, subject: str, addition: AddedCounts, skipped_files: Sequence[SkippedFile]
) -> list[str]:
    skipped_paths = [(file.path, str(Path(folder, file.path))) for file in skipped_files]
    async with Session(pool) as session:
        skipped_urls = await Corpus(session).addresses(subject, skipped_paths)
        present = [*addition.new_urls, *addition.changed_urls, *addition.unchanged_urls, *skipped_urls]
        gone_urls = await Corpus(session).missing(subject, folder, present=present)
        await Corpus(session).remove(gone_urls, subject)
    return gone_urls


def _counts_line(
    addition: AddedCounts, gone_urls: Sequence[str], skipped_files: Sequence[SkippedFile]
) -> str:
    """What was read against the corpus of before, and what was not read."""
    counts = {
        "new": len(addition.new_urls),
        "changed": len(addition.changed_urls),
        "unchanged": len(addition.unchanged_urls),
    }
    return (
        f"{count(sum(counts.values()), 'document')} read: "
        f"{', '.join(f'{number:,} {name}' for name, number in counts.items())}; "
        f"{len(gone_urls):,} gone, {len(skipped_files):,} skipped. "
        f"{count(addition.passages, 'passage')} can be searched."
    )


def _news(addition: AddedCounts, gone_urls: Sequence[str], changes: Sequence[GroundChange]) -> Iterator[str]:
    """The first names of what changed, is gone or has a longer address, and what that means for facts."""
    for word, urls in (
        ("Changed", addition.changed_urls),
        ("Gone", gone_urls),
        ("Kept beside another file of this name", addition.apart_urls),
    ):
        yield from (f"{word}: {_printable_path(path_of(url))}" for url in urls[:SHOWN_SKIPPED])
        if len(urls) > SHOWN_SKIPPED:
            yield f"{word}: {len(urls) - SHOWN_SKIPPED:,} more; --json lists them all."
    loss_count = len({change.fact_id for change in changes if change.ground.is_lost})
    regain_count = len(
        {change.fact_id for change in changes if change.ground is Ground.STANDS and not change.is_context}
    )
    context_count = len({change.fact_id for change in changes if change.ground is Ground.CONTEXT_CHANGED})
    if context_count:
        yield f"{count(context_count, 'fact stands', 'facts stand')} among other words now; `chiron check` has them judged again."
    if loss_count or regain_count:
        yield (
            f"{count(loss_count, 'fact rests', 'facts rest')} on words that are gone, "
            f"{count(regain_count, 'has its', 'have their')} words again; `chiron diff` shows them."
        )


def _batches(files: Iterator[FileDocument | SkippedFile]) -> Iterator[list[FileDocument | SkippedFile]]:
    while batch := list(islice(files, BATCH_FILES)):
        yield batch


def _printable_path(path: str) -> str:
    """A path that can be printed on a line, whatever its bytes."""
    return one_line(path.encode(errors="surrogateescape").decode(errors="replace"))
