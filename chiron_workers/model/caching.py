"""Where the prompt cache is told to remember, so that each token is written to it once and read from it after that.

Source: Anthropic, "Prompt caching": an entry is written at a breakpoint and nowhere else; a breakpoint finds entries up
to 20 blocks before it; a request has 4 breakpoints at most; what is marked is no part of what is compared.
"""

from typing import Any

from chiron_workers.model.request import Request


def parameters(request: Request, *, ttl: str) -> dict[str, Any]:
    """The call as the Messages API takes it; `ttl` says how long the cache keeps what it reads (5m or 1h)."""
    found: dict[str, Any] = {
        "model": request.model,
        "system": request.system,
        "messages": request.messages,
        "max_tokens": request.max_tokens,
    }
    if request.tools:
        found["tools"] = list(request.tools)
    if request.model.startswith("claude"):  # other servers of this API may not know caching
        _mark(found, request, {"type": "ephemeral"} if ttl == "5m" else {"type": "ephemeral", "ttl": ttl})
    return found


def _mark(found: dict[str, Any], request: Request, mark: dict[str, str]) -> None:
    found["cache_control"] = mark  # the API puts this one at the end of the request
    found["system"] = [{"type": "text", "text": request.system, "cache_control": mark}]
    if request.tools:  # runs of other roles and subjects have these too
        *others, last = request.tools
        found["tools"] = [*others, {**last, "cache_control": mark}]
    if request.sent is not None:  # a turn of many parallel calls is longer than 20 blocks
        found["messages"] = _marked(request.messages, *request.sent, mark)


def _marked(
    messages: list[dict[str, Any]], place: int, block: int, mark: dict[str, str]
) -> list[dict[str, Any]]:
    # The history stays as it is, for the next request marks another place: only one message is copied.
    content = list(messages[place]["content"])
    content[block] = {**content[block], "cache_control": mark}
    return [*messages[:place], {**messages[place], "content": content}, *messages[place + 1 :]]
