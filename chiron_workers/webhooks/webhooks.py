"""Webhooks: where an owner wants to hear of what happens. Whoever made one is its owner, and hears of the owner's own alone."""

import base64
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers.access.audit import record_within
from chiron_workers.db.queries import load
from chiron_workers.errors import Conflict, NotFound, UsageError
from chiron_workers.ids import new_id
from chiron_workers.problems import SEE_WEBHOOKS
from chiron_workers.runs.session import Session
from chiron_workers.settings import Settings, settings
from chiron_workers.states import NoticeKind, WebhookFormat, WebhookState

SQL = load(__file__)
WEBHOOKS_MAX = 20  # of an owner
URL_CHARS_MAX = 2_000
SECRET_PREFIX = "whsec_"  # noqa: S105  # as Standard Webhooks begins each
SECRET_BYTES = 32
ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,190}")
KINDS: tuple[NoticeKind, ...] = tuple(kind for kind in NoticeKind if kind is not NoticeKind.WEBHOOK_TEST)
# A batch may have thousands of runs, and its end says how many are completed or were cancelled.
DEFAULT_KINDS: tuple[NoticeKind, ...] = tuple(
    kind for kind in KINDS if kind not in (NoticeKind.RUN_COMPLETED, NoticeKind.RUN_CANCELLED)
)


@dataclass(frozen=True, slots=True)
class NewWebhook:
    """A webhook to make. `kinds` is what it is sent; no `format`: mail for mailto:, else Standard Webhooks."""

    url: str
    kinds: Sequence[NoticeKind] = DEFAULT_KINDS
    format: WebhookFormat | None = None


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook without its secret. `reason` says why it is off; `failing_since` is the first failure after its last success.

    The address of one for Slack is a secret as well: only its host is shown.
    """

    id: UUID
    owner: str
    url: str
    kinds: list[str]
    format: WebhookFormat
    state: WebhookState
    reason: str
    failing_since: datetime | None
    created_at: datetime
    last_delivery: dict[str, Any] | None = None


class Webhooks:
    """The webhooks that the session's caller sees: its own, and for who may see everything those of all owners."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def create(self, new: NewWebhook) -> tuple[str, Webhook]:
        """Make a webhook; the secret that its deliveries are signed with, which nobody is shown again, and the webhook.

        Raises:
            UsageError: The address or a kind cannot be used.
            Conflict: The owner has as many as one may have.
        """
        shape = _check(new, settings())
        owner = self._session.caller.owner
        await self._session.lock(SQL["lock_owner"], {"owner": owner}, keys=[f"webhooks {owner}"])
        [count] = await self._session.rows(SQL["count"], {"owner": owner})
        if count["webhooks"] >= WEBHOOKS_MAX:
            raise Conflict(f"{owner} has {WEBHOOKS_MAX} webhooks, and may have no more. Remove one first.")
        secret = SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()
        args = {"id": new_id(), "owner": owner, "url": new.url, "format": shape, "secret": secret}
        kinds = [str(kind) for kind in dict.fromkeys(new.kinds)]
        [row] = await self._session.write(SQL["insert"], args | {"kinds": kinds})
        await record_within(await self._session.begin(), webhooks=row["id"])
        return secret, _webhook(row)

    async def get(self, webhook_id: UUID) -> Webhook:
        """One webhook. Raises NotFound."""
        row = await self._session.row(SQL["get"], self._args(webhook_id))
        if row is None:
            raise _unknown(webhook_id)
        return _webhook(row)

    async def newest(self, *, limit: int, before: UUID | None = None) -> list[Webhook]:
        """The newest webhooks, newest first; with `before` those older than that one."""
        args = {"owner": self._session.caller.visible_owner, "before": before, "limit": limit}
        return [_webhook(row) for row in await self._session.rows(SQL["newest"], args)]

    async def remove(self, webhook_id: UUID) -> None:
        """Delete a webhook with its deliveries. Raises NotFound."""
        if not await self._session.write(SQL["remove"], self._args(webhook_id)):
            raise _unknown(webhook_id)
        await record_within(await self._session.begin(), webhooks=webhook_id)

    async def pause(self, webhook_id: UUID) -> Webhook:
        """Send it nothing until it is resumed. Events during the pause are not sent later. Raises NotFound."""
        return await self._set_state("pause", webhook_id)

    async def resume(self, webhook_id: UUID) -> Webhook:
        """Send to it again: one that is paused, or off. Raises NotFound."""
        return await self._set_state("resume", webhook_id)

    async def _set_state(self, query: str, webhook_id: UUID) -> Webhook:
        await self.get(webhook_id)  # which only its owner may
        await self._session.write(SQL[query], {"id": webhook_id})
        await record_within(await self._session.begin(), webhooks=webhook_id)
        return await self.get(webhook_id)

    def _args(self, webhook_id: UUID) -> dict[str, UUID | str | None]:
        return {"id": webhook_id, "owner": self._session.caller.visible_owner}


def kinds_of(names: str) -> tuple[NoticeKind, ...]:
    """The kinds that a list with commas names; `all` is all of them. Raises UsageError."""
    words = [name.strip() for name in names.split(",") if name.strip()]
    if words == ["all"]:
        return KINDS
    if strange := [word for word in words if word not in KINDS]:
        raise UsageError(f"There is no kind {strange[0][:60]!r}; there are {', '.join(KINDS)}.")
    return tuple(NoticeKind(word) for word in words)


def _check(new: NewWebhook, current: Settings) -> WebhookFormat:
    """The format of what can be made. Raises UsageError."""
    if not new.kinds or not set(new.kinds) <= set(KINDS):
        raise UsageError(f"A webhook is sent one kind or more of {', '.join(KINDS)}.")
    if len(new.url) > URL_CHARS_MAX:
        raise UsageError(f"An address has at most {URL_CHARS_MAX:,} characters.")
    is_mail = new.url.startswith("mailto:")
    shape = new.format or (WebhookFormat.MAIL if is_mail else WebhookFormat.STANDARD)
    if is_mail is not (shape is WebhookFormat.MAIL):
        raise UsageError(
            "A webhook that is a mail has an address such as mailto:someone@example.org; all others have https://..."
        )
    if is_mail:
        _check_mail(new.url, current)
    else:
        _check_url(new.url, allow_private=current.webhook_private)
    return shape


def _check_mail(url: str, current: Settings) -> None:
    if ADDRESS.fullmatch(url.removeprefix("mailto:")) is None:
        raise UsageError("A mail goes to one address, without anything else: mailto:someone@example.org.")
    if not current.smtp_host:
        raise UsageError("No mail server is known that could send it; set CHIRON_SMTP_HOST.")


def _check_url(url: str, *, allow_private: bool) -> None:
    import ssrfguard

    from chiron_workers.web.pinned_http import policy_for

    if "://" not in url:
        raise UsageError(f"{url[:200]!r} is not an address; one looks like https://example.org/hook.")
    try:
        policy_for(allow_private=allow_private).check_url(url)
    except (ssrfguard.BlockedURLError, ssrfguard.BlockedAddressError) as error:
        hint = (
            "" if allow_private or not _is_private(url) else " CHIRON_WEBHOOK_PRIVATE opens private networks."
        )
        raise UsageError(f"Nothing can be sent there: {error.reason}.{hint}") from None
    except ValueError:
        raise UsageError("That is not an address; one looks like https://example.org/hook.") from None


def _is_private(url: str) -> bool:
    try:
        _check_url(url, allow_private=True)
    except UsageError:
        return False
    return True


def _unknown(webhook_id: UUID) -> NotFound:
    return NotFound(f"There is no webhook {webhook_id}.", remedies=(SEE_WEBHOOKS,))


def _webhook(row: DictRow) -> Webhook:
    shape = WebhookFormat(row["format"])
    url = row["url"]
    if shape is WebhookFormat.SLACK:
        parts = urlsplit(url)
        url = f"{parts.scheme}://{parts.netloc}/…"
    return Webhook(**{**row, "format": shape, "state": WebhookState(row["state"]), "url": url})
