"""HTTP requests to search services: bounded, without redirects, with errors that say what to do."""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

import aiohttp

from chiron_workers.errors import AnswerLost, ToolError
from chiron_workers.settings import Settings, settings

BYTES_MAX = 2_000_000
CHUNK_BYTES = 64 * 1024
DETAIL_CHARS_MAX = 200
GATEWAY_FAULTS = (502, 504, 520, 524)  # a gateway answers these for a service that may be at work
# With one of these a request never left.
NEVER_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.InvalidURL)
QUOTA_STATUSES = (402, 432, 433)  # Tavily sends the last two when a plan or a spending limit is used up.


def needs_key(name: str) -> Callable[[Settings], str]:
    """Make the `missing` of a provider that needs a key."""
    advice = f'Put its key into CHIRON_SEARCH_KEYS, for example {{"{name}": "..."}}.'
    return lambda config: "" if config.search_keys.get(name) else f"It has no key. {advice}"


def needs_address(name: str) -> Callable[[Settings], str]:
    """Make the `missing` of a provider that runs on the user's server."""
    advice = f'Put it into CHIRON_SEARCH_URLS, for example {{"{name}": "http://localhost:8080"}}.'
    return lambda config: "" if config.search_urls.get(name) else f"It has no address. {advice}"


def api_key(name: str) -> str:
    """The key of a provider from CHIRON_SEARCH_KEYS; empty if none."""
    secret = settings().search_keys.get(name)
    return secret.get_secret_value() if secret else ""


def base_url(name: str, default: str = "") -> str:
    """The base URL of a provider from CHIRON_SEARCH_URLS, without a slash at its end."""
    return settings().search_urls.get(name, default).rstrip("/")


async def request_json(
    name: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    params: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Request a JSON object with GET, or with POST if there is a `body`.

    Raises:
        AnswerLost: It was asked, and its answer did not arrive: it may bill the call.
        ToolError: The service cannot be reached, refuses, or returns anything else. The key is never in it.
    """
    method = "POST" if body is not None else "GET"
    # A redirect would send the key to another host.
    options: dict[str, Any] = {"headers": headers, "params": params, "json": body, "allow_redirects": False}
    try:
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client,
            client.request(method, url, **options) as response,
        ):
            text = await _read_body(name, response)
            if response.status != HTTPStatus.OK:
                raise _refusal_error(name, response, text)
    except (aiohttp.ClientError, OSError, ValueError) as error:
        kind = ToolError if isinstance(error, NEVER_SENT) else AnswerLost
        raise kind(
            f"The search provider {name} cannot be reached ({type(error).__name__}); try again later."
        ) from None
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError):
        payload = None
    if not isinstance(payload, dict):
        raise ToolError(f"The search provider {name} answered something that is no JSON object.")
    return payload


def result_objects(name: str, payload: object, *path: str) -> list[dict[str, Any]]:
    """The list of objects at a path of a response; empty if absent. Raises AnswerLost if it is no list."""
    for part in path:
        payload = payload.get(part) if isinstance(payload, dict) else payload
    if payload is None:
        return []
    if not isinstance(payload, list):
        raise AnswerLost(f"The search provider {name} answered in a form that is not known.")
    return [item for item in payload if isinstance(item, dict)]


async def _read_body(name: str, response: aiohttp.ClientResponse) -> str:
    body = bytearray()
    async for chunk in response.content.iter_chunked(CHUNK_BYTES):
        body += chunk
        if len(body) > BYTES_MAX:
            raise AnswerLost(f"The search provider {name} answered with more than {BYTES_MAX:,} bytes.")
    return body.decode("utf-8", "replace")


def _refusal_error(name: str, response: aiohttp.ClientResponse, text: str) -> ToolError:
    status, service = response.status, f"The search provider {name}"
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return ToolError(
            f"{service} refuses access ({status}): the key in CHIRON_SEARCH_KEYS is wrong or may not search."
        )
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        wait = response.headers.get("Retry-After", "")
        return ToolError(
            f"{service} is asked too often (429); wait {f'{wait} s' if wait.isdecimal() else 'a while'}."
        )
    if status in QUOTA_STATUSES:
        return ToolError(f"{service} says that its plan is used up ({status}).")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        kind = AnswerLost if status in GATEWAY_FAULTS else ToolError
        return kind(f"{service} has trouble of its own ({status}); try again later.")
    detail = " ".join(text.split())
    if secret := api_key(name):
        detail = detail.replace(secret, "***")
    return ToolError(f"{service} refused the search ({status}): {detail[:DETAIL_CHARS_MAX]}")
