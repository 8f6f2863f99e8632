"""Lists of acts that are longer than a page."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar
from uuid import UUID

Item = TypeVar("Item")
Entry_co = TypeVar("Entry_co", covariant=True)
PAGE_ITEMS = 100


class PageAnswer(Protocol[Entry_co]):
    """A page of a list."""

    @property
    def items(self) -> Sequence[Entry_co]:
        """What is on it."""

    @property
    def next(self) -> UUID | None:
        """The `after` of the page that follows; None on the last."""


async def first_items(
    limit: int, load: Callable[[int, UUID | None], Awaitable[PageAnswer[Item]]]
) -> list[Item]:
    """The first `limit` items of a list; `load` gives the page with so many items after an id."""
    items: list[Item] = []
    after = None
    while len(items) < limit:
        page = await load(min(limit - len(items), PAGE_ITEMS), after)
        items += page.items
        after = page.next
        if after is None:
            break
    return items
