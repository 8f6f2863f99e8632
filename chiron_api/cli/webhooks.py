from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Annotated

import typer

from chiron_api.cli.display.answer import AsJson, print_answer
from chiron_api.text import as_json as json_line
from chiron_api.text import count, local_time, one_line
from chiron_workers.access.audit import command
from chiron_workers.batches.references import Referent, id_of
from chiron_workers.db.connect import open_pool
from chiron_workers.runs.session import Caller, Session
from chiron_workers.settings import settings
from chiron_workers.states import DeliveryState, WebhookFormat, WebhookState
from chiron_workers.webhooks import deliveries as deliveries_of
from chiron_workers.webhooks.deliveries import Delivery, newest_deliveries, send_test
from chiron_workers.webhooks.webhooks import DEFAULT_KINDS, KINDS, NewWebhook, Webhook, Webhooks, kinds_of

cli = typer.Typer(
    name="webhooks",
    help="Hear of ends, pauses, budgets and news: by HTTP, in Slack or by mail.",
    no_args_is_help=True,
)
WebhookId = Annotated[str, typer.Argument(metavar="WEBHOOK", help="Id of a webhook.")]
Limit = Annotated[int, typer.Option(min=1, max=10_000, help="How many at most, the newest first.")]


@cli.command()
async def add(
    url: Annotated[
        str, typer.Argument(metavar="URL", help="Where to: https://..., or mailto:someone@example.org.")
    ],
    kinds: Annotated[
        str,
        typer.Option(
            metavar="KINDS",
            help=f"What is sent, separated by commas: {', '.join(KINDS)}; or `all`. Default: all but the ends of runs that are "
            "completed or cancelled, which the end of their batch counts.",
        ),
    ] = ",".join(DEFAULT_KINDS),
    format: Annotated[
        WebhookFormat | None,
        typer.Option("--format", "-f", help="In which form. Default: mail for mailto:, else standard."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a webhook. The secret that its deliveries are signed with is printed this once."""
    new = NewWebhook(url, kinds_of(kinds), format)
    async with _open_session() as session, command(session.pool, "webhooks.create") as made:
        secret, webhook = await Webhooks(session).create(new)
        await session.commit()
        made["webhooks"] = webhook.id
    lines = [
        *_webhook_lines(webhook),
        f"  secret {secret}",
        "  The receiver verifies with it; nobody is shown it again.",
    ]
    has_secret = webhook.format is WebhookFormat.STANDARD
    sentence = "\n".join(lines if has_secret else _webhook_lines(webhook))
    print_answer(sentence, {**asdict(webhook), "secret": secret}, as_json=as_json)


@cli.command("list")
async def list_webhooks(limit: Limit = 50, as_json: AsJson = False) -> None:
    """List the webhooks, newest first, and why one is off."""
    async with _open_session() as session:
        webhooks = await Webhooks(session).newest(limit=limit)
    if as_json:
        typer.echo(json_line(webhooks))
        return
    for webhook in webhooks:
        typer.echo("\n".join(_webhook_lines(webhook)))
    if not webhooks:
        typer.echo("There is no webhook. `chiron webhooks add URL` makes one.")


@cli.command()
async def remove(webhook: WebhookId, as_json: AsJson = False) -> None:
    """Remove a webhook with its deliveries."""
    async with _open_session() as session:
        webhook_id = await id_of(session.pool, webhook, Referent.WEBHOOK)
        async with command(session.pool, "webhooks.delete", webhook_id):
            await Webhooks(session).remove(webhook_id)
            await session.commit()
    print_answer(f"Removed: webhook {webhook_id}.", {"removed": webhook_id}, as_json=as_json)


@cli.command()
async def deliveries(webhook: WebhookId, limit: Limit = 20, as_json: AsJson = False) -> None:
    """List what a webhook was sent or is to be sent, newest first, and what came of it."""
    async with _open_session() as session:
        webhook_id = await id_of(session.pool, webhook, Referent.WEBHOOK)
        items = await newest_deliveries(session, webhook_id, limit=limit)
    if as_json:
        typer.echo(json_line(items))
        return
    for delivery in items:
        typer.echo(_delivery_line(delivery))
    if not items:
        typer.echo("Nothing was sent to it yet.")


@cli.command()
async def resend(
    delivery: Annotated[str, typer.Argument(metavar="DELIVERY", help="Id of a delivery.")],
    as_json: AsJson = False,
) -> None:
    """Have a worker send a delivery at once, again if it was sent before: under the same id."""
    async with _open_session() as session:
        delivery_id = await id_of(session.pool, delivery, Referent.DELIVERY)
        async with command(session.pool, "deliveries.resend", delivery_id):
            item = await deliveries_of.resend(session, delivery_id)
            await session.commit()
    typer.echo(json_line(item) if as_json else _delivery_line(item))


@cli.command()
async def test(webhook: WebhookId, as_json: AsJson = False) -> None:
    """Have a worker send a delivery that says nothing. A webhook that is off is turned on again."""
    async with _open_session() as session:
        webhook_id = await id_of(session.pool, webhook, Referent.WEBHOOK)
        async with command(session.pool, "webhooks.test", webhook_id):
            item = await send_test(session, webhook_id)
            await session.commit()
    hint = f"A worker sends it now; `chiron webhooks deliveries {webhook_id}` shows what comes of it."
    typer.echo(json_line(item) if as_json else f"{_delivery_line(item)}\n  {hint}")


@asynccontextmanager
async def _open_session() -> AsyncIterator[Session]:
    async with open_pool(settings().database_url, size=2) as pool, Session(pool, Caller()) as session:
        yield session


def _webhook_lines(webhook: Webhook) -> list[str]:
    lines = [
        f"{webhook.id}  {webhook.state}  {webhook.format}  {one_line(webhook.url)}",
        f"  {', '.join(webhook.kinds)}",
    ]
    if webhook.state is WebhookState.OFF:
        lines.append(f"  {one_line(webhook.reason)} `chiron webhooks test {webhook.id}` turns it on again.")
    elif webhook.failing_since is not None:
        lines.append(f"  fails since {local_time(webhook.failing_since, '%Y-%m-%d %H:%M')}")
    return lines


def _delivery_line(delivery: Delivery) -> str:
    times = f" after {count(delivery.tries, 'try', 'tries')}" if delivery.tries else ""
    line = f"{delivery.id}  {delivery.state}{times}  {delivery.kind}"
    if delivery.state is DeliveryState.WAITING and delivery.due_at is not None:
        line += f"  due {local_time(delivery.due_at, '%Y-%m-%d %H:%M')}"
    return f"{line}  {one_line(delivery.error)}" if delivery.error else line
