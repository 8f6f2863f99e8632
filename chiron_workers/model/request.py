"""One call of the model, and how it is sent: with breakpoints for the prompt cache, so that each token is written once.

Source: Anthropic, "Prompt caching": an entry is written at a breakpoint and nowhere else; a breakpoint finds entries up
to 20 blocks before it; a request has 4 breakpoints at most; the breakpoints are no part of what is compared.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from chiron_workers.runs.entries import Block
from chiron_workers.runs.messages import History, Message, encoded


@dataclass(frozen=True, slots=True)
class Request:
    """One call of the model: the frozen opening of the epoch and the conversation so far."""

    model: str
    system: str
    tools: Sequence[bytes]  # each definition as JSON
    max_tokens: int
    messages: Sequence[Message]  # those after the history, whose blocks may still change
    # The message, of those, and its block that the request before this one ended with.
    last_question_at: tuple[int, int] | None = None
    thinking: Block | None = None  # None: nothing is said of it
    effort: str | None = None
    history: History = field(default_factory=History)

    @property
    def prompt_bytes(self) -> int:
        """Bytes of everything that the model reads."""
        message_bytes = sum(len(block) for message in self.messages for block in message.blocks)
        before = (
            self.history.block_bytes + len(self.system.encode(errors="replace")) + sum(map(len, self.tools))
        )
        return before + message_bytes


def body(request: Request, *, ttl: str) -> bytes:
    """The call as the Messages API takes it, streamed; `ttl` says how long the cache keeps what it reads (5m or 1h)."""
    return b"".join(body_parts(request, ttl=ttl))


def body_parts(request: Request, *, ttl: str) -> Iterator[bytes]:
    """The body of a call in parts. Nothing of the history is encoded or copied for it: that would take most of a turn."""
    mark = b""
    if request.model.startswith("claude"):  # other servers of this API may not know caching
        mark = encoded({"type": "ephemeral"} if ttl == "5m" else {"type": "ephemeral", "ttl": ttl})
    yield b'{"model":%b,"max_tokens":%d,"stream":true,"system":' % (
        encoded(request.model),
        request.max_tokens,
    )
    yield _system_json(request.system, mark)
    yield b',"messages":['
    yield from _messages(request, mark)
    yield b"]"
    if request.tools:
        yield b',"tools":'
        yield _tools_json(tuple(request.tools), mark)
    if request.thinking is not None:
        yield b',"thinking":%b' % encoded(request.thinking)
    if request.effort is not None:
        yield b',"output_config":%b' % encoded({"effort": request.effort})
    # The API puts a mark of the whole request at its end.
    yield b',"cache_control":%b}' % mark if mark else b"}"


# Runs of the same role have the same tools, and those of one subject the same prompt.
@lru_cache(maxsize=50)
def _tools_json(tools: tuple[bytes, ...], mark: bytes) -> bytes:
    *other_tools, last = tools
    return _json_array([*other_tools, _marked(last, mark)])


@lru_cache(maxsize=200)
def _system_json(system: str, mark: bytes) -> bytes:
    return (
        _json_array([_marked(encoded({"type": "text", "text": system}), mark)]) if mark else encoded(system)
    )


def _messages(request: Request, mark: bytes) -> Iterator[bytes]:
    for n, piece in enumerate(request.history.pieces):
        yield from (b",", piece) if n else (piece,)
    for place, message in enumerate(request.messages):
        is_first = not place and not request.history.count
        yield b'%b{"role":"%b","content":[' % (b"" if is_first else b",", message.role.encode())
        for n, block in enumerate(message.blocks):
            # A turn of many parallel calls is longer than the 20 blocks that the API looks back.
            is_marked = (place, n) == request.last_question_at
            yield from (b",",) if n else ()
            yield _marked(block, mark) if is_marked else block
        yield b"]}"


def _marked(part: bytes, mark: bytes) -> bytes:
    """A JSON object with a mark as its last field; the history stays as it is, for the next request marks another place."""
    return b'%b,"cache_control":%b}' % (part[:-1], mark) if mark else part


def _json_array(items: Iterable[bytes]) -> bytes:
    return b"[%b]" % b",".join(items)
