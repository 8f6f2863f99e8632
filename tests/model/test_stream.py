"""A message put together from its stream is what the SDK's own helper makes of it."""

import copy
import json
from typing import Any

import pytest
from aiohttp import web
from anthropic import AsyncAnthropic
from support.http_server import served

from chiron_workers.model.failures import StreamCut
from chiron_workers.model.stream import Accumulation
from chiron_workers.runs.entries import INVALID_JSON

START = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 7, "output_tokens": 1, "cache_read_input_tokens": 5},
    },
}
CITATION = {
    "type": "char_location",
    "cited_text": "It rains.",
    "document_index": 0,
    "document_title": "Weather",
    "start_char_index": 0,
    "end_char_index": 9,
}


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


EVENTS = [
    START,
    {"type": "ping"},
    *block(
        0,
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "Let me "},
        {"type": "thinking_delta", "thinking": "see."},
        {"type": "signature_delta", "signature": "c2ln"},
    ),
    *block(1, {"type": "redacted_thinking", "data": "eHl6"}),
    *block(
        2,
        {"type": "text", "text": "", "citations": []},
        {"type": "text_delta", "text": "It "},
        {"type": "citations_delta", "citation": CITATION},
        {"type": "text_delta", "text": "rains \U0001f327."},
        {"type": "citations_delta", "citation": CITATION},
    ),
    *block(
        3,
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
        {"type": "input_json_delta", "partial_json": '{"query": "ra'},
        {"type": "input_json_delta", "partial_json": 'in"}'},
    ),
    *block(
        4,
        {
            "type": "web_search_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": [
                {
                    "type": "web_search_result",
                    "url": "https://a.example/",
                    "title": "A",
                    "encrypted_content": "eA==",
                    "page_age": None,
                }
            ],
        },
    ),
    *block(
        5,
        {"type": "tool_use", "id": "toolu_1", "name": "note", "input": {}},
        {"type": "input_json_delta", "partial_json": ""},
        {"type": "input_json_delta", "partial_json": '{"deep": [1, nul'},
        {"type": "input_json_delta", "partial_json": 'l, {"\\u00e9": "\\n"}]}'},
    ),
    *block(6, {"type": "tool_use", "id": "toolu_2", "name": "list", "input": {}}),
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 42, "input_tokens": None, "server_tool_use": {"web_search_requests": 1}},
    },
    {"type": "message_stop"},
]


def accumulated(events: list[dict[str, Any]]) -> tuple[dict[str, Any], str]:
    read = Accumulation()
    words = "".join(
        read.add(event) for event in json.loads(json.dumps(events)) if event.get("type") != "ping"
    )
    return read.message(), words


async def by_the_sdk(events: list[dict[str, Any]]) -> dict[str, Any]:
    async def answer(_: web.Request) -> web.Response:
        wire = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        return web.Response(body=wire.encode(), content_type="text/event-stream")

    app = web.Application()
    app.router.add_post("/v1/messages", answer)
    async with (
        served(app) as url,
        AsyncAnthropic(base_url=url, api_key="test", max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=9, messages=[]) as stream,
    ):
        return (await stream.get_final_message()).model_dump(mode="json", exclude_unset=True, warnings=False)


async def test_every_kind_of_block_comes_out_as_the_sdk_puts_it_together() -> None:
    ours, words = accumulated(EVENTS)
    theirs = await by_the_sdk(EVENTS)
    assert ours["content"] == theirs["content"]
    assert (ours["stop_reason"], ours["model"]) == (theirs["stop_reason"], theirs["model"])
    counts = ("input_tokens", "output_tokens", "cache_read_input_tokens", "server_tool_use")
    assert {name: ours["usage"][name] for name in counts} == {name: theirs["usage"][name] for name in counts}
    assert words == "It rains \U0001f327."


def test_a_field_that_nobody_knows_yet_is_kept() -> None:
    start = {"type": "newest", "mood": "so ", "extra": {"kept": True}}
    ours, _ = accumulated([START, *block(0, start, {"type": "mood_delta", "mood": "far"}), *EVENTS[-2:]])
    assert ours["content"] == [{"type": "newest", "mood": "so far", "extra": {"kept": True}}]


@pytest.mark.parametrize(
    "events",
    [
        [START, {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x"}}],
        [START, *block(1, {"type": "text", "text": ""})],
        [START, {"type": "content_block_start", "index": 0}],
        [START, {"kind": "nothing"}],
        [START, {"type": "message_delta"}],
        EVENTS[:-2],
        [],
    ],
    ids=lambda events: f"{len(events)} events",
)
def test_a_stream_that_stops_short_is_cut(events: list[dict[str, Any]]) -> None:
    with pytest.raises(StreamCut):
        accumulated(events)


@pytest.mark.parametrize(
    "odd",
    [
        {"kind": "nothing"},
        {"type": "message_start", "message": None},
        {"type": "content_block_start", "index": 9, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": -1, "delta": {"type": "text_delta", "text": "x"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": 5}},
        {"type": "content_block_delta", "index": 0, "delta": None},
    ],
    ids=lambda odd: str(odd)[:60],
)
def test_a_stream_that_comes_to_its_end_is_a_reply_whatever_it_holds(odd: dict[str, Any]) -> None:
    read = Accumulation()
    for event in copy.deepcopy([START, *block(0, {"type": "thinking", "thinking": ""}), odd, *EVENTS[-2:]]):
        read.add(event)
    assert read.message()["stop_reason"] in ("tool_use", "end_turn")
    assert read.problem


def test_what_is_nested_too_deeply_to_be_written_again_is_left_out() -> None:
    deep: Any = []
    for _ in range(900):
        deep = [deep]
    read = Accumulation()
    for event in [START, *block(0, {"type": "newest", "deep": deep}), *EVENTS[-2:]]:
        read.add(event)
    assert read.message()["content"] == ["nested too deeply to be kept"]
    assert "levels deep" in read.problem


@pytest.mark.parametrize(
    "text",
    ['{"a": ', "{oops}", "[" * 100_000, '{"a": ' * 300 + "1" + "}" * 300, '{"n": ' + "9" * 5_000 + "}"],
)
def test_arguments_that_are_no_json_are_kept_as_they_came(text: str) -> None:
    start = {"type": "tool_use", "id": "t", "name": "n", "input": {}}
    half = {"type": "input_json_delta", "partial_json": text}
    ours, _ = accumulated([START, *block(0, start, half), *EVENTS[-2:]])
    assert ours["content"] == [{**start, "input": {INVALID_JSON: text}}]


def test_blocks_that_are_never_closed_are_whole_when_the_reply_is() -> None:
    start = {"type": "text", "text": ""}
    events = [START, *block(0, start, {"type": "text_delta", "text": "cut"})[:-1], *EVENTS[-2:]]
    assert accumulated(events)[0]["content"] == [{"type": "text", "text": "cut"}]


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_numbers_that_json_does_not_have_become_null_wherever_they_stand(number: str):
    asked = {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [json.loads(number)]}
    events = [
        *EVENTS[:1],
        *block(0, asked, {"type": "input_json_delta", "partial_json": f'{{"x": [{number}], "y": 1.5}}'}),
        *block(1, found),
        EVENTS[-2],
    ]
    read = Accumulation()
    for event in copy.deepcopy(events):
        read.add(event)
    content = read.message()["content"]
    assert content[0]["input"] == {"x": [None], "y": 1.5}
    assert content[1]["content"] == [None]
