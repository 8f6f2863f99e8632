import json
from typing import Any

from chiron_workers.agent.window import Window
from chiron_workers.model.request import body
from chiron_workers.runs.entries import Block, Opening, Question, Reply, Results, ToolResult

TOOLS = tuple({"name": name, "description": name, "input_schema": {"type": "object"}} for name in "ab")


def window(model: str = "claude-opus-5-5") -> Window:
    return Window([Opening(model, "Be brief.", TOOLS, 100), Question("Hello?")])


def call(number: int) -> Block:
    return {"type": "tool_use", "id": f"c{number}", "name": "a", "input": {}}


def sent_by(shown: Window, *, ttl: str = "5m") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(body(shown.request(), ttl=ttl))
    return found


def marked(sent: dict[str, Any]) -> list[str]:
    """Where the marks are: tools, system, the number of a message; top for the API's own."""
    places = ["tools"] * sum("cache_control" in tool for tool in sent.get("tools", ()))
    places += ["system"] * ("cache_control" in json.dumps(sent["system"]))
    for number, message in enumerate(sent["messages"]):
        places += [str(number)] * sum("cache_control" in block for block in message["content"])
    return places + ["top"] * bool(sent.get("cache_control"))


def test_the_first_request_marks_what_other_runs_share_and_its_own_end() -> None:
    assert marked(sent_by(window())) == ["tools", "system", "top"]


def test_later_requests_also_mark_where_the_one_before_ended() -> None:
    shown = window()
    for turn in range(3):
        shown.add(Reply(tuple(call(30 * turn + n) for n in range(30)), "tool_use"))
        shown.add(Results(tuple(ToolResult(f"c{30 * turn + n}", "x") for n in range(30))))
        sent = sent_by(shown)
        assert marked(sent) == ["tools", "system", str(2 * turn), "top"]
        assert "cache_control" in sent["messages"][2 * turn]["content"][-1]


def test_a_mark_leaves_no_trace_in_the_history() -> None:
    shown = window()
    shown.add(Reply((call(1),), "tool_use"))
    shown.add(Results((ToolResult("c1", "x"),)))
    before = [message.to_json() for message in shown.request().messages]
    sent_by(shown)
    assert [message.to_json() for message in shown.request().messages] == before
    assert not any(b"cache_control" in message for message in before)


def test_a_paused_turn_marks_the_users_last_words() -> None:
    shown = window()
    shown.add(Reply(({"type": "text", "text": "half"},), "pause_turn"))
    assert marked(sent_by(shown)) == ["tools", "system", "0", "top"]


def test_an_hour_is_asked_for_at_every_mark() -> None:
    shown = window()
    shown.add(Reply(({"type": "text", "text": "half"},), "pause_turn"))
    assert body(shown.request(), ttl="1h").count(b'"ttl":"1h"') == 4


def test_other_servers_are_sent_no_marks() -> None:
    sent = sent_by(window("qwen3"), ttl="1h")
    assert marked(sent) == []
    assert sent["system"] == "Be brief."
