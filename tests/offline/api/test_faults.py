"""Each fault as the SDK's user sees it."""

import json
from pathlib import Path

import anthropic
import httpx2
import pytest
from support.moss_library import TOPIC, Conversation, Library, client_of

from chiron_workers.offline import Fault, OfflineServer
from chiron_workers.offline.api.faults import Faults


async def ask_once(server: OfflineServer, **options: object) -> anthropic.types.Message:
    async with client_of(server, **options) as client:
        conversation = Conversation(client, Library(), messages=[{"role": "user", "content": TOPIC}])
        return await conversation.reply()


@pytest.mark.parametrize(
    ("fault", "status", "kind"),
    [
        (Fault.RATE_LIMITED, 429, "rate_limit_error"),
        (Fault.OVERLOADED, 529, "overloaded_error"),
        (Fault.SERVER_ERROR, 500, "api_error"),
        (Fault.ERROR_EVENT, 200, "overloaded_error"),
    ],
)
async def test_refusals_and_error_events_are_status_errors(fault: Fault, status: int, kind: str) -> None:
    with pytest.raises(anthropic.APIStatusError) as caught:
        await ask_once(OfflineServer(script=[fault]))

    assert (caught.value.status_code, caught.value.type) == (status, kind)
    assert caught.value.request_id
    assert caught.value.response.headers.get("retry-after") == ("1" if fault is Fault.RATE_LIMITED else None)


@pytest.mark.parametrize("fault", [Fault.DROPPED, Fault.STALLED])
async def test_a_broken_connection_is_a_protocol_error(fault: Fault) -> None:
    with pytest.raises(httpx2.RemoteProtocolError):
        await ask_once(OfflineServer(script=[fault], stall_s=0.05))


async def test_a_stalled_stream_runs_into_the_read_timeout() -> None:
    with pytest.raises(httpx2.ReadTimeout):
        await ask_once(OfflineServer(script=[Fault.STALLED], stall_s=60), timeout=httpx2.Timeout(5, read=0.2))


async def test_a_corrupt_event_is_a_json_error() -> None:
    with pytest.raises(json.JSONDecodeError):
        await ask_once(OfflineServer(script=[Fault.CORRUPT]))


async def test_an_early_end_has_no_stop_reason() -> None:
    reply = await ask_once(OfflineServer(script=[Fault.ENDED_EARLY]))

    assert reply.stop_reason is None


async def test_after_its_faults_a_scripted_server_serves() -> None:
    async with client_of(OfflineServer(script=[Fault.OVERLOADED, None, Fault.SERVER_ERROR])) as client:
        conversation = Conversation(client, Library(), messages=[{"role": "user", "content": TOPIC}])
        with pytest.raises(anthropic.APIStatusError):
            await conversation.reply()
        assert (await conversation.reply()).stop_reason == "tool_use"
        with pytest.raises(anthropic.InternalServerError):
            await conversation.reply()
        assert (await conversation.reply()).stop_reason == "tool_use"


def test_the_seed_says_which_requests_fail() -> None:
    def drawn(seed: int) -> list[Fault | None]:
        faults = Faults(rate=0.3, seed=seed)
        return [faults.of(number) for number in range(1_000)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert 200 < sum(fault is not None for fault in drawn(1)) < 400
    assert set(drawn(1)) == {*Fault, None}


async def test_the_request_log_tells_what_was_answered_and_what_was_cut(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    server = OfflineServer(script=[Fault.DROPPED, Fault.OVERLOADED], log=log)
    async with client_of(server) as client:
        conversation = Conversation(client, Library(), messages=[{"role": "user", "content": TOPIC}])
        for _ in range(2):
            with pytest.raises((httpx2.RemoteProtocolError, anthropic.APIStatusError)):
                await conversation.reply()
        conversation.messages.clear()
        await conversation.ask(TOPIC)

    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["event"] for line in lines if line["turn"] == 0] == ["received", "cut"] * 2 + [
        "received",
        "answered",
    ]
    assert [line["turn"] for line in lines if line["event"] == "answered"] == [0, 1, 2, 3]
    assert len({line["conversation"] for line in lines}) == 1
    assert len({line["request_id"] for line in lines}) == 6
    assert [line["fault"] for line in lines[:3:2]] == ["dropped", "overloaded"]


async def test_a_client_that_leaves_is_a_cut_reply(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    with pytest.raises(anthropic.APITimeoutError):
        await ask_once(OfflineServer(latency_s=30, log=log), timeout=0.2)

    assert [json.loads(line)["event"] for line in log.read_text().splitlines()] == ["received", "cut"]
