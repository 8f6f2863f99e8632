import dataclasses
import sys
from typing import Annotated, Any

import typer

from chiron_api.cli.display.answer import AsJson
from chiron_api.services import open_services
from chiron_api.text import as_json as json_line
from chiron_api.text import count
from chiron_workers.access.audit import long_command
from chiron_workers.errors import UsageError
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.knowledge.search.reembedding import count_missing, drop_other_spaces, reembed
from chiron_workers.knowledge.search.vector_indexes import maintain_indexes
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command(name="reembed")
async def command(
    subject: Annotated[
        str | None, typer.Option("--subject", "-s", help="Only facts of this subject. Default: of all.")
    ] = None,
    drop_old: Annotated[
        bool, typer.Option("--drop-old", help="Then drop the vectors of every other embedding model.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Embed the facts that were stored under another embedding model, so that searches find them by meaning again.

    Stopped at any moment, it goes on from there when it is called again; workers may go on meanwhile. At the end the
    approximate indexes that large subjects need are built.
    """
    if drop_old and subject is not None:
        raise UsageError("--drop-old needs the facts of all subjects embedded; leave out --subject.")
    summary = await _reembed(subject, drop_old=drop_old)
    if as_json:
        typer.echo(json_line(summary))
        return
    typer.echo(
        f"{count(summary['embedded'], 'fact')} embedded with {summary['model']}, {summary['remaining']:,} left."
    )
    for index in summary["indexes"]:
        typer.echo(f"Indexed {index['subject_id'] or 'all subjects'}: recall {index['recall']:.3f} at 10.")
    for model in summary["dropped"]:
        typer.echo(f"Dropped the vectors of {model}.")


async def _reembed(subject: str | None, *, drop_old: bool) -> dict[str, Any]:
    progress = _Progress()
    try:
        async with open_services(settings(), pool_size=2) as services:
            pool, embedder = services.pool, services.embedder
            if subject is not None:
                subject = (await Subjects(Session(pool)).require(subject))["subject_id"]
            progress.total = await count_missing(Session(pool), embedder.space, subject)
            async with long_command(pool, "facts.reembed", subject or "") as result:
                fact_count = await reembed(pool, embedder, subject_id=subject, on_progress=progress.report)
                models = await drop_other_spaces(pool, embedder.space) if drop_old else []
                result |= {"facts": fact_count, "dropped": models}
            indexes = await maintain_indexes(settings().database_url, embedder.space)
            return {
                "model": embedder.space.model,
                "embedded": fact_count,
                "remaining": await count_missing(Session(pool), embedder.space, subject),
                "indexes": [dataclasses.asdict(index) for index in indexes],
                "dropped": models,
            }
    except BaseException:  # Ctrl+C too
        progress.stop()
        raise


class _Progress:
    def __init__(self) -> None:
        self.total = 0
        self.fact_count = 0

    def report(self, fact_count: int) -> None:
        self.fact_count = fact_count
        end = "\r" if sys.stderr.isatty() else "\n"
        sys.stderr.write(f"{fact_count:,} of {count(self.total, 'fact')} embedded{end}")
        sys.stderr.flush()

    def stop(self) -> None:
        if self.fact_count:
            sys.stderr.write(
                f"{count(self.fact_count, 'fact was', 'facts were')} embedded and stay so; `chiron reembed` goes on from there.\n"
            )
