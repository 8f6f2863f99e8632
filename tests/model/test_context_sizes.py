import pytest

from chiron_workers.errors import WindowExceeded
from chiron_workers.model.context_sizes import ContextSizes, window_exceeded
from chiron_workers.model.descriptions import Description, ModelDescriptions
from chiron_workers.runs.prompt_sizes import CONTEXT_TOKENS


def says(tokens: int | None) -> ModelDescriptions:
    """What a server says that gives each model so many tokens."""

    async def fetch(model: str) -> Description:
        return {"id": model, "max_input_tokens": tokens}

    return ModelDescriptions(fetch)


async def test_a_window_is_as_large_as_the_server_says() -> None:
    assert await ContextSizes({}, says(64_000)).of("one") == 64_000
    assert await ContextSizes({}, says(None)).of("one") == CONTEXT_TOKENS


async def test_what_people_say_goes_before_what_a_server_says() -> None:
    assert await ContextSizes({"one": 32_000}, says(64_000)).of("one") == 32_000


async def test_a_window_shrinks_and_never_grows() -> None:
    sizes = ContextSizes({}, says(64_000))
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
        (
            "request (9041 tokens) exceeds the available context size (4096 tokens), try increasing it",
            9_041,
            4_096,
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
