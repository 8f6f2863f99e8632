import asyncio

import pytest

from chiron_workers.errors import WindowExceeded
from chiron_workers.model import context_sizes as context
from chiron_workers.model.context_sizes import DEFAULT_TOKENS, ContextSizes, window_exceeded


class Server:
    def __init__(self, *answers: int | OSError | None) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, model: str) -> int | None:
        self.asked.append(model)
        await asyncio.sleep(0)
        found = self.answers.pop(0)
        if isinstance(found, OSError):
            raise found
        return found


async def test_a_server_is_asked_once_for_each_model() -> None:
    server = Server(64_000, None)
    sizes = ContextSizes({}, server)
    assert await asyncio.gather(*(sizes.of("one") for _ in range(20))) == [64_000] * 20
    assert [await sizes.of("two") for _ in range(2)] == [DEFAULT_TOKENS] * 2
    assert server.asked == ["one", "two"]


async def test_what_people_say_goes_before_what_a_server_says() -> None:
    assert await ContextSizes({"one": 32_000}, Server()).of("one") == 32_000


async def test_a_server_that_cannot_be_asked_is_asked_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(OSError("away"), 64_000)
    sizes = ContextSizes({}, server)
    assert [await sizes.of("one") for _ in range(2)] == [DEFAULT_TOKENS] * 2
    assert len(server.asked) == 1
    monkeypatch.setattr(context, "RETRY_S", 0)
    again = ContextSizes({}, Server(OSError("away"), 64_000))
    assert [await again.of("one") for _ in range(2)] == [DEFAULT_TOKENS, 64_000]


async def test_a_window_shrinks_and_never_grows() -> None:
    sizes = ContextSizes({}, Server(64_000))
    assert await sizes.of("one") == 64_000
    sizes.shrink("one", 32_000)
    sizes.shrink("one", 48_000)
    assert await sizes.of("one") == 32_000


@pytest.mark.parametrize(
    ("words", "sent", "most"),
    [
        ("prompt is too long: 205000 tokens > 200000 maximum", 205_000, 200_000),
        (
            "input length and `max_tokens` exceed context limit: 190000 + 16000 > 200000, decrease",
            190_000,
            200_000,
        ),
        (
            "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens",
            None,
            32_768,
        ),
        ("the request exceeds the available context size (8192 tokens), try increasing it", None, None),
    ],
)
def test_servers_say_in_many_words_that_a_request_is_too_long(
    words: str, sent: int | None, most: int | None
) -> None:
    found = window_exceeded(words)
    assert isinstance(found, WindowExceeded)
    assert (found.tokens_sent, found.tokens_max, found.kind) == (sent, most, "context_window")


@pytest.mark.parametrize("words", ["max_tokens: must be at least 1", "messages: too long", "model: nope"])
def test_other_refusals_are_not_taken_for_it(words: str) -> None:
    assert window_exceeded(words) is None
