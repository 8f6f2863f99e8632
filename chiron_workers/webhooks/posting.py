"""Deliveries as HTTP requests: signed after Standard Webhooks, or in the shape that Slack takes."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

import aiohttp
import ssrfguard
from standardwebhooks import Webhook

from chiron_workers.settings import Settings
from chiron_workers.web.pinned_http import open_client, policy_for
from chiron_workers.webhooks.deliveries import Answer, Claim
from chiron_workers.webhooks.wording import sentence

# Apart from those of pages, and twice as many as there are requests at once: a lookup continues after its request has given up.
LOOKUP_THREADS = ThreadPoolExecutor(64, thread_name_prefix="webhook-lookup")
SLACK_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


async def post_standard(claim: Claim, payload: Mapping[str, Any], settings: Settings) -> Answer:
    """Post the payload, signed; a receiver knows by `webhook-id` what it has had before."""
    body, now, message_id = json.dumps(payload), datetime.now(UTC), str(claim.id)
    headers = {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(claim.secret).sign(message_id, now, body),
    }
    return await _post(claim.url, body, headers, settings)


async def post_slack(claim: Claim, payload: Mapping[str, Any], settings: Settings) -> Answer:
    """Post a line and the link. What Slack would take for a command or a mention is text."""
    line = "".join(SLACK_ESCAPES.get(char, char) for char in sentence(payload))
    return await _post(claim.url, json.dumps({"text": f"{line} {payload['data']['link']}"}), {}, settings)


async def _post(url: str, body: str, headers: Mapping[str, str], settings: Settings) -> Answer:
    policy = policy_for(allow_private=settings.webhook_private)
    try:
        policy.check_url(url)
        async with (
            open_client(policy, lookup_threads=LOOKUP_THREADS) as client,
            client.post(
                url,
                data=body.encode(),
                headers={**headers, "Content-Type": "application/json", "Accept": "*/*"},
                allow_redirects=False,
            ) as response,
        ):
            return _judge(response.status)
    except (ssrfguard.BlockedAddressError, ssrfguard.BlockedURLError) as error:
        return Answer(None, f"Nothing is sent there: {error.reason}.")
    except TimeoutError:  # an OSError, which whoever set the time answers
        raise
    except (aiohttp.ClientError, OSError, ValueError) as error:
        return Answer(None, f"It cannot be reached: {_cause(error)}.")


def _judge(status: int) -> Answer:
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return Answer(status)
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return Answer(status, f"It answered {status}; redirects are not followed.")
    return Answer(status, f"It answered {status}.")


def _cause(error: Exception) -> str:
    # The words of the libraries may hold the address, which is a secret of some receivers.
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    words = cause.strerror if isinstance(cause, OSError) else None
    return " ".join((words or type(cause).__name__).split())[:200]
