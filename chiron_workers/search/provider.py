from typing import Protocol, TypedDict

from chiron_workers.store import Store


class Hit(TypedDict):
    """A source that a search found; `score` is 0 to 1, higher is better. It names a source and proves nothing."""

    url: str
    title: str
    snippet: str
    score: float
    source_type: str  # who published it, as far as the provider knows: "own document", "web page"


class Provider(Protocol):
    """A module that can look for sources."""

    __name__: str

    async def search(self, store: Store, *, query: str, subject_id: str, limit: int) -> list[Hit]:
        """The best sources for a query, best first, `limit` at most; reads only. Raises ToolError when it cannot look."""
