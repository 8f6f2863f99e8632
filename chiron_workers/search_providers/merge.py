import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from functools import partial

import psycopg
import structlog
from psycopg_pool import PoolTimeout

from chiron_workers.embeddings import Payment
from chiron_workers.errors import AnswerLost, LeaseLost, ToolError
from chiron_workers.problems import change_setting
from chiron_workers.search_providers import select_providers
from chiron_workers.search_providers.provider import Hit, Provider
from chiron_workers.search_providers.services import service_of
from chiron_workers.settings import OFFLINE_MODEL, settings
from chiron_workers.sources.sources import canonical
from chiron_workers.store import Store

log = structlog.get_logger()


async def search_all(store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
    """Ask all enabled providers in parallel and merge their hits: each address once, best first.

    The failure of a provider is logged; the hits of the others are returned.

    Raises:
        ToolError: No provider is enabled, the query may not go out, or there are no hits and at least one provider
            failed.
    """
    config = settings()
    active_providers, _ = select_providers(config)
    if (store.caller.model or config.model) == OFFLINE_MODEL:
        active_providers = [provider for provider in active_providers if provider.is_local]
    if not active_providers:
        raise ToolError(
            "No search provider is on. Continue without searching.",
            remedies=(change_setting("CHIRON_SEARCH"),),
        )
    if any(not provider.is_local for provider in active_providers):
        await store.egress.check_words(query, receiver="search providers")
    searches = [
        _search_one(
            provider, store, query, subject_id, limit=limit, default_timeout_s=config.search_timeout_s
        )
        for provider in active_providers
    ]
    answers = await asyncio.gather(*searches, return_exceptions=True)
    failures = []
    for answer in answers:
        if isinstance(answer, ToolError):
            failures.append(str(answer))
        elif isinstance(answer, BaseException):
            raise answer
    hits = _merge(hit for answer in answers if isinstance(answer, list) for hit in answer)
    if failures and not hits:
        raise ToolError(" ".join(failures))
    return hits[:limit]


async def _search_one(
    provider: Provider, store: Store, query: str, subject_id: str, *, limit: int, default_timeout_s: float
) -> list[Hit]:
    timeout_s = provider.timeout_s or default_timeout_s

    async def search() -> list[Hit]:
        async with asyncio.timeout(timeout_s):
            return (await provider.search(store, query=query, subject_id=subject_id, limit=limit))[:limit]

    service = service_of(provider, settings())
    ask: Callable[[], Awaitable[list[Hit]]] = search
    if store.meter is not None and service is not None and not service.is_free:
        ask = partial(store.meter.ask, service, json.dumps([query, subject_id, limit]), _paid(search))
    try:
        return await ask()
    except ToolError as error:
        log.warning("search.failed", provider=provider.name, error=str(error))
        raise
    except TimeoutError:
        log.warning("search.failed", provider=provider.name, error="timeout")
        raise ToolError(
            f"The search provider {provider.name} did not answer within {timeout_s:g} s."
        ) from None
    except (LeaseLost, psycopg.Error, PoolTimeout):  # They end the run; the model cannot react to them.
        raise
    except Exception as error:  # Providers may be user code; the model gets any error as text.
        log.warning("search.failed", provider=provider.name, exc_info=error)
        raise ToolError(f"The search provider {provider.name} failed: {type(error).__name__}.") from error


def _paid(search: Callable[[], Awaitable[list[Hit]]]) -> Callable[[Payment], Awaitable[list[Hit]]]:
    """The search as one try of a paid call: what a provider refuses costs nothing, what else goes wrong may be billed."""

    async def call(payment: Payment) -> list[Hit]:
        await payment.reserve()
        try:
            return await search()
        except ToolError as error:
            await payment.fail(maybe_billed=isinstance(error, AnswerLost))
            raise

    return call


def _merge(hits: Iterable[Hit]) -> list[Hit]:
    hits_by_url: dict[str, Hit] = {}
    for hit in sorted(hits, key=lambda hit: -hit["score"]):
        try:
            hits_by_url.setdefault(canonical(hit["url"]), hit)
        except ToolError:  # The address is too long to be fetched.
            continue
    return list(hits_by_url.values())
