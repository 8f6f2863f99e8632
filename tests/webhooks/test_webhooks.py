"""Who may make which webhook, and that its secret is shown once."""

from collections.abc import Awaitable, Callable

import pytest
from psycopg import sql
from structlog.testing import capture_logs
from webhooks.conftest import Receiver

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.errors import Conflict, NotFound, UsageError
from chiron_workers.runs.session import Caller, Session
from chiron_workers.settings import settings
from chiron_workers.states import NoticeKind, WebhookFormat
from chiron_workers.webhooks import webhooks
from chiron_workers.webhooks.deliveries import claim_next, newest_deliveries, resend, send_test
from chiron_workers.webhooks.sender import Sender
from chiron_workers.webhooks.webhooks import DEFAULT_KINDS, KINDS, Webhook, Webhooks, kinds_of

Hook = Callable[..., Awaitable[tuple[str, Webhook]]]
URL = "https://example.org/hook"


async def test_the_secret_is_shown_when_a_webhook_is_made_and_never_again(
    pool: Pool, hook: Hook, receiver: Receiver
):
    with capture_logs() as lines:
        secret, webhook = await hook(receiver.url)
        assert secret.startswith("whsec_")
        assert len(secret) == len("whsec_") + 44
        async with Session(pool) as session:
            await send_test(session, webhook.id)
            await send_test(session, webhook.id)
        claim = await claim_next(pool)
        assert claim is not None
        async with pool.connection() as connection:
            await connection.execute(sql.SQL("update webhooks set claimed_until = null"))
        await Sender(pool, settings()).send_due()
        async with Session(pool) as session:
            listed = await Webhooks(session).newest(limit=10)
            sent = await newest_deliveries(session, webhook.id, limit=10)
    shown = repr([webhook, listed, sent, claim, lines])
    assert secret not in shown
    assert secret.removeprefix("whsec_") not in shown
    [row] = await fetch_all(pool, sql.SQL("select secret from webhooks"))
    assert row["secret"] == secret


async def test_what_somebody_else_owns_is_not_there(pool: Pool, hook: Hook):
    _, webhook = await hook(URL, owner="alice")
    async with Session(pool) as session:
        delivery = await send_test(session, webhook.id)
    async with Session(pool, Caller("bob", is_admin=False)) as session:
        assert await Webhooks(session).newest(limit=10) == []
        for attempt in (
            Webhooks(session).get(webhook.id),
            Webhooks(session).remove(webhook.id),
            Webhooks(session).pause(webhook.id),
            Webhooks(session).resume(webhook.id),
            newest_deliveries(session, webhook.id, limit=1),
            send_test(session, webhook.id),
            resend(session, delivery.id),
        ):
            with pytest.raises(NotFound):
                await attempt
    async with Session(pool, Caller("alice", is_admin=False)) as session:
        assert [item.id for item in await Webhooks(session).newest(limit=10)] == [webhook.id]
        await Webhooks(session).remove(webhook.id)
    assert await fetch_all(pool, sql.SQL("select from deliveries")) == []


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://example.org/", "Nothing can be sent there"),
        ("http://169.254.169.254/latest", "Nothing can be sent there"),
        ("file:///etc/passwd", "Nothing can be sent there"),
        ("https://ada:secret@example.org/", "credentials"),
        ("no address", "is not an address; one looks like https://"),
        ("https://example.org/" + "x" * 2_000, "at most 2,000 characters"),
    ],
)
async def test_what_is_no_address_of_a_receiver_is_refused(hook: Hook, url: str, words: str):
    with pytest.raises(UsageError, match=words):
        await hook(url)


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://[::1]/", "http://10.0.0.1/"])
async def test_a_private_address_is_refused_unless_it_is_allowed(
    hook: Hook, setting: Callable[[str, str], None], url: str
):
    setting("WEBHOOK_PRIVATE", "false")
    with pytest.raises(UsageError, match="CHIRON_WEBHOOK_PRIVATE"):
        await hook(url)


async def test_a_format_suits_its_address(hook: Hook):
    for url, shape in ((URL, WebhookFormat.MAIL), ("mailto:ada@example.org", WebhookFormat.SLACK)):
        with pytest.raises(UsageError, match="mailto:"):
            await hook(url, format=shape)


async def test_an_owner_has_so_many_and_no_more(hook: Hook, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(webhooks, "WEBHOOKS_MAX", 2)
    for _ in range(2):
        await hook(URL)
    with pytest.raises(Conflict, match="Remove one first"):
        await hook(URL)
    await hook(URL, owner="alice")


def test_kinds_are_named_with_commas_or_all_of_them():
    assert kinds_of("all") == KINDS
    assert kinds_of("run.failed, batch.completed") == (NoticeKind.RUN_FAILED, NoticeKind.BATCH_COMPLETED)
    for wrong in ("run.exploded", "webhook.test", "model.replied"):
        with pytest.raises(UsageError, match="There is no kind"):
            kinds_of(wrong)
    assert NoticeKind.RUN_COMPLETED not in DEFAULT_KINDS


async def test_nothing_at_all_is_no_kind(hook: Hook):
    with pytest.raises(UsageError, match="one kind or more"):
        await hook(URL, kinds=())


async def test_a_paused_webhook_hears_nothing_until_it_is_resumed(pool: Pool, hook: Hook):
    _, webhook = await hook(URL)
    async with Session(pool) as session:
        delivery = await send_test(session, webhook.id)
        paused = await Webhooks(session).pause(webhook.id)
        assert (paused.state, paused.reason) == ("paused", "")
        assert (await Webhooks(session).pause(webhook.id)).state == "paused"
    assert await claim_next(pool) is None
    async with Session(pool) as session:
        for refused in (send_test(session, webhook.id), resend(session, delivery.id)):
            with pytest.raises(Conflict, match="is paused") as caught:
                await refused
            [remedy] = caught.value.remedies
            assert (remedy.action, remedy.noun, remedy.target) == ("resume", "webhook", str(webhook.id))
    async with Session(pool) as session:
        assert (await Webhooks(session).resume(webhook.id)).state == "active"
    claim = await claim_next(pool)
    assert claim is not None
    assert claim.id == delivery.id


async def test_pausing_a_webhook_that_is_off_leaves_its_reason_and_resuming_turns_it_on(
    pool: Pool, hook: Hook
):
    _, webhook = await hook(URL)
    await fetch_all(pool, sql.SQL("update webhooks set state = 'off', reason = 'It is gone.' returning 1"))
    async with Session(pool) as session:
        assert (await Webhooks(session).pause(webhook.id)).reason == "It is gone."
        resumed = await Webhooks(session).resume(webhook.id)
    assert (resumed.state, resumed.reason, resumed.failing_since) == ("active", "", None)
