from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Annotated, Any

import typer

from chiron_api.cli.display.answer import AsJson, print_answer
from chiron_api.cli.input.money import usd_option
from chiron_api.cli.input.times import parse_end
from chiron_api.text import as_json as json_line
from chiron_api.text import local_time, usd
from chiron_api.views.keys import key_item, key_items
from chiron_workers.access.audit import command
from chiron_workers.access.keys import NewKey, create_key, revoke_key
from chiron_workers.db.connect import Pool, open_pool
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
    expires_at = parse_end(expires) if expires else None
    new = NewKey(name, scope, owner, expires_at, budget_usd, per, requests_per_minute)
    async with (
        _pool() as pool,
        command(pool, "keys.create", name, {"scope": scope, "key_owner": owner or name}),
    ):
        secret, key = await create_key(pool, new)
    print_answer(secret, {"key": secret} | key_item(key, left_usd=key.budget_usd), as_json=as_json)


@cli.command("list")
async def list_keys(
    with_revoked: Annotated[bool, typer.Option("--all", help="Also those that were revoked.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the keys, oldest first: what each may, what it has left of its budget, and when it was used last."""
    async with _pool() as pool:
        items = await key_items(pool, with_revoked=with_revoked)
    if as_json:
        typer.echo(json_line(items))
        return
    for item in items:
        typer.echo("\n".join(_lines(item)))
    if not items:
        typer.echo(
            "There is no key but that of this home. `chiron keys create NAME --scope submit` makes one."
        )


@cli.command()
async def revoke(name: Name, as_json: AsJson = False) -> None:
    """End a key for good; servers refuse it within five seconds. What runs goes on: `chiron cancel` ends that."""
    async with _pool() as pool, command(pool, "keys.revoke", name):
        key = await revoke_key(pool, name)
    print_answer(f"The key {name!r} is revoked.", key_item(key, left_usd=None), as_json=as_json)


@asynccontextmanager
async def _pool() -> AsyncIterator[Pool]:
    async with open_pool(settings().database_url, size=1) as pool:
        yield pool


def _lines(item: dict[str, Any]) -> list[str]:
    owner = "" if item["owner"] == item["name"] else f"  of {item['owner']}"
    lines = [f"{item['name']}  may {item['scope']}{owner}"]
    if item["budget_usd"] is not None:
        period = "a day" if item["budget_period"] is BudgetPeriod.DAY else "in all"
        lines.append(f"  budget {usd(item['budget_usd'])} {period}, {usd(item['left_usd'])} left")
    if item["requests_per_minute"] is not None:
        lines.append(f"  {item['requests_per_minute']:,} requests a minute")
    for field, words in (("last_used_at", "last used"), ("expires_at", "ends"), ("revoked_at", "revoked")):
        if item[field] is not None:
            lines.append(f"  {words} {local_time(item[field], '%Y-%m-%d %H:%M')}")
    return lines
