from functools import partial
from typing import Annotated

import typer

from chiron_api.acts import webhooks as acts
from chiron_api.acts.inputs import Page
from chiron_api.answers.webhooks import Delivery, Webhook
from chiron_api.cli.display.answer import AsJson, print_answer, print_list
from chiron_api.cli.display.remedies import pasteable
from chiron_api.cli.input.options import Draft, takes_input
from chiron_api.cli.input.pages import first_items
from chiron_api.cli.input.targets import act_on
from chiron_api.services import open_services
from chiron_api.text import count, local_time, one_line
from chiron_workers.batches.references import Referent, id_of
from chiron_workers.settings import settings
from chiron_workers.webhooks.webhooks import DEFAULT_KINDS, KINDS, kinds_of

cli = typer.Typer(
    name="webhooks",
    help="Hear of ends, pauses, budgets and news: by HTTP, in Slack or by mail.",
    no_args_is_help=True,
)
WebhookId = Annotated[str, typer.Argument(metavar="WEBHOOK", help="Id of a webhook.")]
Limit = Annotated[int, typer.Option(min=1, max=10_000, help="How many at most, the newest first.")]


@cli.command()
@takes_input(url=typer.Argument(metavar="URL"), without=("kinds",), format=typer.Option("--format", "-f"))
async def add(
    draft: Draft[acts.WebhookRequest],
    kinds: Annotated[
        str,
        typer.Option(
            metavar="KINDS",
            help=f"What is sent, separated by commas: {', '.join(KINDS)}; or `all`. Default: all but the ends of runs that are "
            "completed or cancelled, which the end of their batch counts.",
        ),
    ] = ",".join(DEFAULT_KINDS),
    as_json: AsJson = False,
) -> None:
    """Make a webhook. The secret that its deliveries are signed with is printed this once."""
    body = draft.complete(kinds=list(kinds_of(kinds)))
    async with open_services(settings(), pool_size=2) as services:
        webhook = await acts.create_webhook.command(services, body)
    lines = [_webhook_text(webhook)]
    if webhook.format == "standard":
        lines += [
            f"  secret {webhook.secret}",
            "  The receiver verifies with it; nobody is shown it again.",
        ]
    lines.append(f"  Next: {pasteable('webhooks', 'test', str(webhook.id))} sends it a test.")
    print_answer("\n".join(lines), webhook, as_json=as_json)


@cli.command("list")
async def list_webhooks(limit: Limit = 50, as_json: AsJson = False) -> None:
    """List the webhooks, newest first, and why one is off."""
    async with open_services(settings(), pool_size=1) as services:
        webhooks = await first_items(limit, Page(), partial(acts.list_webhooks, services))
    emptiness = "There is no webhook. `chiron webhooks add URL` makes one."
    print_list(webhooks, _webhook_text, emptiness, as_json=as_json)


@cli.command()
async def remove(webhook: WebhookId, as_json: AsJson = False) -> None:
    """Remove a webhook with its deliveries."""
    webhook_id, _ = await act_on(acts.remove_webhook, webhook, Referent.WEBHOOK)
    print_answer(f"Removed: webhook {webhook_id}.", {"removed": webhook_id}, as_json=as_json)


@cli.command()
async def deliveries(webhook: WebhookId, limit: Limit = 20, as_json: AsJson = False) -> None:
    """List what a webhook was sent or is to be sent, newest first, and what came of it."""
    async with open_services(settings(), pool_size=1) as services:
        webhook_id = await id_of(services.pool, webhook, Referent.WEBHOOK)
        items = await first_items(limit, Page(), partial(acts.list_deliveries, services, webhook_id))
    print_list(items, _delivery_line, "Nothing was sent to it yet.", as_json=as_json)


@cli.command()
async def resend(
    delivery: Annotated[str, typer.Argument(metavar="DELIVERY", help="Id of a delivery.")],
    as_json: AsJson = False,
) -> None:
    """Have a worker send a delivery at once, again if it was sent before: under the same id."""
    _, item = await act_on(acts.resend_delivery, delivery, Referent.DELIVERY)
    print_answer(_delivery_line(item), item, as_json=as_json)


@cli.command()
async def pause(webhook: WebhookId, as_json: AsJson = False) -> None:
    """Send a webhook nothing until it is resumed. Events during the pause are not sent later."""
    _, answer = await act_on(acts.pause_webhook, webhook, Referent.WEBHOOK)
    print_answer(_webhook_text(answer), answer, as_json=as_json)


@cli.command()
async def resume(webhook: WebhookId, as_json: AsJson = False) -> None:
    """Send to a webhook again that is paused, or off since its deliveries failed."""
    _, answer = await act_on(acts.resume_webhook, webhook, Referent.WEBHOOK)
    print_answer(_webhook_text(answer), answer, as_json=as_json)


@cli.command()
async def test(webhook: WebhookId, as_json: AsJson = False) -> None:
    """Have a worker send a delivery that says nothing. A webhook that is off is turned on again, a paused one is refused."""
    webhook_id, item = await act_on(acts.send_webhook_test, webhook, Referent.WEBHOOK)
    hint = f"A worker sends it now; `chiron webhooks deliveries {webhook_id}` shows what comes of it."
    print_answer(f"{_delivery_line(item)}\n  {hint}", item, as_json=as_json)


def _webhook_text(webhook: Webhook) -> str:
    lines = [
        f"{webhook.id}  {webhook.state}  {webhook.format}  {one_line(webhook.url)}",
        f"  {', '.join(webhook.kinds)}",
    ]
    if webhook.state != "active":
        lines += [f"  {one_line(webhook.reason)}"] if webhook.reason else []
        lines.append(f"  {pasteable('webhooks', 'resume', str(webhook.id))} resumes it")
    elif webhook.failing_since is not None:
        lines.append(f"  fails since {local_time(webhook.failing_since, '%Y-%m-%d %H:%M')}")
    return "\n".join(lines)


def _delivery_line(delivery: Delivery) -> str:
    times = f" after {count(delivery.tries, 'try', 'tries')}" if delivery.tries else ""
    line = f"{delivery.id}  {delivery.state}{times}  {delivery.kind}"
    if delivery.state == "waiting" and delivery.due_at is not None:
        line += f"  due {local_time(delivery.due_at, '%Y-%m-%d %H:%M')}"
    return f"{line}  {one_line(delivery.error)}" if delivery.error else line
