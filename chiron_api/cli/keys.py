from typing import Annotated

import typer

from chiron_api.acts import keys as acts
from chiron_api.answers.keys import Key
from chiron_api.cli.display.answer import AsJson, print_answer, print_list
from chiron_api.cli.input.options import takes_input
from chiron_api.cli.input.times import parse_end
from chiron_api.services import open_services
from chiron_api.text import local_time, usd
from chiron_workers.settings import settings

cli = typer.Typer(
    name="keys",
    help="Keys of programs and people that use the HTTP API or MCP over HTTP; each owns what it submits.",
    no_args_is_help=True,
)
Name = Annotated[str, typer.Argument(help="Name of the key.")]


@cli.command()
@takes_input(
    name=typer.Argument(),
    expires_at=typer.Option("--expires", parser=parse_end, metavar="30d|DATE"),
    budget_period="--per",
    requests_per_minute=typer.Option("--requests-per-minute", "--rate", metavar="N"),
)
async def create(body: acts.KeyRequest, as_json: AsJson = False) -> None:
    """Make a key and print it. It is shown this once: the database holds its hash alone."""
    async with open_services(settings(), pool_size=1) as services:
        new = await acts.create_key.command(services, body)
    print_answer(new.key, new, as_json=as_json)


@cli.command("list")
@takes_input(with_revoked="--all")
async def list_keys(query: acts.KeysQuery, as_json: AsJson = False) -> None:
    """List the keys, oldest first: what each may, what it has left of its budget, and when it was used last."""
    async with open_services(settings(), pool_size=1) as services:
        keys = (await acts.list_keys(services, query)).items
    emptiness = "There is no key but that of this home. `chiron keys create NAME --scope submit` makes one."
    print_list(keys, _text, emptiness, as_json=as_json)


@cli.command()
async def revoke(name: Name, as_json: AsJson = False) -> None:
    """End a key for good; servers refuse it within five seconds. What runs goes on: `chiron cancel` ends that."""
    async with open_services(settings(), pool_size=1) as services:
        await acts.revoke_key.command(services, name)
    print_answer(f"The key {name!r} is revoked.", {"revoked": name}, as_json=as_json)


def _text(key: Key) -> str:
    owner = "" if key.owner == key.name else f"  of {key.owner}"
    lines = [f"{key.name}  may {key.scope}{owner}"]
    if key.budget_usd is not None:
        period = "a day" if key.budget_period == "day" else "in all"
        lines.append(f"  budget {usd(key.budget_usd)} {period}, {usd(key.left_usd)} left")
    if key.requests_per_minute is not None:
        lines.append(f"  {key.requests_per_minute:,} requests a minute")
    times = {"last used": key.last_used_at, "ends": key.expires_at, "revoked": key.revoked_at}
    lines += [f"  {words} {local_time(at, '%Y-%m-%d %H:%M')}" for words, at in times.items() if at]
    return "\n".join(lines)
