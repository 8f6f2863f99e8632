from functools import partial
from typing import Annotated

import typer

from chiron_api.acts import subscriptions as acts
from chiron_api.acts.moments import Side
from chiron_api.answers.subjects import Subscription
from chiron_api.cli.display.answer import AsJson, print_answer, print_list
from chiron_api.cli.display.remedies import pasteable
from chiron_api.cli.input.options import takes_input
from chiron_api.cli.input.pages import first_items
from chiron_api.cli.input.targets import act_on
from chiron_api.cli.input.times import time_option
from chiron_api.services import open_services
from chiron_api.text import as_json as json_line
from chiron_api.text import count, local_time, one_line, usd
from chiron_api.views.differences import counts_line
from chiron_workers.batches.references import Referent, id_of
from chiron_workers.settings import settings

cli = typer.Typer(
    name="subscriptions",
    help="Research that recurs: topics that are looked into again and again, at set times.",
    no_args_is_help=True,
)
Id = Annotated[str, typer.Argument(metavar="ID", help="Id of a subscription.")]


@cli.command("list")
@takes_input(without=("limit", "after"), may_be_empty=("subject",), subject=typer.Option("--subject", "-s"))
async def list_subscriptions(
    page: acts.SubscriptionPage,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Subscriptions at most.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List the subscriptions, newest first: when each is due, and why if it is not."""
    async with open_services(settings(), pool_size=1) as services:
        subscriptions = await first_items(limit, page, partial(acts.list_subscriptions, services))
    of_subject = f" on {page.subject!r}" if page.subject else ""
    emptiness = (
        f"There is no subscription{of_subject}. "
        f"{pasteable('subscriptions', 'add', 'TOPIC', '--subject', page.subject or 'S', '--cron', 'C')} makes one."
    )
    print_list(subscriptions, _text, emptiness, as_json=as_json)


@cli.command()
@takes_input(
    topics=typer.Argument(metavar="TOPIC..."),
    subject=typer.Option("--subject", "-s"),
    cron=typer.Option(metavar="CRON"),
    time_zone=typer.Option(metavar="ZONE"),
    ends_at=time_option(
        "--until", side=Side.FUTURE, help=f"When it ends: {Side.FUTURE.forms}. Default: never."
    ),
)
async def add(body: acts.SubscriptionRequest, as_json: AsJson = False) -> None:
    """Have topics researched at set times from now on. The same subscription added again is the one there is."""
    async with open_services(settings(), pool_size=2) as services:
        outcome = await acts.create_subscription.command(services, body)
    if not outcome.is_new and not as_json:
        typer.echo("This subscription is there already.")
    print_answer(_text(outcome.answer), outcome.answer, as_json=as_json)


@cli.command()
@takes_input(limit="--times")
async def show(subscription: Id, query: acts.TimesQuery, as_json: AsJson = False) -> None:
    """Show a subscription: its terms, and what each of its last times has brought against the time before."""
    async with open_services(settings(), pool_size=1) as services:
        subscription_id = await id_of(services.pool, subscription, Referent.SUBSCRIPTION)
        entry = await acts.show_subscription(services, subscription_id)
        last = (await acts.list_subscription_times(services, subscription_id, query)).items
    if as_json:
        typer.echo(json_line(dict(entry) | {"times": last}))
        return
    typer.echo(_text(entry))
    for time in last:
        typer.echo(f"\n  {local_time(time.due_at, '%Y-%m-%d %H:%M')}  batch {time.batch_id}")
        typer.echo(f"    {'not finished' if time.counts is None else counts_line(time.counts)}")


@cli.command()
async def pause(subscription: Id, as_json: AsJson = False) -> None:
    """Start nothing more for a subscription until it is resumed. What it has started goes on."""
    _, answer = await act_on(acts.pause_subscription, subscription, Referent.SUBSCRIPTION)
    print_answer(_text(answer), answer, as_json=as_json)


@cli.command()
async def resume(subscription: Id, as_json: AsJson = False) -> None:
    """Go on with a paused subscription at its next time; what it missed is not made up for."""
    _, answer = await act_on(acts.resume_subscription, subscription, Referent.SUBSCRIPTION)
    print_answer(_text(answer), answer, as_json=as_json)


@cli.command()
async def run(subscription: Id, as_json: AsJson = False) -> None:
    """Start a time of a subscription now, also of a paused one. Its next time stays."""
    _, outcome = await act_on(acts.run_subscription, subscription, Referent.SUBSCRIPTION)
    verb = "Started" if outcome.is_new else "Started before"
    text = f"{verb}: batch {outcome.answer.batch_id}. {pasteable('watch', str(outcome.answer.batch_id))} follows it."
    print_answer(text, outcome.answer, as_json=as_json)


@cli.command()
async def delete(subscription: Id, as_json: AsJson = False) -> None:
    """Delete a subscription. What it has started goes on, and what was found stays."""
    subscription_id, _ = await act_on(acts.delete_subscription, subscription, Referent.SUBSCRIPTION)
    print_answer(f"Deleted: subscription {subscription_id}.", {"deleted": subscription_id}, as_json=as_json)


def _text(subscription: Subscription) -> str:
    budget = (
        f", up to {usd(subscription.budget_usd)} each time" if subscription.budget_usd is not None else ""
    )
    lines = [
        f"{subscription.id}  {subscription.state}  {subscription.subject_id}  "
        f"{subscription.cron} ({subscription.time_zone}){budget}"
    ]
    lines += [f"  {one_line(topic)}" for topic in subscription.topics]
    lines += [f"  context: {one_line(subscription.context)}"] if subscription.context else []
    lines += ["  reads the sources of its subject again each time"] * subscription.recheck
    last = f"; the last started batch {subscription.last_batch_id}" if subscription.last_batch_id else ""
    last += f": {counts_line(subscription.last_counts)}" if subscription.last_counts is not None else ""
    skipped_part = f", {subscription.times_skipped:,} passed over" if subscription.times_skipped else ""
    lines.append(f"  {count(subscription.times, 'time')} so far{skipped_part}{last}")
    if subscription.next_at:
        lines.append(f"  next {local_time(subscription.next_at, '%Y-%m-%d %H:%M')}")
    if subscription.reason:
        lines.append(f"  {one_line(subscription.reason)}")
    if subscription.state == "paused":
        lines.append(f"  {pasteable('subscriptions', 'resume', str(subscription.id))} resumes it")
    return "\n".join(lines)
