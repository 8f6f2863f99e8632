"""How many tokens fit a model's context window, and how a server says that a request does not fit."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping

from chiron_workers.errors import WindowExceeded

DEFAULT_TOKENS = 200_000  # where neither a setting nor the server says
ASKED_AGAIN_S = 300.0  # after the server could not be asked

TOO_LONG = (
    re.compile(r"prompt is too long: (?P<sent>\d+) tokens > (?P<most>\d+)"),  # Claude
    re.compile(r"exceed context limit: (?P<sent>\d+) \+ \d+ > (?P<most>\d+)"),  # Claude, with max_tokens
    re.compile(r"maximum context length is (?P<most>\d+) tokens"),  # vLLM
    re.compile(r"exceeds? the (available )?context (size|window|length)"),  # llama.cpp and others
)

Ask = Callable[[str], Awaitable[int | None]]


class ContextSizes:
    """The context windows of models, asked of the server once for each model.

    Args:
        settings: What people say of a model; goes before what its server says.
        ask: The server's word, None if it has none. Raises OSError where it could not be asked.
    """

    def __init__(self, settings: Mapping[str, int], ask: Ask) -> None:
        self._ask = ask
        self._known = {model: (tokens, float("inf")) for model, tokens in settings.items()}
        self._asking = asyncio.Lock()

    async def of(self, model: str) -> int:
        """Tokens that a request and its reply may have together."""
        async with self._asking:  # runs that start together ask once
            tokens, until = self._known.get(model, (0, 0.0))
            if time.monotonic() >= until:
                tokens, until = await self._asked(model)
                self._known[model] = tokens, until
            return tokens

    async def _asked(self, model: str) -> tuple[int, float]:
        try:
            return await self._ask(model) or DEFAULT_TOKENS, float("inf")
        except OSError:
            return DEFAULT_TOKENS, time.monotonic() + ASKED_AGAIN_S

    def shrink(self, model: str, tokens: int) -> None:
        """Take the server's word for it that a window is smaller than was thought."""
        known, _ = self._known.get(model, (tokens, 0.0))
        self._known[model] = min(known, tokens), float("inf")


def window_exceeded(words: str) -> WindowExceeded | None:
    """The error that a server's words stand for, if they say that the request does not fit."""
    for pattern in TOO_LONG:
        if (found := pattern.search(words)) is not None:
            numbers = found.groupdict()
            sent, most = numbers.get("sent"), numbers.get("most")
            return WindowExceeded(
                f"The conversation no longer fits the model's context window: {words}",
                tokens_sent=int(sent) if sent else None,
                tokens_max=int(most) if most else None,
            )
    return None
