"""What the event loop does while a route has much to read or to show: it answers others."""

import asyncio
import json
from urllib.parse import quote_plus

import httpx2
import pytest
from support.event_loop_delay import beating

from chiron_api.http.page.docs import view
from chiron_api.http.page.submit.draft import TOPICS_MAX
from chiron_workers.batches.submit import RUNS_MAX

FORM = "application/x-www-form-urlencoded"
LOOP_S_MAX = 0.3  # of processor time between two beats: many times what is needed, and half of what 8 MB took within the loop
MB = 1_000_000


pytestmark = pytest.mark.usefixtures("no_collector")


def multipart(text: str) -> tuple[str, bytes]:
    head = 'Content-Disposition: form-data; name="topics"; filename="topics.txt"'
    subject = 'Content-Disposition: form-data; name="subject"\r\n\r\nPhysics'
    body = f"--X\r\n{subject}\r\n--X\r\n{head}\r\nContent-Type: text/plain\r\n\r\n{text}\r\n--X--\r\n"
    return "multipart/form-data; boundary=X", body.encode()


def encoded(text: str, times: int) -> tuple[str, bytes]:
    return FORM, b"subject=Physics&topics=" + quote_plus(text).encode() * times


BODIES = {
    "short lines": lambda size: encoded("ab\n", size * MB // 5),
    "escapes": lambda size: encoded("ü", size * MB // 6),
    "as many topics as a form takes": lambda size: encoded(
        "x" * (size * MB // TOPICS_MAX - 3) + "\n", TOPICS_MAX
    ),
    "a file": lambda size: multipart("a\n" * (size * MB // 2)),
    "a file of blank lines": lambda size: multipart("\n" * (size * MB)),
}


@pytest.mark.parametrize("size", [8, pytest.param(16, marks=pytest.mark.acceptance)])
@pytest.mark.parametrize("path", ["/submit/estimate", "/submit"])
@pytest.mark.parametrize("name", BODIES)
async def test_submit_reads_a_large_form_while_others_are_answered(
    client: httpx2.AsyncClient, name: str, path: str, size: int
):
    media_type, body = BODIES[name](size)
    await client.get("/healthz")  # the first answer has our own client build what it compares answers with
    upload = asyncio.create_task(client.post(path, content=body, headers={"Content-Type": media_type}))
    async with beating() as pulse:
        while not upload.done():
            assert (await client.get("/healthz")).status_code == 200
    assert upload.result().status_code in (200, 303, 422)
    assert pulse.worked_s < LOOP_S_MAX


async def test_submit_shows_too_many_topics_again_as_they_were_written(client: httpx2.AsyncClient):
    text = "<b>topic</b> & more\u202e\n" * (TOPICS_MAX + 1)
    answer = await client.post(
        "/submit", data={"topics": text, "subject": "x"}, headers={"Accept": "text/html"}
    )
    assert answer.status_code == 422
    assert "A form takes 10,000 topics" in answer.text
    assert answer.text.count("&lt;b&gt;topic&lt;/b&gt; &amp; more\n") == TOPICS_MAX + 1
    assert "<b>topic" not in answer.text


async def test_docs_render_the_reference_once_for_all_requests(client: httpx2.AsyncClient):
    view._rendered_reference.cache_clear()
    answers = await asyncio.gather(*(client.get("/docs") for _ in range(60)))
    assert {answer.status_code for answer in answers} == {200}
    assert view._rendered_reference.cache_info().misses == 1


@pytest.mark.acceptance
async def test_batches_of_a_hundred_thousand_runs_are_submitted_and_steered_while_others_are_answered(
    client: httpx2.AsyncClient,
):
    body = json.dumps({"subject": "x", "topics": [f"Closure {n}" for n in range(RUNS_MAX)]}).encode()
    headers = {**client.headers, "Content-Type": "application/json"}
    pulses = {}
    # The client of the tests compares each answer with its description, within this loop.
    async with httpx2.AsyncClient(
        base_url=client.base_url, headers=headers, trust_env=False, timeout=100
    ) as plain:
        async with beating() as pulses["submit"]:
            receipt = await plain.post("/v1/batches", content=body)
        assert receipt.status_code == 202
        for command in ("pause", "resume", "cancel", "retry"):
            async with beating() as pulses[command]:
                answer = await plain.post(f"/v1/batches/{receipt.json()['batch_id']}/{command}", json={})
            assert answer.json()["changed"] == RUNS_MAX
    assert {command: pulse.worked_s for command, pulse in pulses.items() if pulse.worked_s > LOOP_S_MAX} == {}
