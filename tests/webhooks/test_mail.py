"""Mails over a scripted server that speaks SMTP."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message

import pytest
from aiosmtpd.smtp import SMTP, Envelope

from chiron_workers.db.connect import Pool
from chiron_workers.errors import UsageError
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.states import DeliveryState, NoticeKind, WebhookFormat
from chiron_workers.webhooks.deliveries import newest_deliveries, send_test
from chiron_workers.webhooks.sender import Sender
from chiron_workers.webhooks.webhooks import Webhook
from chiron_workers.webhooks.wording import sentence

Hook = Callable[..., Awaitable[tuple[str, Webhook]]]


@dataclass
class MailServer:
    """Takes mails, after as many refusals as it is given."""

    refusals: list[str] = field(default_factory=list)
    mails: list[tuple[Envelope, Message]] = field(default_factory=list)

    async def handle_RCPT(  # noqa: N802  # as aiosmtpd calls it
        self, server: SMTP, session: object, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.refusals:
            return self.refusals.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: object, envelope: Envelope) -> str:  # noqa: N802
        self.mails.append((envelope, message_from_bytes(envelope.content or b"")))
        return "250 OK"


@pytest.fixture
async def mail_server(setting: Callable[[str, str], None]) -> AsyncIterator[MailServer]:
    handler = MailServer()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(handler, hostname="mail.test"), "127.0.0.1", 0)
    setting("SMTP_HOST", "127.0.0.1")
    setting("SMTP_PORT", str(server.sockets[0].getsockname()[1]))
    setting("SMTP_TLS", "none")
    setting("SMTP_FROM", "chiron@example.org")
    yield handler
    server.close()
    await server.wait_closed()


async def deliver(pool: Pool, webhook: Webhook) -> tuple[DeliveryState, int | None, str]:
    async with Session(pool) as session:
        await send_test(session, webhook.id)
    sender = Sender(pool, settings())
    while await sender.send_due():
        await sender.finish()
    async with Session(pool) as session:
        delivery = (await newest_deliveries(session, webhook.id, limit=1))[0]
    return delivery.state, delivery.status, delivery.error


async def test_a_mail_says_what_happened_with_the_link(pool: Pool, hook: Hook, mail_server: MailServer):
    _, webhook = await hook("mailto:ada@example.org")
    assert webhook.format == WebhookFormat.MAIL
    assert await deliver(pool, webhook) == (DeliveryState.DELIVERED, None, "")
    [(envelope, mail)] = mail_server.mails
    assert (envelope.mail_from, envelope.rcpt_tos) == ("chiron@example.org", ["ada@example.org"])
    assert (mail["To"], mail["Subject"]) == ("ada@example.org", "Chiron: This is a test: the webhook works.")
    assert "http://127.0.0.1:8700/" in mail.get_payload()
    assert mail["Message-ID"].endswith("@chiron>")


async def test_a_refused_address_is_an_error_of_the_delivery(pool: Pool, hook: Hook, mail_server: MailServer):
    mail_server.refusals.append("550 no such person: ada@example.org")
    _, webhook = await hook("mailto:ada@example.org")
    state, status, error = await deliver(pool, webhook)
    assert (state, status) == (DeliveryState.WAITING, 550)
    assert error == "The mail server refused the address: 550."


async def test_a_mail_server_that_is_away_is_an_error_of_the_delivery(
    pool: Pool, hook: Hook, mail_server: MailServer, setting: Callable[[str, str], None]
):
    _, webhook = await hook("mailto:ada@example.org")
    setting("SMTP_PORT", "1")
    state, status, error = await deliver(pool, webhook)
    assert (state, status) == (DeliveryState.WAITING, None)
    assert error.startswith("The mail server could not be used: SMTPConnect")


async def test_no_password_goes_over_a_connection_that_is_not_encrypted(
    pool: Pool, hook: Hook, mail_server: MailServer, setting: Callable[[str, str], None]
):
    setting("SMTP_TLS", "starttls")
    _, webhook = await hook("mailto:ada@example.org")
    state, _, error = await deliver(pool, webhook)
    assert (state, mail_server.mails) == (DeliveryState.WAITING, [])
    assert error.startswith("The mail server could not be used")


@pytest.mark.parametrize(
    "address",
    [
        "mailto:ada@example.org,bob@example.org",
        "mailto:ada@example.org?cc=bob@example.org",
        "mailto:ada@example.org\r\nBcc: bob@example.org",
        "mailto:Ada <ada@example.org>",
        "mailto:",
    ],
)
async def test_only_one_bare_address_is_taken(hook: Hook, mail_server: MailServer, address: str):
    with pytest.raises(UsageError, match="one address"):
        await hook(address)


async def test_without_a_mail_server_none_is_made(hook: Hook):
    with pytest.raises(UsageError, match="CHIRON_SMTP_HOST"):
        await hook("mailto:ada@example.org")


def test_each_kind_has_its_sentence_on_one_line():
    data = {
        "name": "sea\r\nBcc: x\u2028ice",
        "reason": "The budget\nis spent.",
        "facts": 3,
        "spent_usd": 1234.5,
        "runs": {"completed": 1},
        "counts": {"new": 2, "changed": 0},
        "subject_id": "ice",
    }
    sentences = {kind: sentence({"type": kind, "data": data}) for kind in NoticeKind}
    assert len(set(sentences.values())) == len(NoticeKind)
    assert all(words.splitlines() == [words] for words in sentences.values())
    assert sentences[NoticeKind.SUBSCRIPTION_NEWS] == "There is news of ice, “sea Bcc: x ice”: 2 new."
    assert (
        sentences[NoticeKind.RUN_COMPLETED] == "The run “sea Bcc: x ice” is completed; 3 facts, 1,234.50 USD."
    )
