"""Deliveries against real receivers: signed, tried again, each once at a time."""

import asyncio
import json
import socket
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import ssrfguard
from psycopg import sql
from structlog.testing import capture_logs
from webhooks.conftest import Receiver, Receiving

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.errors import Conflict
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.states import DeliveryState, WebhookFormat, WebhookState
from chiron_workers.web.pinned_http import PinnedResolver, policy_for
from chiron_workers.webhooks import sender as sender_module
from chiron_workers.webhooks.deliveries import (
    BACKOFFS,
    Delivery,
    backoff,
    claim_next,
    forget_old,
    newest_deliveries,
    resend,
    send_test,
)
from chiron_workers.webhooks.sender import SENDERS, Sender
from chiron_workers.webhooks.webhooks import WEBHOOKS_MAX, Webhook, Webhooks

Hook = Callable[..., Awaitable[tuple[str, Webhook]]]


async def order(pool: Pool, webhook: Webhook) -> Delivery:
    async with Session(pool) as session:
        return await send_test(session, webhook.id)


async def send_all(pool: Pool) -> None:
    """Send what is due, until nothing is."""
    sender = Sender(pool, settings())
    while await sender.send_due():
        await sender.finish()


async def deliveries(pool: Pool, webhook: Webhook) -> list[Delivery]:
    async with Session(pool) as session:
        return await newest_deliveries(session, webhook.id, limit=100)


async def one(pool: Pool, webhook: Webhook) -> Delivery:
    [delivery] = await deliveries(pool, webhook)
    return delivery


async def current(pool: Pool, webhook: Webhook) -> Webhook:
    async with Session(pool) as session:
        return await Webhooks(session).get(webhook.id)


async def write(pool: Pool, query: str, *args: Any) -> None:
    async with pool.connection() as connection:
        await connection.execute(sql.SQL(query), args)


async def make_due(pool: Pool) -> None:
    """As if the pauses were over."""
    await write(pool, "update deliveries set due_at = now() where state = 'waiting'")
    await write(pool, "update webhooks set claimed_until = null")


async def test_a_delivery_is_signed_so_that_the_library_of_the_standard_takes_it(
    pool: Pool, hook: Hook, receiver: Receiver
):
    secret, webhook = await hook(receiver.url)
    delivery = await order(pool, webhook)
    await send_all(pool)
    [payload] = receiver.verified(secret)
    assert payload["type"] == "webhook.test"
    assert payload["data"] == {"webhook_id": str(webhook.id), "link": "http://127.0.0.1:8700/"}
    assert receiver.ids == [str(delivery.id)]
    sent = await one(pool, webhook)
    assert (sent.state, sent.tries, sent.status, sent.error) == (DeliveryState.DELIVERED, 1, 200, "")


async def test_the_link_begins_with_the_address_that_people_use(
    pool: Pool, hook: Hook, receiver: Receiver, setting: Callable[[str, str], None]
):
    setting("PUBLIC_URL", "https://chiron.example.org/")
    _, webhook = await hook(receiver.url)
    await order(pool, webhook)
    await send_all(pool)
    assert receiver.bodies[0]["data"]["link"] == "https://chiron.example.org/"


async def test_what_fails_is_sent_again_later_under_the_same_id(pool: Pool, hook: Hook, receiving: Receiving):
    async with receiving(statuses=[500]) as receiver:
        secret, webhook = await hook(receiver.url)
        await order(pool, webhook)
        await send_all(pool)
        failure = await one(pool, webhook)
        assert (failure.state, failure.status, failure.error) == (
            DeliveryState.WAITING,
            500,
            "It answered 500.",
        )
        assert (await current(pool, webhook)).failing_since is not None
        await make_due(pool)
        await send_all(pool)
        sent = await one(pool, webhook)
        assert (sent.state, sent.tries, sent.status) == (DeliveryState.DELIVERED, 2, 200)
        assert (await current(pool, webhook)).failing_since is None
        assert len(receiver.verified(secret)) == 2
        assert len(set(receiver.ids)) == 1


async def test_a_dead_receiver_is_tried_ten_times_and_the_delivery_has_failed_then(pool: Pool, hook: Hook):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/"
    _, webhook = await hook(url)
    await order(pool, webhook)
    for _ in range(len(BACKOFFS) + 5):
        await send_all(pool)
        await make_due(pool)
    failure = await one(pool, webhook)
    assert (failure.state, failure.tries, failure.status) == (DeliveryState.FAILED, 10, None)
    assert "cannot be reached" in failure.error
    assert (await current(pool, webhook)).state == WebhookState.ACTIVE


def test_the_pauses_grow_as_the_standard_proposes():
    for tries, pause in enumerate(BACKOFFS, start=1):
        assert pause * 0.8 <= backoff(tries) <= pause * 1.2
    assert timedelta(hours=70) < sum(BACKOFFS, timedelta()) < timedelta(days=5)


async def test_an_endpoint_that_is_gone_is_sent_nothing_more_until_a_test_turns_it_on(
    pool: Pool, hook: Hook, receiving: Receiving
):
    async with receiving(statuses=[410]) as receiver:
        _, webhook = await hook(receiver.url)
        first, second = await order(pool, webhook), await order(pool, webhook)
        with capture_logs() as lines:
            await send_all(pool)
        assert len(receiver.requests) == 1
        off = await current(pool, webhook)
        assert (off.state, off.reason) == (WebhookState.OFF, "It answered 410: it is gone.")
        assert {delivery.state for delivery in await deliveries(pool, webhook)} == {DeliveryState.FAILED}
        assert [line["event"] for line in lines] == ["webhook.off"]
        async with Session(pool) as session:
            with pytest.raises(Conflict, match="is off"):
                await resend(session, second.id)
        await order(pool, webhook)
        async with Session(pool) as session:
            await resend(session, first.id)
        await make_due(pool)
        await send_all(pool)
        assert [delivery.state for delivery in await deliveries(pool, webhook)] == [
            DeliveryState.DELIVERED,
            DeliveryState.FAILED,
            DeliveryState.DELIVERED,
        ]


async def test_five_days_of_nothing_but_failures_turn_a_webhook_off(
    pool: Pool, hook: Hook, receiving: Receiving
):
    async with receiving(statuses=[500] * 2) as receiver:
        _, webhook = await hook(receiver.url)
        await order(pool, webhook)
        await send_all(pool)
        await write(pool, "update webhooks set failing_since = now() - interval '5 days 1 second'")
        await make_due(pool)
        await send_all(pool)
    off = await current(pool, webhook)
    assert off.state == WebhookState.OFF
    assert off.reason == "Nothing could be delivered for 5 days. The last try: It answered 500."
    assert (await one(pool, webhook)).state == DeliveryState.FAILED


async def test_a_redirect_is_not_followed(pool: Pool, hook: Hook, receiver: Receiver, receiving: Receiving):
    async with receiving(statuses=[302], headers={"Location": receiver.url}) as elsewhere:
        _, webhook = await hook(elsewhere.url)
        await order(pool, webhook)
        await send_all(pool)
    assert receiver.requests == []
    assert (await one(pool, webhook)).error == "It answered 302; redirects are not followed."


async def test_nothing_is_sent_to_a_private_address(
    pool: Pool, hook: Hook, receiver: Receiver, setting: Callable[[str, str], None]
):
    _, webhook = await hook(receiver.url)
    _, by_name = await hook(receiver.url.replace("127.0.0.1", "localhost"))
    await order(pool, webhook)
    await order(pool, by_name)
    setting("WEBHOOK_PRIVATE", "false")
    await send_all(pool)
    assert receiver.requests == []
    for refused in (webhook, by_name):
        delivery = await one(pool, refused)
        assert (delivery.state, delivery.status) == (DeliveryState.WAITING, None)
        assert delivery.error.startswith("Nothing is sent there")


async def test_a_slow_receiver_holds_up_no_other_and_gets_one_request_at_a_time(
    pool: Pool, hook: Hook, receiver: Receiver, receiving: Receiving
):
    gate = asyncio.Event()
    async with receiving(gate=gate) as slow:
        _, slow_hook = await hook(slow.url)
        _, quick_hook = await hook(receiver.url)
        for _ in range(3):
            await order(pool, slow_hook)
        sender = Sender(pool, settings())
        await sender.send_due()
        async with asyncio.timeout(60):
            while not slow.requests:
                await asyncio.sleep(0.01)
        await order(pool, quick_hook)
        async with asyncio.timeout(60):
            while not receiver.requests:
                await sender.send_due()
                await asyncio.sleep(0.01)
        assert len(slow.requests) == 1
        gate.set()
        await sender.finish()
        await send_all(pool)
        assert (len(slow.requests), slow.at_once_max) == (3, 1)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


async def test_sender_keeps_places_for_a_ninth_owner_beside_slow_receivers_of_eight(
    pool: Pool, hook: Hook, receiver: Receiver, receiving: Receiving
):
    gate = asyncio.Event()
    async with receiving(gate=gate) as slow:
        for n in range(8):
            for _ in range(WEBHOOKS_MAX if n < 2 else 2):
                await order(pool, (await hook(slow.url, owner=f"slow{n}"))[1])
        _, quick_hook = await hook(receiver.url, owner="quick")
        for _ in range(3):
            await order(pool, quick_hook)  # due after all others
        sender = Sender(pool, settings())
        await sender.send_due()
        counts = Counter(sender._tasks.values())
        assert len(counts) == 9
        assert (max(counts.values()), counts["quick"]) == (SENDERS // 2, 1)
        for answer_count in (1, 2, 3):
            await until(lambda answer_count=answer_count: len(receiver.requests) == answer_count)
            await sender.wait(timeout_s=1)
            await sender.send_due()
        assert slow.at_once_max < SENDERS
        gate.set()
        await sender.finish()
        await send_all(pool)
        assert len(slow.requests) == 2 * WEBHOOKS_MAX + 6 * 2


async def test_sender_takes_places_back_from_an_owner_as_its_deliveries_end(
    pool: Pool, hook: Hook, receiving: Receiving
):
    gates = {"alice": asyncio.Event(), "bob": asyncio.Event()}
    async with receiving(gate=gates["alice"]) as early, receiving(gate=gates["bob"]) as late:
        for owner, slow in (("alice", early), ("bob", late)):
            for _ in range(WEBHOOKS_MAX):
                _, webhook = await hook(slow.url, owner=owner)
                for _ in range(2):
                    await order(pool, webhook)
        sender = Sender(pool, settings())
        await sender.send_due()
        assert Counter(sender._tasks.values()) == {"alice": SENDERS // 2, "bob": SENDERS // 4}
        await until(lambda: early.at_once == SENDERS // 2)
        gates["alice"].set()
        await until(lambda: early.at_once == 0)
        gates["alice"].clear()
        await until(lambda: sum(not task.done() for task in sender._tasks) == SENDERS // 4)
        await sender.send_due()
        assert Counter(sender._tasks.values()) == {"alice": SENDERS // 3, "bob": SENDERS // 3}
        for gate in gates.values():
            gate.set()
        await sender.finish()


async def test_sender_waits_for_names_that_are_never_found_beside_other_owners_and_pages(
    pool: Pool, hook: Hook, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
):
    resolve, is_over = ssrfguard.resolve, threading.Event()

    def stall(target: ssrfguard.Target, **options: Any) -> Any:
        if target.host.endswith(".example"):
            is_over.wait(60)
        return resolve(target, **options)

    monkeypatch.setattr(ssrfguard, "resolve", stall)
    try:
        for n in range(WEBHOOKS_MAX):
            await order(pool, (await hook(f"http://stalled-{n}.example/", owner="alice"))[1])
        _, quick_hook = await hook(receiver.url.replace("127.0.0.1", "localhost"), owner="bob")
        await order(pool, quick_hook)
        sender = Sender(pool, settings())
        await sender.send_due()
        await until(lambda: len(receiver.requests) == 1)
        async with asyncio.timeout(60):
            assert await PinnedResolver(policy_for(allow_private=True)).resolve("localhost", 80)
        await sender.stop()
    finally:
        is_over.set()


async def test_a_receiver_that_never_answers_is_left_after_a_while(
    pool: Pool, hook: Hook, receiving: Receiving, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sender_module, "TIME_MAX_S", 0.2)
    gate = asyncio.Event()
    async with receiving(gate=gate) as slow:
        _, webhook = await hook(slow.url)
        await order(pool, webhook)
        await send_all(pool)
        gate.set()
    assert (await one(pool, webhook)).error == "It did not answer within 0.2 s."


async def test_workers_side_by_side_deliver_each_once(pool: Pool, hook: Hook, receiver: Receiver):
    _, webhook = await hook(receiver.url)
    ids = [str((await order(pool, webhook)).id) for _ in range(12)]
    senders = [Sender(pool, settings()) for _ in range(3)]

    async def work(sender: Sender) -> None:
        while len(receiver.requests) < len(ids):
            await sender.send_due()
            await sender.wait(timeout_s=0.01)
        await sender.finish()

    async with asyncio.timeout(120):
        await asyncio.gather(*map(work, senders))
    await send_all(pool)
    assert sorted(receiver.ids) == sorted(ids)
    assert receiver.at_once_max == 1


async def test_what_a_worker_says_that_lost_its_claim_does_not_count(
    pool: Pool, hook: Hook, receiving: Receiving
):
    gate = asyncio.Event()
    async with receiving(gate=gate, statuses=[500]) as receiver:
        _, webhook = await hook(receiver.url)
        await order(pool, webhook)
        frozen = Sender(pool, settings())
        await frozen.send_due()
        async with asyncio.timeout(60):
            while not receiver.requests:
                await asyncio.sleep(0.01)
        await make_due(pool)
        claim = await claim_next(pool)
        assert claim is not None
        gate.set()
        await frozen.finish()
        assert ((await one(pool, webhook)).status, (await one(pool, webhook)).tries) == (None, 2)


async def test_a_worker_that_stops_leaves_what_it_was_sending_to_others_at_once(
    pool: Pool, hook: Hook, receiving: Receiving
):
    gate = asyncio.Event()
    async with receiving(gate=gate) as receiver:
        _, webhook = await hook(receiver.url)
        await order(pool, webhook)
        stopped = Sender(pool, settings())
        await stopped.send_due()
        async with asyncio.timeout(60):
            while not receiver.requests:
                await asyncio.sleep(0.01)
        await stopped.stop()
        gate.set()
        await send_all(pool)
        assert len(set(receiver.ids)) == 1
        assert (await one(pool, webhook)).state == DeliveryState.DELIVERED


async def test_what_was_delivered_is_sent_again_on_request_under_its_id(
    pool: Pool, hook: Hook, receiver: Receiver
):
    _, webhook = await hook(receiver.url)
    delivery = await order(pool, webhook)
    await send_all(pool)
    async with Session(pool) as session:
        waiting = await resend(session, delivery.id)
    assert (waiting.state, waiting.tries) == (DeliveryState.WAITING, 0)
    await send_all(pool)
    assert receiver.ids == [str(delivery.id)] * 2


async def test_slack_gets_a_line_and_the_link_and_takes_no_name_for_a_command(
    pool: Pool, hook: Hook, receiver: Receiver
):
    _, webhook = await hook(receiver.url, format=WebhookFormat.SLACK)
    data = {
        "name": "<!channel>\n& more",
        "runs": {"completed": 2, "failed": 1},
        "facts": 1,
        "spent_usd": 0.5,
        "link": "/batches/b1",
    }
    payload = {"type": "batch.completed", "timestamp": "2026-01-01T00:00:00Z", "data": data}
    await order(pool, webhook)
    await write(pool, "update deliveries set payload = %s", json.dumps(payload))
    await send_all(pool)
    assert receiver.bodies == [
        {
            "text": "The batch “&lt;!channel&gt; &amp; more” has ended: 2 completed, 1 failed; 1 fact, 0.50 USD. "
            "http://127.0.0.1:8700/batches/b1"
        }
    ]
    assert (await current(pool, webhook)).url.endswith("/…")


async def test_what_cannot_be_put_into_words_fails_and_ends_no_worker(
    pool: Pool, hook: Hook, receiver: Receiver
):
    _, webhook = await hook(receiver.url)
    await order(pool, webhook)
    await write(pool, "update deliveries set payload = '{}'")
    await send_all(pool)
    assert (await one(pool, webhook)).error == "It cannot be sent: KeyError."


async def test_what_ended_long_ago_is_forgotten(pool: Pool, hook: Hook, receiver: Receiver):
    _, webhook = await hook(receiver.url)
    await order(pool, webhook)
    await order(pool, webhook)
    old = UUID("01900000-0000-7000-8000-000000000000")
    await write(
        pool,
        "update deliveries set id = %s, state = 'delivered' where id = (select id from deliveries order by id limit 1)",
        old,
    )
    assert await forget_old(pool) == 1
    assert [row["state"] for row in await fetch_all(pool, sql.SQL("select state from deliveries"))] == [
        "waiting"
    ]
