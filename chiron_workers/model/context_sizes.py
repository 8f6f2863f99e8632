"""How many tokens fit a model's context window, and how a server says that a request does not fit."""

import re
from collections.abc import Mapping

from chiron_workers.errors import WindowExceeded
from chiron_workers.model.descriptions import ModelDescriptions
from chiron_workers.runs.prompt_sizes import CONTEXT_TOKENS

TOO_LONG = (
    re.compile(r"prompt is too long: (?P<sent>\d+) tokens > (?P<limit>\d+)"),  # Claude
    re.compile(r"exceed context limit: (?P<sent>\d+) \+ \d+ > (?P<limit>\d+)"),  # Claude, with max_tokens
    re.compile(r"maximum context length is (?P<limit>\d+) tokens"),  # vLLM
    re.compile(r"\((?P<sent>\d+) tokens\) exceeds .* context size \((?P<limit>\d+) tokens\)"),  # llama.cpp
    re.compile(r"exceeds? the (available )?context (size|window|length)"),  # others
)


class ContextSizes:
    """The context windows of models, as their servers say.

    Args:
        settings: Tokens by model, as configured; they take precedence over what servers say.
        descriptions: What servers say.
    """

    def __init__(self, settings: Mapping[str, int], descriptions: ModelDescriptions) -> None:
        self._settings = settings
        self._descriptions = descriptions
        self._limits: dict[str, int] = {}

    async def of(self, model: str) -> int:
        """Tokens that a request and its reply may have together."""
        tokens = self._settings.get(model)
        if tokens is None:
            tokens = await self.told_by_server(model) or CONTEXT_TOKENS
        return min(tokens, self._limits.get(model, tokens))

    async def told_by_server(self, model: str) -> int | None:
        """What the server says of a model; None where it says nothing."""
        description = await self._descriptions.of(model)
        tokens_max = None if description is None else description.get("max_input_tokens")
        return tokens_max if isinstance(tokens_max, int) and tokens_max > 0 else None

    def shrink(self, model: str, tokens: int) -> None:
        """Assume at most so many tokens from now on, since the server refused more."""
        self._limits[model] = min(tokens, self._limits.get(model, tokens))


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
