from typing import Annotated

import typer

from chiron_api.cli import run
from chiron_api.terminal import as_json as json_line
from chiron_api.terminal import one_line
from chiron_workers.embed import open_embedder
from chiron_workers.errors import ToolError, UsageError
from chiron_workers.settings import settings
from chiron_workers.store import Caller, Session, Store
from chiron_workers.store.connect import open_pool
from chiron_workers.store.search import FOUND_MAX, Filters, FoundFact

cli = typer.Typer()


@cli.command()
def search(
    query: Annotated[str, typer.Argument(help="What you want to know, in your own words.")],
    subject: Annotated[
        str | None, typer.Option("--subject", "-s", help="Only facts of this subject. Default: of all.")
    ] = None,
    top_k: Annotated[int, typer.Option(min=1, max=FOUND_MAX, help="Facts at most.")] = 5,
    min_confidence: Annotated[
        float, typer.Option(min=0, max=1, help="Leave out facts below this confidence.")
    ] = 0.0,
    candidates: Annotated[
        bool, typer.Option("--candidates", help="Also facts that are not confirmed well enough yet.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Search what is known: the facts nearest in meaning, best first, each with its source."""
    found = run(_nearest(query, subject, top_k, min_confidence, candidates=candidates))
    if as_json:
        typer.echo(json_line(found))
        return
    for fact in found:
        typer.echo(f"{fact['score']:.3f}  {one_line(fact['content'], chars_max=2_000)}")
        if fact["quote"]:
            typer.echo(f"       “{one_line(fact['quote'], chars_max=500)}”")
        typer.echo(f"       {one_line(fact['source_url'])}  (confidence {fact['confidence']:.2f})")
    if not found:
        typer.echo("Nothing is known that fits. `chiron submit TOPIC --subject S` researches it.")


async def _nearest(
    query: str, subject: str | None, top_k: int, min_confidence: float, *, candidates: bool
) -> list[FoundFact]:
    embedder = open_embedder(settings())
    try:
        async with (
            open_pool(settings().database_url, size=2) as pool,
            Store(Session(pool, Caller()), embedder) as store,
        ):
            filters = Filters(subject, min_confidence, candidates)
            return await store.search.find(query, filters=filters, limit=top_k)
    except ToolError as error:
        raise UsageError(str(error)) from None
    finally:
        await embedder.close()
