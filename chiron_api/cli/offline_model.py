"""`chiron offline-model`: the offline researcher as a server, for tests and load."""

import sys
from pathlib import Path
from typing import Annotated

import typer

cli = typer.Typer()


@cli.command("offline-model")
def offline_model(  # noqa: PLR0913, PLR0917  # its options
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65_535)] = 0,
    latency_ms: Annotated[float, typer.Option(help="Milliseconds that each reply takes.", min=0)] = 0,
    turns: Annotated[
        int | None,
        typer.Option(
            help="Load mode: exactly so many replies in each conversation, without research.", min=1
        ),
    ] = None,
    reply_chars: Annotated[
        int, typer.Option(help="Load mode: characters of text in a reply.", min=1, max=1_000_000)
    ] = 400,
    calls: Annotated[int, typer.Option(help="Load mode: tool calls in a reply.", min=1, max=20)] = 1,
    delta_chars: Annotated[
        int | None,
        typer.Option(
            help="Characters of each part of a stream, as models send a few at a time; left out, few large parts.",
            min=1,
            max=1_000_000,
        ),
    ] = None,
    site: Annotated[
        str,
        typer.Option(
            help="Load mode: address of a site; each reply reads its next page and stores a fact of the page before."
        ),
    ] = "",
    seed: Annotated[int, typer.Option(help="Which requests fail, with --fault-rate.")] = 0,
    fault_rate: Annotated[
        float, typer.Option(help="Share of the requests that fail on purpose.", min=0, max=1)
    ] = 0,
    log: Annotated[
        Path | None,
        typer.Option(help="Append a JSON line for each request received, answered or cut.", dir_okay=False),
    ] = None,
) -> None:
    """Serve the offline researcher, an extractive program and no language model, as a Messages API.

    Prints its URL, for ANTHROPIC_BASE_URL, and runs until Ctrl+C. Without --turns it really researches with the tools
    that a request offers; with --turns it plays load.
    """
    from chiron_workers.offline import OfflineServer
    from chiron_workers.offline.api.serve import run_until_stopped

    if sys.platform == "win32":
        from asyncio import run
    else:
        from uvloop import run

    server = OfflineServer(
        latency_s=latency_ms / 1_000,
        turns=turns,
        calls=calls,
        reply_chars=reply_chars,
        delta_chars=delta_chars,
        site=site,
        seed=seed,
        fault_rate=fault_rate,
        log=log,
    )
    run(run_until_stopped(server, port=port, announce=typer.echo))
