"""Lists of acts that are longer than a page."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar
from uuid import UUID

from chiron_api.acts.inputs import Page

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
    limit: int, page: Page, load: Callable[[Any], Awaitable[PageAnswer[Item]]]
) -> list[Item]:
    """The first `limit` items of a list; `load` gives what is on a page such as `page`."""
    items: list[Item] = []
    after = None
    while len(items) < limit:
        place = {"limit": min(limit - len(items), PAGE_ITEMS), "after": after}
        answer = await load(page.model_copy(update=place))
        items += answer.items
        after = answer.next
        if after is None:
            break
    return items
