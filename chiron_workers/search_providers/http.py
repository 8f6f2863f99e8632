"""Asking a search service over HTTP: bounded, without redirects, and with errors that say what to do."""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

import aiohttp

from chiron_workers.errors import ToolError
from chiron_workers.settings import Settings, settings

BYTES_MAX = 2_000_000
CHUNK_BYTES = 64 * 1024
DETAIL_CHARS = 200
USED_UP = (402, 432, 433)  # the last two are Tavily's, for a plan or a spending limit that is reached


def needs_key(name: str) -> Callable[[Settings], str]:
    """The `missing` of a provider that needs a key."""
    advice = f'Put its key into CHIRON_SEARCH_KEYS, for example {{"{name}": "..."}}.'
    return lambda known: "" if known.search_keys.get(name) else f"It has no key. {advice}"


def needs_address(name: str) -> Callable[[Settings], str]:
    """The `missing` of a provider that runs on a server of one's own."""
    advice = f'Put it into CHIRON_SEARCH_URLS, for example {{"{name}": "http://localhost:8080"}}.'
    return lambda known: "" if known.search_urls.get(name) else f"It has no address. {advice}"


def api_key(name: str) -> str:
    """The key of a provider; empty if there is none."""
    found = settings().search_keys.get(name)
    return found.get_secret_value() if found else ""


def base_url(name: str, usual: str = "") -> str:
    """The base address of a provider, without a slash at its end."""
    return settings().search_urls.get(name, usual).rstrip("/")


async def request_json(
    name: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    params: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The JSON object a service answers with, to a GET, or with a `body` to a POST.

    Raises:
        ToolError: It cannot be reached, refuses, or answers something else. Never shows the key.
    """
    method = "POST" if body is not None else "GET"
    # A redirect would carry the key to another address.
    options: dict[str, Any] = {"headers": headers, "params": params, "json": body, "allow_redirects": False}
    try:
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client,
            client.request(method, url, **options) as answer,
        ):
            text = await _read(name, answer)
            if answer.status != HTTPStatus.OK:
                raise _refused(name, answer, text)
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise ToolError(
            f"The search provider {name} cannot be reached ({type(error).__name__}); try again later."
        ) from None
    found = _json(text)
    if not isinstance(found, dict):
        raise ToolError(f"The search provider {name} answered something that is no JSON object.")
    return found


def result_objects(name: str, found: object, *path: str) -> list[dict[str, Any]]:
    """The list of objects under a path of an answer; empty where nothing is there. Raises ToolError."""
    for part in path:
        found = found.get(part) if isinstance(found, dict) else found
    if found is None:
        return []
    if not isinstance(found, list):
        raise ToolError(f"The search provider {name} answered in a form that is not known.")
    return [one for one in found if isinstance(one, dict)]


async def _read(name: str, answer: aiohttp.ClientResponse) -> str:
    read = bytearray()
    async for chunk in answer.content.iter_chunked(CHUNK_BYTES):
        read += chunk
        if len(read) > BYTES_MAX:
            raise ToolError(f"The search provider {name} answered with more than {BYTES_MAX:,} bytes.")
    return read.decode("utf-8", "replace")


def _refused(name: str, answer: aiohttp.ClientResponse, text: str) -> ToolError:
    status, who = answer.status, f"The search provider {name}"
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return ToolError(
            f"{who} refuses access ({status}): the key in CHIRON_SEARCH_KEYS is wrong or may not search."
        )
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        wait = answer.headers.get("Retry-After", "")
        return ToolError(
            f"{who} is asked too often (429); wait {f'{wait} s' if wait.isdecimal() else 'a while'}."
        )
    if status in USED_UP:
        return ToolError(f"{who} says that its plan is used up ({status}).")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ToolError(f"{who} has trouble of its own ({status}); try again later.")
    detail = " ".join(text.split())
    if secret := api_key(name):
        detail = detail.replace(secret, "***")
    return ToolError(f"{who} refused the search ({status}): {detail[:DETAIL_CHARS]}")


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
