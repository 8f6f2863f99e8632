"""The prompt cache, as its documentation says that it bills."""

from typing import Any

import pytest

from benchmarks.billing import Till

MARK = {"type": "ephemeral"}
BIG = "x" * 6_000  # 1,500 tokens and a little


def text(words: str = BIG, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def billed(till: Till, *blocks: dict[str, Any], **more: Any) -> tuple[int, int, int]:
    """Tokens of a request: new, written, read."""
    request = {"model": "m", "max_tokens": 1, "messages": [user(*blocks)], **more}
    usage = till.bill(request, output_tokens=1)
    return tuple(usage[f"{kind}input_tokens"] for kind in ("", "cache_creation_", "cache_read_"))  # type: ignore[return-value]


@pytest.fixture
def till() -> Till:
    return Till("claude-opus-5-5", Clock())


def test_what_is_written_once_is_read_afterwards(till: Till) -> None:
    _, first, _ = billed(till, text(), cache_control=MARK)
    new, written, read = billed(till, text(), text("and more"), cache_control=MARK)
    assert first > 1_500
    assert (new, read) == (0, first)
    assert 0 < written < 40


def test_nothing_is_kept_without_a_mark_or_below_the_least_size(till: Till) -> None:
    assert billed(till, text())[1:] == (0, 0)
    assert billed(till, text("short"), cache_control=MARK)[1:] == (0, 0)


def test_a_change_before_the_mark_is_another_beginning(till: Till) -> None:
    billed(till, text(), text("a"), cache_control=MARK)
    assert billed(till, text(), text("b"), cache_control=MARK)[2] == 0


@pytest.mark.parametrize(("more", "is_found"), [(19, True), (20, False)])
def test_an_entry_is_found_twenty_blocks_back(till: Till, more: int, is_found: bool) -> None:
    billed(till, text(), cache_control=MARK)
    _, _, read = billed(till, text(), *(text(f"{n}") for n in range(more)), cache_control=MARK)
    assert (read > 0) is is_found


def test_a_second_mark_finds_what_the_last_one_does_not(till: Till) -> None:
    billed(till, text(), cache_control=MARK)
    blocks = [text(cache_control=MARK), *(text(f"{n}") for n in range(30))]
    assert billed(till, *blocks, cache_control=MARK)[2] > 1_500


@pytest.mark.parametrize(("ttl", "longest_s"), [("5m", 299), ("1h", 3_599)])
def test_an_entry_lives_for_its_time_from_its_last_read(ttl: str, longest_s: int) -> None:
    clock = Clock()
    till = Till("claude-opus-5-5", clock)
    mark = {**MARK, "ttl": ttl}
    for _ in range(3):
        read = billed(till, text(), cache_control=mark)[2]
        clock.now += longest_s
    assert read > 1_500
    clock.now += 2
    assert billed(till, text(), cache_control=mark)[2] == 0


def test_an_hour_costs_twice_the_input_price() -> None:
    costs = []
    for ttl in ("5m", "1h"):
        till = Till("claude-opus-5-5", Clock())
        billed(till, text(), cache_control={**MARK, "ttl": ttl})
        costs.append(float(till.paid_usd))
    assert costs[1] / costs[0] == pytest.approx(8 / 5, rel=0.02)  # $8 and $5 a million
