import asyncio
import dataclasses
import json
from collections.abc import Iterator
from typing import Annotated

import typer

from chiron_api.cli.display.answer import AsJson
from chiron_api.local_stack.checks import Check, run_checks
from chiron_api.text import one_line
from chiron_workers.settings import Settings, settings

cli = typer.Typer()


@cli.command()
def doctor(
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="Probe this model instead: does it call tools, does it stop, how large is its window? Sends two small calls, "
            "which cost what the model costs.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Look at everything that runs need, say what is missing and how to mend it. Exits with 1 at any problem."""
    checks = []
    for check in run_checks(settings()) if model is None else _probe(settings(), model):
        checks.append(check)
        if not as_json:
            _print(check)
    if as_json:
        objects = [dataclasses.asdict(check) | {"ok": check.ok} for check in checks]
        typer.echo(json.dumps({"ok": all(check.ok for check in checks), "checks": objects}))
    if not all(check.ok for check in checks):
        raise typer.Exit(1)


def _probe(settings: Settings, model: str) -> Iterator[Check]:
    # What asks a model takes long to import.
    from chiron_workers.telemetry.logs import log_to_stderr
    from chiron_workers.worker.model_probe import probe_model

    log_to_stderr("ERROR")  # the checks say what the warnings would

    for finding in asyncio.run(probe_model(settings, model)):
        yield Check(finding.name, one_line(finding.finding), finding.advice)


def _print(check: Check) -> None:
    typer.echo(f"{'ok     ' if check.ok else 'problem'}  {check.name:16}  {check.found}")
    if check.advice:
        typer.echo(f"{'':27}{check.advice}")
