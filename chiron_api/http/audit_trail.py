"""The act of a request that changes something, and its entry in the audit trail before the answer is sent."""

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from uuid import UUID

import psycopg
from starlette.datastructures import Headers
from starlette.types import Message, Send

from chiron_workers.access.audit import Act, record
from chiron_workers.db.connect import Pool
from chiron_workers.errors import ChironError

LOG = logging.getLogger(__name__)


def recorded(send: Send, find_pool: Callable[[], Awaitable[Pool]], act: Act) -> Send:
    """Send as `send` does; the act is recorded first if the answer says that it was done and its transaction has not."""

    async def send_recorded(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] < HTTPStatus.BAD_REQUEST:
            location = Headers(raw=message.get("headers", [])).get("location", "")
            try:
                await record(await find_pool(), act, **_made(location, act))
            except (psycopg.Error, ChironError):  # It was done, and whoever did it has to learn that.
                LOG.exception(
                    "%s of %s by %s is not in the audit trail", act.action, act.target, act.principal.owner
                )
        await send(message)

    return send_recorded


def _made(location: str, act: Act) -> dict[str, object]:
    """What the address in an answer names: a thing by its id, or by whatever name where the act has no other target."""
    folder, _, name = location.rpartition("/")
    noun = folder.rpartition("/")[2]
    if not act.target and name:
        return {noun: name}
    try:
        return {noun: UUID(name)}
    except ValueError:
        return {}
