"""The Messages API as other clients and the command line meet it."""

import asyncio
import json
import signal
import subprocess
import sys
from typing import Any

import anthropic
import pytest
from aiohttp import ClientSession
from anthropic import AsyncAnthropic
from support import forked_python
from support.moss_library import TOOLS, TOPIC, Conversation, Library, client_of

from chiron_workers.errors import UsageError
from chiron_workers.offline import OfflineServer, conversation_key, serve, start_in_thread

GOOD: dict[str, Any] = {
    "model": "offline",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": TOPIC}],
}
CALL = {"type": "tool_use", "id": "c1", "name": "web_search", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "c1", "content": "nothing"}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"model": None}, "model"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "system", "content": "x"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": ""}]}, "messages.0"),
        ({"messages": [{"role": "user", "content": []}]}, "messages.0"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, "messages.0.role"),
        ({"messages": [*GOOD["messages"], {"role": "assistant", "content": "x"}]}, "end with a user message"),
        (
            {"messages": [*GOOD["messages"], {"role": "assistant", "content": [CALL]}, *GOOD["messages"]]},
            "without `tool_result` blocks immediately after: c1",
        ),
        ({"messages": [{"role": "user", "content": [RESULT]}]}, "unexpected `tool_use_id`"),
        ({"tools": [{"name": "web_search"}]}, "tools.0.input_schema"),
        ({"tools": [TOOLS[0], TOOLS[0]]}, "unique"),
    ],
)
async def test_a_malformed_request_is_refused_in_the_apis_form(change: dict[str, Any], named: str) -> None:
    async with (
        serve() as url,
        ClientSession() as session,
        session.post(f"{url}/v1/messages", json={**GOOD, **change}) as response,
    ):
        body = await response.json()

    assert response.status == 400
    assert body["error"]["type"] == "invalid_request_error"
    assert named in body["error"]["message"]
    assert body["request_id"] == response.headers["request-id"]


@pytest.mark.parametrize("turns", [None, 5])
async def test_a_body_that_is_no_json_is_refused(turns: int | None) -> None:
    async with (
        serve(OfflineServer(turns=turns)) as url,
        ClientSession() as session,
        session.post(f"{url}/v1/messages", data=b"{oops") as response,
    ):
        assert (response.status, (await response.json())["type"]) == (400, "error")


async def test_what_is_not_there_is_not_found() -> None:
    async with serve() as url, ClientSession() as session:
        for path in ("/v1/nothing", "/v1/models/other"):
            async with session.get(url + path) as response:
                assert (response.status, (await response.json())["error"]["type"]) == (404, "not_found_error")


async def test_models_and_token_counts_answer_the_sdk(client: AsyncAnthropic) -> None:
    models = [model async for model in client.models.list()]
    model = await client.models.retrieve("offline")
    count = await client.messages.count_tokens(model="offline", messages=GOOD["messages"])

    assert models == [model]
    assert "no language model" in model.display_name
    assert count.input_tokens > len(TOPIC) // 4


async def test_the_whole_reply_is_the_streamed_one(client: AsyncAnthropic) -> None:
    conversation = Conversation(client, Library(), messages=list(GOOD["messages"]))
    streamed = await conversation.reply()
    whole = await client.messages.create(
        **{**GOOD, "tools": TOOLS, "max_tokens": 8_000, "system": "Subject: x"}
    )

    assert whole.stop_reason == streamed.stop_reason == "tool_use"
    assert [block.type for block in whole.content] == [block.type for block in streamed.content]


async def test_a_hundred_streams_at_once_wait_side_by_side() -> None:
    async with client_of(OfflineServer(turns=2, latency_s=0.3)) as client:
        started = asyncio.get_running_loop().time()
        talks = [Conversation(client, Library()) for _ in range(100)]
        answers = await asyncio.gather(
            *(talk.ask(f"Research topic: cave {n}") for n, talk in enumerate(talks))
        )
        elapsed = asyncio.get_running_loop().time() - started

    assert all("load test" in answer for answer in answers)
    assert elapsed < 45  # one after the other it would take 60


async def test_load_plays_exactly_so_many_turns() -> None:
    async with client_of(OfflineServer(turns=23, calls=2, reply_chars=500)) as client:
        conversation = Conversation(client, Library())
        answer = await conversation.ask(TOPIC)

    assert len(conversation.replies) == 23
    assert len(answer) == 500
    assert "store_knowledge" in {name for name, _ in conversation.library.calls}
    texts = json.dumps(list(conversation.library.documents.items()))
    assert all(fact["content"] in texts for fact in conversation.library.facts)


async def test_a_load_of_a_site_reads_a_page_a_turn_and_stores_what_the_page_before_says() -> None:
    site = "http://site.example/how-long-does-glimmer-moss-glow"
    said = {
        f"{site}/{n}": f"Page {n} tells of moss that is wet with sea water and glows." for n in range(1, 5)
    }
    pages = {url: ("a page", text) for url, text in said.items()}
    async with client_of(OfflineServer(turns=5, site="http://site.example/", reply_chars=100)) as client:
        conversation = Conversation(client, Library(pages))
        await conversation.ask(TOPIC)

    calls, facts = conversation.library.calls, conversation.library.facts
    assert [arguments["url"] for name, arguments in calls if name == "web_fetch"] == list(said)
    assert [(fact["source_url"], fact["quote"]) for fact in facts] == list(said.items())[:3]


@pytest.mark.parametrize("size", [1, 16])
async def test_a_stream_comes_in_deltas_of_so_many_characters(size: int) -> None:
    async with client_of(OfflineServer(turns=2, delta_chars=size)) as client:
        arguments: Any = {
            "model": "offline",
            "max_tokens": 1_000,
            "tools": TOOLS,
            "messages": GOOD["messages"],
        }
        parts: list[str] = []
        async for event in await client.messages.create(**arguments, stream=True):
            if event.type == "content_block_delta":
                delta: Any = event.delta
                parts.append(delta.text if delta.type == "text_delta" else delta.partial_json)
        [text, call] = (await client.messages.create(**arguments)).content

    assert max(map(len, parts)) == size
    assert "".join(parts) == text.text + json.dumps(call.input)


async def test_load_counts_on_where_a_conversation_begins_anew_from_its_summary() -> None:
    full = {"role": "user", "content": [RESULT, {"type": "text", "text": "Your context window is full. It"}]}
    history = [*GOOD["messages"], {"role": "assistant", "content": [CALL]}]
    async with client_of(OfflineServer(turns=3)) as client:
        arguments: Any = {"model": "offline", "max_tokens": 1_000, "tools": TOOLS}
        summary = await client.messages.create(**arguments, messages=[*history, full])
        [words] = summary.content
        anew = [{"role": "user", "content": f"{TOPIC}\n\nYour context window was full. {words.text}"}]
        second = await client.messages.create(**arguments, messages=anew)
        last = await client.messages.create(
            **arguments, messages=[*anew, *history[1:], {"role": "user", "content": [RESULT]}]
        )

    assert [second.stop_reason, last.stop_reason] == ["tool_use", "end_turn"]


async def test_load_counts_the_same_with_any_json_spacing() -> None:
    history = [
        *GOOD["messages"],
        {"role": "assistant", "content": [CALL]},
        {"role": "user", "content": [RESULT]},
    ]
    body = {"tools": TOOLS, "system": "Subject: x", **GOOD, "messages": history}
    ids = set()
    async with serve(OfflineServer(turns=9)) as url, ClientSession() as session:
        for layout in (None, 2):
            async with session.post(f"{url}/v1/messages", data=json.dumps(body, indent=layout)) as response:
                ids.add((await response.json())["id"])

    assert len(ids) == 1


def test_a_conversation_is_known_by_its_system_prompt_and_first_message() -> None:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": "a"}]

    assert conversation_key("s", "a") == conversation_key([{"type": "text", "text": "s"}], blocks)
    assert conversation_key("s", "a") != conversation_key("s", "b")


async def test_a_server_in_a_thread_answers_until_it_is_stopped() -> None:
    url, stop = start_in_thread(OfflineServer(turns=1))
    async with AsyncAnthropic(base_url=url, api_key="x", max_retries=0) as client:
        assert (await Conversation(client, Library()).ask(TOPIC)).startswith("This is a load test")
        await asyncio.to_thread(stop)
        stop()
        with pytest.raises(anthropic.APIConnectionError):
            await Conversation(client, Library()).ask(TOPIC)


async def test_a_port_that_is_taken_is_named() -> None:
    async with serve() as url:
        port = int(url.rpartition(":")[2])
        with pytest.raises(UsageError, match=str(port)):
            async with serve(port=port):
                pass


def test_the_command_prints_its_url_and_ends_cleanly_on_both_signals() -> None:
    command = [sys.executable, "-m", "chiron_api", "offline-model", "--latency-ms", "5"]
    processes = [forked_python.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process, number in zip(processes, (signal.SIGINT, signal.SIGTERM), strict=True):
        with process:
            assert process.stdout
            assert process.stdout.readline().startswith("http://127.0.0.1:")
            process.send_signal(number)
            assert process.wait(timeout=90) == 0
