from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, TypeVar
from uuid import UUID

import typer

from chiron_api.cli import run
from chiron_api.cli.display.difference import in_short
from chiron_api.cli.input.money import usd_amount
from chiron_api.cli.input.times import starting_time
from chiron_api.text import as_json as json_line
from chiron_api.text import one_line, usd
from chiron_api.views.subscriptions import TIMES_MAX, subscription_page
from chiron_workers.batches.summaries import parse_id
from chiron_workers.db.connect import open_pool
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.runs.session import Caller, Session
from chiron_workers.settings import settings
from chiron_workers.subscriptions.cron import Recurrence
from chiron_workers.subscriptions.occurrences import PastOccurrence, last_occurrences
from chiron_workers.subscriptions.subscriptions import NewSubscription, Subscription, Subscriptions

Found = TypeVar("Found")

cli = typer.Typer(
    name="subscriptions",
    help="Research that recurs: topics that are looked into again and again, at set times.",
    no_args_is_help=True,
)
Id = Annotated[str, typer.Argument(metavar="ID", help="Id of a subscription.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@cli.command("list")
def list_subscriptions(
    subject: Annotated[str | None, typer.Option("--subject", help="Only those of this subject.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Subscriptions at most.")] = 50,
    as_json: Json = False,
) -> None:
    """List the subscriptions, newest first: when each is due, and why if it is not."""
    subject_id = slug(subject) if subject else None
    found = run(_within(lambda all_of_them: all_of_them.newest(limit=limit, subject_id=subject_id)))
    if as_json:
        typer.echo(json_line(found))
        return
    for subscription in found:
        typer.echo("\n".join(_lines(subscription)))
    if not found:
        typer.echo(
            "There is no subscription. `chiron subscriptions add TOPIC --subject S --cron C` makes one."
        )


@cli.command()
def add(  # noqa: PLR0913, PLR0917  # each is an option of the command
    topics: Annotated[list[str], typer.Argument(metavar="TOPIC...", help="What to research each time.")],
    subject: Annotated[str, typer.Option("--subject", "-s", help="Subject the facts belong to; any name.")],
    cron: Annotated[
        str,
        typer.Option(
            metavar="CRON",
            help='When: minute, hour, day, month, weekday. "0 9 * * MON" is each Monday at 9:00.',
        ),
    ],
    time_zone: Annotated[
        str, typer.Option(metavar="ZONE", help="Whose clock that is, such as Europe/Berlin.")
    ] = "UTC",
    role: Annotated[str, typer.Option(help="Which agent works on the topics.")] = "research",
    model: Annotated[str | None, typer.Option(help="Model of the runs. Default: CHIRON_MODEL.")] = None,
    budget_usd: Annotated[
        Decimal | None,
        typer.Option(
            parser=usd_amount,
            metavar="USD",
            help="What all topics together may cost each time. Default, and most: CHIRON_RUN_BUDGET_USD.",
        ),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option(
            parser=starting_time,
            metavar="TIME",
            help="When it ends, such as 2026-12-31. Default: never.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Have topics researched at set times from now on. The same subscription added again is the one there is."""
    new = NewSubscription(tuple(topics), subject, Recurrence(cron, time_zone), role, model, budget_usd, until)
    found, is_new = run(_within(lambda all_of_them: all_of_them.create(new)))
    if not is_new and not as_json:
        typer.echo("This subscription is there already.")
    _print([found], as_json=as_json)


@cli.command()
def show(
    subscription: Id,
    times: Annotated[int, typer.Option(min=1, max=TIMES_MAX, help="Times at most, the latest first.")] = 10,
    as_json: Json = False,
) -> None:
    """Show a subscription: its terms, and what each of its last times has brought against the time before."""
    found, last = run(_with_times(parse_id(subscription), times))
    if as_json:
        typer.echo(json_line(subscription_page(found, last)))
        return
    typer.echo("\n".join(_lines(found)))
    for time in last:
        typer.echo(f"\n  {time.due_at.astimezone():%Y-%m-%d %H:%M}  batch {time.batch_id}")
        typer.echo(f"    {in_short(time.difference.counts) if time.difference else 'not finished'}")


@cli.command()
def pause(subscription: Id, as_json: Json = False) -> None:
    """Start nothing more for a subscription until it is resumed. What it has started goes on."""
    found_id = parse_id(subscription)
    _print([run(_within(lambda all_of_them: all_of_them.pause(found_id)))], as_json=as_json)


@cli.command()
def resume(subscription: Id, as_json: Json = False) -> None:
    """Go on with a paused subscription at its next time; what it missed is not made up for."""
    found_id = parse_id(subscription)
    _print([run(_within(lambda all_of_them: all_of_them.resume(found_id)))], as_json=as_json)


@cli.command()
def delete(subscription: Id) -> None:
    """Delete a subscription. What it has started goes on, and what was found stays."""
    found_id = parse_id(subscription)
    run(_within(lambda all_of_them: all_of_them.remove(found_id)))
    typer.echo(f"Deleted: subscription {found_id}.")


async def _with_times(subscription_id: UUID, limit: int) -> tuple[Subscription, list[PastOccurrence]]:
    async with open_pool(settings().database_url, size=2) as pool:
        session = Session(pool)
        found = await Subscriptions(session).get(subscription_id)
        return found, await last_occurrences(session, subscription_id, limit=limit)


async def _within(work: Callable[[Subscriptions], Awaitable[Found]]) -> Found:
    async with open_pool(settings().database_url, size=2) as pool, Session(pool, Caller()) as session:
        return await work(Subscriptions(session))


def _print(found: Sequence[Subscription], *, as_json: bool) -> None:
    for subscription in found:
        typer.echo(json_line(subscription) if as_json else "\n".join(_lines(subscription)))


def _lines(found: Subscription) -> list[str]:
    budget = f", up to {usd(found.budget_usd)} each time" if found.budget_usd is not None else ""
    lines = [f"{found.id}  {found.state}  {found.subject_id}  {found.cron} ({found.time_zone}){budget}"]
    lines += [f"  {one_line(topic)}" for topic in found.topics]
    last = f"; the last started batch {found.last_batch_id}" if found.last_batch_id else ""
    skipped = f", {found.times_skipped:,} passed over" if found.times_skipped else ""
    lines.append(f"  {found.times:,} times so far{skipped}{last}")
    if found.next_at:
        lines.append(f"  next {found.next_at.astimezone():%Y-%m-%d %H:%M}")
    if found.reason:
        lines.append(f"  {one_line(found.reason)}")
    return lines
