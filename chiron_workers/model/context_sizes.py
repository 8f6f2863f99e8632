"""How many tokens fit a model's context window, and how a server says that a request does not fit."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping

from chiron_workers.errors import WindowExceeded

DEFAULT_TOKENS = 200_000  # where neither a setting nor the server says
RETRY_S = 300.0  # after the server could not be asked

TOO_LONG = (
    re.compile(r"prompt is too long: (?P<sent>\d+) tokens > (?P<limit>\d+)"),  # Claude
    re.compile(r"exceed context limit: (?P<sent>\d+) \+ \d+ > (?P<limit>\d+)"),  # Claude, with max_tokens
    re.compile(r"maximum context length is (?P<limit>\d+) tokens"),  # vLLM
    re.compile(r"exceeds? the (available )?context (size|window|length)"),  # llama.cpp and others
)

Fetch = Callable[[str], Awaitable[int | None]]


class ContextSizes:
    """The context windows of models, asked of the server once for each model.

    Args:
        settings: Tokens by model, as configured; they take precedence over what servers say.
        fetch: Asks a model's server; None if it does not say. Raises OSError where it could not be asked.
    """

    def __init__(self, settings: Mapping[str, int], fetch: Fetch) -> None:
        self._fetch = fetch
        self._sizes = {model: (tokens, float("inf")) for model, tokens in settings.items()}
        self._fetching = asyncio.Lock()

    async def of(self, model: str) -> int:
        """Tokens that a request and its reply may have together."""
        async with self._fetching:  # runs that start together ask once
            tokens, until = self._sizes.get(model, (0, 0.0))
            if time.monotonic() >= until:
                try:
                    tokens, until = await self._fetch(model) or DEFAULT_TOKENS, float("inf")
                except OSError:
                    tokens, until = DEFAULT_TOKENS, time.monotonic() + RETRY_S
                self._sizes[model] = tokens, until
            return tokens

    def shrink(self, model: str, tokens: int) -> None:
        """Assume at most so many tokens from now on, since the server refused more."""
        size, _ = self._sizes.get(model, (tokens, 0.0))
        self._sizes[model] = min(size, tokens), float("inf")


def window_exceeded(words: str) -> WindowExceeded | None:
    """The error for a server's message, if it says that the request does not fit."""
    for pattern in TOO_LONG:
        if (match := pattern.search(words)) is not None:
            numbers = match.groupdict()
            tokens_sent, limit = numbers.get("sent"), numbers.get("limit")
            return WindowExceeded(
                f"The conversation no longer fits the model's context window: {words}",
                tokens_sent=int(tokens_sent) if tokens_sent else None,
                tokens_max=int(limit) if limit else None,
            )
    return None
