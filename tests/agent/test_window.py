"""How much a run keeps of its conversation, and that it sends all of it."""

import json
import tracemalloc
from collections.abc import Iterator

from chiron_workers.agent.window import Window
from chiron_workers.model.request import body
from chiron_workers.runs.entries import Entry, Opening, Question, Reply, Results, ToolResult, Usage
from chiron_workers.runs.messages import PIECE_BYTES, History, Message

TURNS = 200
RUNS = 10
PROMPT = "Research what is asked, and store what you find. " * 200
TOOLS = [{"name": f"tool_{n}", "description": f"Tool {n}. " * 90, "input_schema": {}} for n in range(29)]


def entries(run: int, *, turns: int) -> Iterator[Entry]:
    """A run's entries as they are read from the journal: no part of them is shared with another run."""
    opening = json.loads(json.dumps([PROMPT, TOOLS]))
    yield Opening("claude-opus-5-5", opening[0], tuple(opening[1]), 16_000)
    yield Question(f"The tides of moon {run}")
    for turn in range(turns):
        text = {"type": "text", "text": f"The moon pulls the sea, turn {turn}. " * 15}
        call = {"type": "tool_use", "id": f"c{turn}", "name": "tool_1", "input": {"query": f"tides {turn}"}}
        yield Reply((text, call), "tool_use", Usage(10, 20, 0, 0, 1_000 * turn))
        yield Results((ToolResult(f"c{turn}", f"The tide follows the moon, result {turn}. " * 15),))


def window(run: int, *, turns: int) -> Window:
    shown = Window()
    for entry in entries(run, turns=turns):
        shown.add(entry)
    return shown


def sent_bytes(shown: Window) -> int:
    return len(body(shown.request(), ttl="5m"))


def test_a_run_keeps_little_more_than_its_conversation_as_it_is_sent() -> None:
    sent_bytes(window(0, turns=2))
    tracemalloc.start()
    try:
        windows = [window(run, turns=TURNS) for run in range(RUNS)]
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert kept < 1.1 * sum(map(sent_bytes, windows))


def test_runs_of_a_subject_share_prompt_and_tools() -> None:
    sent_bytes(window(0, turns=2))
    tracemalloc.start()
    try:
        windows = [window(run, turns=1) for run in range(100)]
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert kept < 0.3 * sum(map(sent_bytes, windows))


def test_a_long_conversation_is_sent_whole_and_in_order() -> None:
    shown = window(1, turns=TURNS)
    messages = json.loads(body(shown.request(), ttl="5m"))["messages"]
    assert [message["role"] for message in messages] == ["user", *["assistant", "user"] * TURNS]
    ids = [message["content"][-1]["id"] for message in messages[1::2]]
    assert ids == [message["content"][0]["tool_use_id"] for message in messages[2::2]]
    assert ids == [f"c{turn}" for turn in range(TURNS)]


def test_settled_messages_are_kept_in_few_pieces_whatever_their_sizes() -> None:
    for sizes in ([700] * 3_000, [2_000 - n for n in range(1_500)], [10, 100_000] * 60):
        history = History()
        messages = [Message("user", [json.dumps("x" * size).encode()]) for size in sizes]
        for message in messages:
            history.add(message)
        assert b",".join(history.pieces) == b",".join(message.to_json() for message in messages)
        assert history.count == len(sizes)
        assert len(history.pieces) < 20 + 2 * sum(sizes) / PIECE_BYTES
