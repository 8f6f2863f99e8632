"""A model with a small context window that counts for itself what it is sent."""

import json
from collections.abc import Callable
from typing import Any

from chiron_workers.agent.compaction import COMPACTION_REQUEST
from support.scripted_model import Fails, Says

TOKENS = 20_000
Reply = Callable[[dict[str, Any]], Says | Fails]


def folds(request: dict[str, Any]) -> bool:
    """Whether a request asks for the summary of an epoch."""
    return request["messages"][-1]["content"][-1].get("text") == COMPACTION_REQUEST


def tokens_of(request: dict[str, Any]) -> int:
    return len(json.dumps([request["system"], request["tools"], request["messages"]])) // 4


def counting(reply: Reply, *, most: int = TOKENS) -> Reply:
    """A model whose window has so many tokens, and who counts them."""

    def answer(request: dict[str, Any]) -> Says | Fails:
        tokens, room = tokens_of(request), request["max_tokens"]
        if tokens > most:
            message = f"prompt is too long: {tokens} tokens > {most} maximum"
            return Fails(status=400, type="invalid_request_error", message=message)
        if tokens + room > most:
            message = (
                f"input length and `max_tokens` exceed context limit: {tokens} + {room} > {most}, decrease it"
            )
            return Fails(status=400, type="invalid_request_error", message=message)
        said = reply(request)
        if isinstance(said, Fails):
            return said
        words = min(room, sum(len(json.dumps(block)) for block in said.blocks) // 4)
        return Says(said.blocks, said.stop, usage={"input_tokens": tokens, "output_tokens": words})

    return answer
