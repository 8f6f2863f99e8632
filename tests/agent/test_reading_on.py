"""Results that are too long to be shown at once can be read on to their end."""

import json
import re
from typing import Any

import pytest
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, says, turn

from chiron_workers.states import Outcome
from chiron_workers.store import Store
from chiron_workers.toolkit import tool
from chiron_workers.tools.results import read_result

ASCII = "".join(f"{n:07} " for n in range(12_000))
CHINESE = "".join(f"{n:05}潮汐" for n in range(6_000))
NEXT = re.compile(r'\n\[Cut here.* call_id "(?P<call_id>\w+)" and offset (?P<offset>\d+) reads on\.\]$')
END = re.compile(r"\n\[This is the end of the result of \w+\.\]$")
MARKED = re.compile(r"<(result-[0-9a-f]{16})>\n(?P<text>.*)\n</\1>", re.DOTALL)


def reading(stage: Stage, text: str) -> None:
    @tool
    def almanac(store: Store) -> str:
        """Read a long text."""
        return text

    stage.registry.register(almanac)
    stage.registry.register(read_result)


def shown(request: dict[str, Any]) -> str:
    return str(request["messages"][-1]["content"][0]["content"])


class Reader:
    """Reads on wherever a result says how."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def __call__(self, request: dict[str, Any]) -> Says:
        if turn(request) == 0:
            return calls(call("almanac"))
        found = shown(request)
        part = END.sub("", NEXT.sub("", found))
        self.parts.append(marked["text"] if (marked := MARKED.fullmatch(part)) else part)
        more = NEXT.search(found)
        if more is None:
            return says("read")
        return calls(call("read_result", call_id=more["call_id"], offset=int(more["offset"])))


@pytest.mark.parametrize("text", [ASCII, CHINESE], ids=["ascii", "chinese"])
@pytest.mark.parametrize("context", [20_000, 1_000_000])
async def test_a_cut_result_is_read_on_to_its_end(stage: Stage, text: str, context: int) -> None:
    reading(stage, text)
    stage.settings = stage.settings.model_copy(
        update={"context_tokens": {stage.model_name: context}, "tool_result_chars": 20_000}
    )
    reader = Reader()
    await stage.model(reader)
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert "".join(reader.parts) == text
    results = [shown(request) for request in stage.server.requests[1:]]
    assert max(len(result) for result in results) <= 20_000
    assert max(len(result.encode()) for result in results) <= context // 4 * 3


async def test_calls_of_one_reply_share_the_room_of_their_results(stage: Stage) -> None:
    reading(stage, ASCII)
    stage.settings = stage.settings.model_copy(update={"context_tokens": {stage.model_name: 20_000}})
    many = [call("almanac") for _ in range(10)]
    await stage.model(lambda request: [calls(*many), says("x")][turn(request)])
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    results = [block["content"] for block in stage.server.requests[-1]["messages"][-1]["content"]]
    assert sum(len(result) for result in results) <= 15_000
    assert all(NEXT.search(result) for result in results)


async def test_the_whole_result_is_kept_only_where_it_was_cut(stage: Stage) -> None:
    reading(stage, ASCII)
    blocks = [call("almanac"), call("echo", words="short")]
    await stage.model(lambda request: [calls(*blocks), says("x")][turn(request)])
    (run_id,) = await stage.submit("tides")
    await stage.play(run_id)
    kept = await stage.rows(
        "select name, length(body) as shown, length(whole) as whole from tool_results order by name"
    )
    assert [(row["name"], row["whole"]) for row in kept] == [("almanac", len(ASCII)), ("echo", None)]
    assert kept[0]["shown"] <= stage.settings.tool_result_chars


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"call_id": "toolu_other"}, "no result of a call"),
        ({"call_id": "toolu_first", "offset": 9_999_999}, "there is nothing at"),
        ({"call_id": "toolu_first", "offset": -1}, "offset"),
    ],
)
async def test_what_is_not_there_is_an_error_the_model_reads(
    stage: Stage, arguments: dict[str, Any], words: str
) -> None:
    reading(stage, "short")
    first = call("almanac") | {"id": "toolu_first"}
    script = [calls(first), calls(call("read_result", **arguments)), says("x")]
    await stage.model(lambda request: script[turn(request)])
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    block = json.loads(json.dumps(stage.server.requests[-1]["messages"][-1]["content"][0]))
    assert block["is_error"]
    assert words in block["content"]
