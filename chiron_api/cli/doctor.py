import dataclasses
import json

import typer

from chiron_api.cli.display.answer import AsJson
from chiron_api.local_stack.checks import Check, run_checks
from chiron_workers.settings import settings

cli = typer.Typer()


@cli.command()
def doctor(as_json: AsJson = False) -> None:
    """Look at everything that runs need, say what is missing and how to mend it. Exits with 1 at any problem."""
    checks = []
    for check in run_checks(settings()):
        checks.append(check)
        if not as_json:
            _print(check)
    if as_json:
        objects = [dataclasses.asdict(check) | {"ok": check.ok} for check in checks]
        typer.echo(json.dumps({"ok": all(check.ok for check in checks), "checks": objects}))
    if not all(check.ok for check in checks):
        raise typer.Exit(1)


def _print(check: Check) -> None:
    typer.echo(f"{'ok     ' if check.ok else 'problem'}  {check.name:16}  {check.found}")
    if check.advice:
        typer.echo(f"{'':27}{check.advice}")
