"""Bodies of a few megabytes that cost the API much: each file of request_bodies/ is one, with its PATH and its BODY."""

import asyncio
import time
from pathlib import Path

import httpx2
import pytest
from support.event_loop_delay import beating
from support.hostile_members import parameters, words_of

MEMBERS = list(parameters(Path(__file__).parent / "request_bodies"))
ANSWER_BYTES_MAX = 100_000
LOOP_S_MAX = 2.0  # of processor time: a few times more than reading the largest body takes
TOTAL_S_MAX = 6.0


@pytest.mark.parametrize(("member", "is_full"), MEMBERS)
async def test_a_wrong_body_of_megabytes_does_not_stop_the_api(
    client: httpx2.AsyncClient, member: Path, is_full: bool
):
    hostile = words_of(member, is_full=is_full)
    used = time.process_time()
    async with beating() as pulse:
        answer = await client.post(
            hostile["PATH"], content=hostile["BODY"], headers={"Content-Type": "application/json"}
        )
    assert answer.status_code in (400, 413, 422), answer.text
    assert len(answer.content) < ANSWER_BYTES_MAX
    assert len(answer.json().get("errors", ())) <= 100
    assert pulse.worked_s < LOOP_S_MAX
    assert time.process_time() - used < TOTAL_S_MAX


@pytest.mark.parametrize("count", [10_000, pytest.param(50_000, marks=pytest.mark.acceptance)])
async def test_a_large_batch_is_read_while_others_are_answered(client: httpx2.AsyncClient, count: int):
    topics = [{"topic": f"Closure {n}", "role": "research", "priority": 3} for n in range(count)]
    upload = asyncio.create_task(client.post("/v1/batches", json={"subject": "x", "topics": topics}))
    async with beating() as pulse:
        while not upload.done():
            assert (await client.get("/healthz")).status_code == 200
    assert (await upload).status_code == 202, upload.result().text
    assert pulse.worked_s < LOOP_S_MAX
