import asyncio
from collections.abc import Iterable

import psycopg
import structlog
from psycopg_pool import PoolTimeout

from chiron_workers.errors import LeaseLost, ToolError
from chiron_workers.search_providers import select_providers
from chiron_workers.search_providers.provider import Hit, Provider
from chiron_workers.settings import OFFLINE_MODEL, settings
from chiron_workers.sources.sources import canonical
from chiron_workers.store import Store

log = structlog.get_logger()


async def search_all(store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
    """The best sources of all providers that are on, asked side by side; each address once, best first.

    A provider that fails is logged, and the others answer for it.

    Raises:
        ToolError: None found anything and at least one failed, or none is on.
    """
    known = settings()
    on, _ = select_providers(known)
    if (store.caller.model or known.model) == OFFLINE_MODEL:
        on = [provider for provider in on if provider.is_local]
    if not on:
        raise ToolError("No search provider is on; `chiron doctor` says why. Go on without searching.")
    asked = [
        _ask(provider, store, query, subject_id, limit=limit, usual_s=known.search_timeout_s)
        for provider in on
    ]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    problems = []
    for answer in answers:
        if isinstance(answer, ToolError):
            problems.append(str(answer))
        elif isinstance(answer, BaseException):
            raise answer
    hits = _merged(hit for answer in answers if isinstance(answer, list) for hit in answer)
    if problems and not hits:
        raise ToolError(" ".join(problems))
    return hits[:limit]


async def _ask(
    provider: Provider, store: Store, query: str, subject_id: str, *, limit: int, usual_s: float
) -> list[Hit]:
    timeout_s = provider.timeout_s or usual_s
    try:
        async with asyncio.timeout(timeout_s):
            return (await provider.search(store, query=query, subject_id=subject_id, limit=limit))[:limit]
    except ToolError as error:
        log.warning("search.failed", provider=provider.name, error=str(error))
        raise
    except TimeoutError:
        log.warning("search.failed", provider=provider.name, error="timeout")
        raise ToolError(
            f"The search provider {provider.name} did not answer within {timeout_s:g} s."
        ) from None
    except (LeaseLost, psycopg.Error, PoolTimeout):  # no business of the model's
        raise
    except Exception as error:  # a provider is a tool: what it does is data for the model
        log.warning("search.failed", provider=provider.name, exc_info=error)
        raise ToolError(f"The search provider {provider.name} failed: {type(error).__name__}.") from error


def _merged(hits: Iterable[Hit]) -> list[Hit]:
    found: dict[str, Hit] = {}
    for hit in sorted(hits, key=lambda hit: -hit["score"]):
        try:
            found.setdefault(canonical(hit["url"]), hit)
        except ToolError:  # longer than any address that can be fetched
            continue
    return list(found.values())
