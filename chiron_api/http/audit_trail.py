"""An entry in the audit trail for each request that changed something, before its answer is sent."""

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

import psycopg
from starlette.datastructures import Headers
from starlette.types import Message, Send

from chiron_api.http.required_scopes import Act
from chiron_workers.access.audit import record
from chiron_workers.access.principals import Principal
from chiron_workers.db.connect import Pool
from chiron_workers.errors import ChironError

LOG = logging.getLogger(__name__)


def recorded(send: Send, find_pool: Callable[[], Awaitable[Pool]], principal: Principal, act: Act) -> Send:
    """Send as `send` does, and record the act first if the answer says that it was done."""

    async def send_recorded(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] < HTTPStatus.BAD_REQUEST:
            location = Headers(raw=message.get("headers", [])).get("location", "")
            target = act.target or location.rpartition("/")[2]
            detail: dict[str, Any] = {"via": "http", "status": message["status"]}
            if act.target and location and not location.endswith(f"/{act.target}"):
                detail["made"] = location.rpartition("/")[2]
            try:
                await record(await find_pool(), principal, act.action, target, detail)
            except (psycopg.Error, ChironError):  # It was done, and whoever did it has to learn that.
                LOG.exception("%s of %s by %s is not in the audit trail", act.action, target, principal.owner)
        await send(message)

    return send_recorded
