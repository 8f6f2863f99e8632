from typing import Annotated
from uuid import UUID

import typer

from chiron_api.cli import run
from chiron_api.text import as_json as json_line
from chiron_workers.db.connect import open_pool
from chiron_workers.embeddings import open_embedder
from chiron_workers.knowledge.facts.quote_rechecks import FIRST, RecheckCounts, recheck
from chiron_workers.runs.session import Caller, Session
from chiron_workers.settings import settings
from chiron_workers.store import Store

cli = typer.Typer()


@cli.command()
def recompute(
    subject: Annotated[
        str | None, typer.Option("--subject", "-s", help="Only facts of this subject. Default: of all.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look again for quotes that are not verified, and compute the confidence of every fact anew.

    After an upgrade from a version that did not verify quotes, or after changing a setting of confidences.
    """
    totals = run(_recheck_all(subject))
    if as_json:
        typer.echo(json_line(totals))
        return
    typer.echo(
        f"{totals.facts:,} facts looked at, {totals.verified:,} quotes verified, {totals.changed:,} facts changed."
    )


async def _recheck_all(subject: str | None) -> RecheckCounts:
    embedder = open_embedder(settings())
    try:
        async with open_pool(settings().database_url, size=2) as pool:
            async with Store(Session(pool, Caller()), embedder) as store:
                subjects = [await store.subjects.get(subject)] if subject else await store.subjects.all()
            totals = RecheckCounts()
            for entry in subjects:
                after: UUID | None = FIRST
                while after is not None:
                    async with Store(Session(pool, Caller()), embedder) as store:
                        page, after = await recheck(store.facts, subject_id=entry["subject_id"], after=after)
                    totals += page
            return totals
    finally:
        await embedder.close()
