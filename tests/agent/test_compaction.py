import pytest
from hypothesis import given
from hypothesis import strategies as st

from chiron_workers.agent.compaction import RESULT_BYTES_MIN, WindowShares, epoch_question, size_limit
from chiron_workers.runs.notes import Note


@pytest.mark.parametrize("context", [8_000, 20_000, 200_000, 1_000_000])
def test_the_parts_of_a_window_fit_it_together(context: int) -> None:
    room = WindowShares.of(context, 16_000)
    assert room.prompt + room.reply + room.summary < context
    assert room.last_prompt + room.summary == context
    assert context / 2 < room.prompt < context
    assert room.result_bytes(1) // 3 <= context / 4
    assert room.result_bytes(10_000) == RESULT_BYTES_MIN


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=20), st.integers(1, 50_000))
def test_what_is_shortened_is_smaller_by_as_much_as_was_asked(sizes: list[int], by: int) -> None:
    most = size_limit(sizes, by=by)
    left = sum(min(size, most) for size in sizes)
    assert left <= max(0, sum(sizes) - by)
    assert left > sum(sizes) - by - len(sizes) or most == 0  # and by hardly more


def test_an_epoch_begins_with_everything_that_is_known() -> None:
    words = epoch_question(
        "Research topic: tides",
        summary="I read the almanac.",
        last_words=["not shown"],
        notes=[Note("plan", "ask the pilot")],
        messages=["Be brief."],
    )
    order = [
        "Research topic: tides",
        "I read the almanac.",
        "\nplan\n\nask the pilot\n",
        "Be brief.",
        "Go on",
    ]
    assert [words.index(part) for part in order] == sorted(words.index(part) for part in order)
    assert "not shown" not in words
