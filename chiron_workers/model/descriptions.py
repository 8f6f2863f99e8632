import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

RETRY_S = 300.0  # after the server could not be asked

Description = Mapping[str, Any]  # the API's "Get a model", as JSON; a server may say it in any shape
Fetch = Callable[[str], Awaitable[Description | None]]


class ModelDescriptions:
    """What servers say of their models, asked once for each model.

    Args:
        fetch: Asks a model's server; None if it does not say. Raises OSError where it could not be asked.
    """

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._descriptions: dict[str, tuple[Description | None, float]] = {}
        self._fetching = asyncio.Lock()

    async def of(self, model: str) -> Description | None:
        """What its server says of a model; None where it says nothing, or cannot be asked for now."""
        async with self._fetching:  # runs that start together ask once
            description, until = self._descriptions.get(model, (None, 0.0))
            if time.monotonic() >= until:
                try:
                    description, until = await self._fetch(model), float("inf")
                except OSError:
                    description, until = None, time.monotonic() + RETRY_S
                self._descriptions[model] = description, until
            return description
