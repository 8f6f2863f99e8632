"""The two clients behind one face, so that a test of one is a test of both."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from chiron_api.client import AsyncChiron, Chiron


class Shell:
    """A client that is called by the names of its methods; the blocking one has a thread for each call."""

    def __init__(self, client: Chiron | AsyncChiron) -> None:
        self.client = client

    async def call(self, method: str, *args: Any, **options: Any) -> Any:
        function = getattr(self.client, method)
        if isinstance(self.client, AsyncChiron):
            return await function(*args, **options)
        return await asyncio.to_thread(function, *args, **options)

    async def items(self, method: str, *args: Any, count: int | None = None, **options: Any) -> list[Any]:
        """What an iterator gives, at most `count`."""
        return await self.read(getattr(self.client, method)(*args, **options), count=count)

    async def read(self, iterator: Any, *, count: int | None = None) -> list[Any]:
        """What an iterator still gives, at most `count`; it is closed then."""
        items: list[Any] = []
        async with aclosing(self._drawn(iterator)) as drawn:
            async for item in drawn:
                items.append(item)
                if len(items) == count:
                    break
        return items

    def iterate(self, method: str, *args: Any, **options: Any) -> AsyncGenerator[Any]:
        return self._drawn(getattr(self.client, method)(*args, **options))

    async def _drawn(self, iterator: Any) -> AsyncGenerator[Any]:
        if isinstance(self.client, AsyncChiron):
            async with iterator:
                async for item in iterator:
                    yield item
            return
        end = object()
        try:
            while (item := await asyncio.to_thread(next, iterator, end)) is not end:
                yield item
        finally:
            await asyncio.to_thread(iterator.close)

    async def close(self) -> None:
        if isinstance(self.client, AsyncChiron):
            await self.client.aclose()
        else:
            self.client.close()
