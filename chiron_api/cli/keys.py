from decimal import Decimal
from typing import Annotated

import typer

from chiron_api.acts import keys as acts
from chiron_api.answers.keys import Key
from chiron_api.cli.display.answer import AsJson, print_answer
from chiron_api.cli.input.money import usd_option
from chiron_api.cli.input.options import options
from chiron_api.cli.input.times import parse_end
from chiron_api.services import open_services
from chiron_api.text import as_json as json_line
from chiron_api.text import local_time, usd
from chiron_workers.settings import settings
from chiron_workers.states import AccessScope, BudgetPeriod

cli = typer.Typer(
    name="keys",
    help="Keys of programs and people that use the HTTP API or MCP over HTTP; each owns what it submits.",
    no_args_is_help=True,
)
Name = Annotated[str, typer.Argument(help="Name of the key.")]


@cli.command()
async def create(
    name: Name,
    scope: Annotated[
        AccessScope,
        typer.Option(help="What it may: read; also submit and steer; also see all owners and manage keys."),
    ],
    owner: Annotated[
        str, typer.Option(help="Whose batches are submitted with it. Default: its name; `local` is you.")
    ] = "",
    expires: Annotated[
        str | None, typer.Option(metavar="30d|DATE", help="When it ends. Default: never.")
    ] = None,
    budget_usd: Annotated[
        Decimal | None, usd_option("What all batches of the key may cost together. Default: no limit.")
    ] = None,
    per: Annotated[
        BudgetPeriod, typer.Option(help="Whether the budget is for each day, or in total.")
    ] = BudgetPeriod.TOTAL,
    requests_per_minute: Annotated[
        int | None,
        typer.Option(
            "--requests-per-minute",
            "--rate",
            min=1,
            metavar="N",
            help="Requests a minute. Default: no limit.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a key and print it. It is shown this once: the database holds its hash alone."""
    body = options(
        acts.KeyRequest,
        name=name,
        scope=scope,
        owner=owner,
        expires_at=parse_end(expires) if expires else None,
        budget_usd=budget_usd,
        budget_period=per,
        requests_per_minute=requests_per_minute,
    )
    async with open_services(settings(), pool_size=1) as services:
        new = await acts.create_key.command(services, body)
    print_answer(new.key, new, as_json=as_json)


@cli.command("list")
async def list_keys(
    with_revoked: Annotated[bool, typer.Option("--all", help="Also those that were revoked.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the keys, oldest first: what each may, what it has left of its budget, and when it was used last."""
    async with open_services(settings(), pool_size=1) as services:
        keys = (await acts.list_keys(services, options(acts.KeysQuery, revoked=with_revoked))).items
    if as_json:
        typer.echo(json_line(keys))
        return
    for key in keys:
        typer.echo("\n".join(_lines(key)))
    if not keys:
        typer.echo(
            "There is no key but that of this home. `chiron keys create NAME --scope submit` makes one."
        )


@cli.command()
async def revoke(name: Name, as_json: AsJson = False) -> None:
    """End a key for good; servers refuse it within five seconds. What runs goes on: `chiron cancel` ends that."""
    async with open_services(settings(), pool_size=1) as services:
        await acts.revoke_key.command(services, name)
    print_answer(f"The key {name!r} is revoked.", {"revoked": name}, as_json=as_json)


def _lines(key: Key) -> list[str]:
    owner = "" if key.owner == key.name else f"  of {key.owner}"
    lines = [f"{key.name}  may {key.scope}{owner}"]
    if key.budget_usd is not None:
        period = "a day" if key.budget_period == "day" else "in all"
        lines.append(f"  budget {usd(key.budget_usd)} {period}, {usd(key.left_usd)} left")
    if key.requests_per_minute is not None:
        lines.append(f"  {key.requests_per_minute:,} requests a minute")
    times = {"last used": key.last_used_at, "ends": key.expires_at, "revoked": key.revoked_at}
    lines += [f"  {words} {local_time(at, '%Y-%m-%d %H:%M')}" for words, at in times.items() if at]
    return lines
