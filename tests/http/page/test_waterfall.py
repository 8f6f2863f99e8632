"""The waterfall on the page of a run: where its time went, turn by turn."""

import json
import re
from datetime import UTC, datetime

import httpx2
from support.research_rows import Shelf
from support.timed_runs import TimedRun

from chiron_workers.pubsub.publisher import Publisher
from chiron_workers.runs.events import Event
from chiron_workers.settings import Settings
from chiron_workers.states import EventKind

HOSTILE = "<script>alert(1)</script>\"'"


def timed_run(shelf: Shelf, *, turns: int = 3, **run: object) -> TimedRun:
    made = TimedRun(shelf, **run)
    made.event(0, "run.queued")
    made.event(40_000, "run.started")  # it waited a night
    second = 40_000.0
    for turn in range(1, turns + 1):
        second += 4
        made.reply(second, f"search{turn}", f"fetch{turn}")
        made.result(second + 1, f"search{turn}", ms=1_000)
        made.result(second + 3, f"fetch{turn}", ms=3_000, is_error=turn == 2)
        second += 3
    return made


async def test_a_waterfall_has_a_row_a_turn_with_bars_for_model_tools_and_waiting(
    client: httpx2.AsyncClient, shelf: Shelf
):
    run = timed_run(shelf)
    page = (await client.get(f"/runs/{run.run_id}")).text
    assert "<dt>Model</dt><dd>12s</dd>" in page
    assert "<dt>Tools</dt><dd>9.0s</dd>" in page
    assert "<dt>In the queue</dt><dd>11h 06m</dd>" in page
    rows = re.findall(r"<title>(Turn [^<]+)</title>", page)
    assert rows == [
        "Turn 1: in the queue 11h 06m, model 4.0s, tools 3.0s (2 calls)",
        "Turn 2: model 4.0s, tools 3.0s (2 calls), 1 failed",
        "Turn 3: model 4.0s, tools 3.0s (2 calls)",
    ]
    bars = re.findall(r'<rect class="(\w+)" x="([\d.]+)%" y="([\d.]+)%" width="([\d.]+)%"', page)
    first, second = bars[:4], bars[4:7]
    assert [kind for kind, *_ in first] == ["waiting", "model", "tool", "tool"]
    assert [y for *_, y, _ in first[2:]] == ["0.0", "50.0"]  # side by side, so one below the other
    assert [kind for kind, *_ in second] == ["model", "error", "tool"]
    # A night in the queue leaves room for the seconds of the turns.
    assert float(second[0][3]) > 40
    assert "a wait that is cut ends in a gap" in page
    assert "100 of 200\u202f000" not in page
    assert "1\u202f160 of 200\u202f000" in page  # context, in the table
    link = re.search(r'href="(#r\d+)">1</a>', page)
    assert link
    assert f'id="{link[1][1:]}"' in page


async def test_a_waterfall_folds_many_turns_and_opens_a_row(client: httpx2.AsyncClient, shelf: Shelf):
    run = timed_run(shelf, turns=100)
    page = (await client.get(f"/runs/{run.run_id}")).text
    assert "each row has 3 turns" in page
    link = re.search(r'href="(/runs/[^"]+first=4&amp;last=6)#bars">4 to 6</a>', page)
    assert link
    part = (await client.get(link[1].replace("&amp;", "&"))).text
    assert re.findall(r"<title>Turn (\d+):", part) == ["4", "5", "6"]
    assert "All turns" in part
    early = re.search(r'href="(/runs/[^"#]+before=\d+)#(r\d+)">4</a>', part)
    assert early  # its story is on an earlier page
    assert f'id="{early[2]}"' in (await client.get(early[1])).text


async def test_a_waterfall_says_what_is_under_way_and_shows_words_as_words(
    client: httpx2.AsyncClient, shelf: Shelf
):
    run = TimedRun(shelf, state="running", finished_at=None)
    run.event(0, "run.started")
    run.reply(3, HOSTILE)
    page = (await client.get(f"/runs/{run.run_id}")).text
    assert "Running tools (&lt;script&gt;alert" in page
    run.result(4, HOSTILE, ms=1_000)
    page = (await client.get(f"/runs/{run.run_id}")).text
    assert "Waiting for the reply of the model. This began" in page
    assert "<script>alert" not in page


async def test_a_run_without_events_has_no_waterfall(client: httpx2.AsyncClient, shelf: Shelf):
    run = TimedRun(shelf)
    assert "Where the time went" not in (await client.get(f"/runs/{run.run_id}")).text


async def test_a_live_page_says_how_long_the_reply_under_way_is(
    client: httpx2.AsyncClient, shelf: Shelf, settings: Settings
):
    run = TimedRun(shelf, state="running", finished_at=None)
    run.event(0, "run.started")
    page = (await client.get(f"/runs/{run.run_id}")).text
    assert '<p id="reply" hidden>' in page
    address = re.search(r'data-live="([^"]+)"', page)
    assert address
    publisher = Publisher(settings.redis_url)

    def write() -> None:
        delta = {"text": "word " * 80}
        publisher.publish(
            Event(run.batch_id, run.run_id, None, EventKind.TEXT_DELTA, datetime.now(UTC), delta)
        )

    async with client.stream("GET", address[1]) as stream:
        async for line in stream.aiter_lines():
            if not line.startswith("data:"):
                continue
            write()
            part = json.loads(line.removeprefix("data:") or "{}")
            if part.get("target") == "reply" and "hidden" not in part["html"]:
                tokens = re.search(r"about (\d+) tokens of text", part["html"])
                assert tokens
                assert int(tokens[1]) % 100 == 0
                break
    await publisher.close()
