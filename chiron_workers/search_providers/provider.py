from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypedDict

from chiron_workers.documents.document import one_line
from chiron_workers.settings import Settings
from chiron_workers.store import Store

SNIPPET_CHARS_MAX = 500
TITLE_CHARS_MAX = 300
BEST_SCORE = 0.9  # services rank their results on scales of their own; these only keep the order


class Hit(TypedDict):
    """A source that a search found; `score` is 0 to 1, higher is better. It names a source and proves nothing."""

    url: str
    title: str
    snippet: str
    score: float
    source_type: str  # who published it, as far as the provider knows: "own document", "web page"


class Search(Protocol):
    """What a provider's module must have."""

    async def __call__(self, store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
        """The best sources for a query, best first, `limit` at most; reads only. Raises ToolError when it cannot look."""


def nothing_missing(known: Settings) -> str:
    """For providers that need no key and no address."""
    return ""


@dataclass(frozen=True, slots=True)
class Provider:
    """A module that can look for sources: it has a `search`, and what else it says of itself in names of its own.

    Args:
        missing: Its function of that name: what is lacking under these settings and how to mend it, or nothing.
        is_local: Its IS_LOCAL: it asks nobody outside, so the offline researcher may use it.
        is_usual: Not its ON_REQUEST: `auto` takes it as soon as nothing is missing.
        timeout_s: Its TIMEOUT_S, in place of the usual one.
    """

    name: str
    search: Search
    missing: Callable[[Settings], str] = nothing_missing
    is_local: bool = False
    is_usual: bool = True
    timeout_s: float | None = None


def provider_from_module(name: str, module: object) -> Provider | None:
    """The provider that a module is, or None if it has no `search`."""
    if not callable(search := getattr(module, "search", None)):
        return None
    return Provider(
        name,
        search,
        getattr(module, "missing", nothing_missing),
        is_local=getattr(module, "IS_LOCAL", False),
        is_usual=not getattr(module, "ON_REQUEST", False),
        timeout_s=getattr(module, "TIMEOUT_S", None),
    )


def ranked_hits(found: Iterable[tuple[object, object, object]], *, limit: int) -> list[Hit]:
    """Web pages as hits, from (url, title, snippet) in a service's order; what is no text is left out."""
    pages = [(one_line(_text(url)), title, snippet) for url, title, snippet in found]
    return [
        Hit(
            url=url,
            title=one_line(_text(title))[:TITLE_CHARS_MAX] or url[:TITLE_CHARS_MAX],
            snippet=one_line(_text(snippet))[:SNIPPET_CHARS_MAX],
            score=round(BEST_SCORE * 0.95**rank, 3),
            source_type="web page",
        )
        for rank, (url, title, snippet) in enumerate(page for page in pages if page[0])
    ][:limit]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
