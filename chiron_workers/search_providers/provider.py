from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from chiron_workers.documents.document import one_line
from chiron_workers.knowledge import corpus
from chiron_workers.settings import Settings
from chiron_workers.store import Store

SNIPPET_CHARS_MAX = 500
TITLE_CHARS_MAX = 300
BEST_SCORE = 0.9  # The scales of services differ; scores only keep their order.


class Hit(corpus.Hit):
    """A source that a search found; `score` is 0 to 1, higher is better. It names a source and proves nothing."""

    source_type: str  # "own document" or "web page".


class Search(Protocol):
    """The function that a provider's module must define."""

    async def __call__(self, store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
        """Find at most `limit` sources, best first. Writes nothing. Raises ToolError if it cannot search."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A search provider, from the names that its module defines.

    Args:
        missing: The function `missing`: what these settings lack and how to add it; empty if nothing.
        is_local: IS_LOCAL: it makes no network requests, so the offline researcher may use it.
        is_default: Not ON_REQUEST: `auto` includes it if nothing is missing.
        timeout_s: TIMEOUT_S, in place of the setting.
        is_free: IS_FREE, or that it is local: its service charges nothing. Else CHIRON_SERVICE_PRICES says what a call costs.
    """

    name: str
    search: Search
    missing: Callable[[Settings], str]
    is_local: bool
    is_default: bool
    timeout_s: float | None
    is_free: bool = False


def provider_from_module(name: str, module: object) -> Provider | None:
    """Make a provider of a module, or None if it has no `search`."""
    if not callable(search := getattr(module, "search", None)):
        return None
    is_local = getattr(module, "IS_LOCAL", False)
    return Provider(
        name,
        search,
        getattr(module, "missing", lambda config: ""),
        is_local=is_local,
        is_default=not getattr(module, "ON_REQUEST", False),
        timeout_s=getattr(module, "TIMEOUT_S", None),
        is_free=is_local or getattr(module, "IS_FREE", False),
    )


def ranked_hits(results: Iterable[tuple[object, object, object]], *, limit: int) -> list[Hit]:
    """Make hits of a service's (url, title, snippet), best first; entries without a URL are left out."""
    pages = ((one_line(_text(url)), title, snippet) for url, title, snippet in results)
    best = islice((page for page in pages if page[0]), limit)  # of the thousands that a service may answer
    return [
        Hit(
            url=url,
            title=one_line(_text(title))[:TITLE_CHARS_MAX] or url[:TITLE_CHARS_MAX],
            snippet=one_line(_text(snippet))[:SNIPPET_CHARS_MAX],
            score=round(BEST_SCORE * 0.95**rank, 3),
            source_type="web page",
        )
        for rank, (url, title, snippet) in enumerate(best)
    ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
