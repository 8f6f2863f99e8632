import dataclasses
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from chiron_workers.settings import Settings, settings

if TYPE_CHECKING:
    from chiron_api.local_stack.checks import Check

cli = typer.Typer()


@cli.command()
def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Look at everything that runs need, say what is missing and how to mend it. Exits with 1 at any problem."""
    found = []
    for check in examine(settings()):
        found.append(check)
        if not as_json:
            _print(check)
    if as_json:
        checks = [dataclasses.asdict(check) | {"ok": check.ok} for check in found]
        typer.echo(json.dumps({"ok": all(check.ok for check in found), "checks": checks}))
    if not all(check.ok for check in found):
        raise typer.Exit(1)


def examine(found: Settings) -> "Iterator[Check]":
    """All checks, one after the other, so that a slow one does not hide what is known already."""
    from chiron_api.local_stack import checks  # with all libraries whose services it looks at

    looks = (
        checks.machine_checks,
        checks.database_checks,
        checks.broker_checks,
        checks.tool_checks,
        checks.skill_checks,
        checks.mcp_server_checks,
        checks.search_checks,
        checks.web_checks,
    )
    for look in looks:
        yield from look(found)


def _print(check: "Check") -> None:
    typer.echo(f"{'ok     ' if check.ok else 'problem'}  {check.name:16}  {check.found}")
    if check.advice:
        typer.echo(f"{'':27}{check.advice}")
