"""From the fetched page to the fact: what an agent stores is held against its source and against what is known."""

import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from rich.console import Console
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, says, turn
from support.scripted_sites import Site, serving

from chiron_api.cli.display.board import Board
from chiron_api.cli.display.events import phrase
from chiron_api.cli.display.summary import closing_line
from chiron_api.reports.formats import html, markdown
from chiron_api.reports.gathering import gather
from chiron_workers.batches.summaries import run_summary
from chiron_workers.knowledge.facts.judgements import ANSWER
from chiron_workers.runs.events import Event
from chiron_workers.states import EventKind, Outcome
from chiron_workers.tools import registry

PAGE = (
    "Deep sea\n\nThe trench was surveyed in 2010 by a ship with an echo sounder.\n\n"
    "The Challenger Deep is 10,994 metres deep. It was not reached by light."
)
OTHER = "Depths of the oceans\n\nThe Challenger Deep is 10,935 metres deep, says a newer survey of 2021."
THIRD = "A handbook of trenches\n\nSounders agree: the depth of the Challenger Deep is 10,994 metres. It has no plants."


@pytest.fixture
async def sites(setting: Callable[[str, str], None]) -> AsyncIterator[list[Site]]:
    setting("FETCH_PRIVATE", "true")
    setting("FETCH_PAUSE_S", "0")
    async with serving("127.0.0.1") as first, serving("127.0.0.2") as second, serving("127.0.0.3") as third:
        for site, words in ((first, PAGE), (second, OTHER), (third, THIRD)):
            site.text("/depth", words)
        yield [first, second, third]


def stored(site: Site, content: str, quote: str, **fields: Any) -> dict[str, Any]:
    given = {
        "content": content,
        "subject_id": "physics",
        "source_url": site.url + "/depth",
        "source_score": 0.9,
        "topic_path": "sea/depth",
        "confidence": 1.0,
        "quote": quote,
    }
    return call("store_knowledge", **(given | fields))


def script(sites: list[Site]) -> Callable[[dict[str, Any]], Says]:
    first, second, third = sites
    steps = [
        lambda: calls(*(call("web_fetch", url=site.url + "/depth") for site in sites)),
        lambda: calls(stored(first, "The Challenger Deep is 11,994 metres deep.", "is 11,994 metres deep")),
        lambda: calls(stored(first, "The Challenger Deep is 10,994 metres deep.", "is 10,994 metres deep")),
        lambda: calls(stored(second, "The Challenger Deep is 10,935 metres deep.", "The Challenger Deep is 10,935 metres deep")),
        lambda: calls(stored(third, "The Challenger Deep is 10,994 m deep.", "Challenger Deep is 10,994 metres")),
        lambda: says("Between 10,935 and 10,994 metres."),
    ]  # fmt: skip

    def answer(request: dict[str, Any]) -> Says:
        if any(tool["name"] == ANSWER for tool in request.get("tools", [])):
            numbers = re.findall(r"Number (\d+)", str(request["messages"]))
            entries = [
                {"number": int(number), "relation": "new", "reason": "They are about different things."}
                for number in numbers
            ]
            return calls(call(ANSWER, relations=entries))
        return steps[turn(request)]()

    return answer


def results(request: dict[str, Any]) -> list[str]:
    return [
        str(block["content"])
        for block in request["messages"][-1]["content"]
        if block["type"] == "tool_result"
    ]


async def test_invented_words_are_refused_and_sources_are_weighed(stage: Stage, sites: list[Site]) -> None:
    stage.registry = registry()
    await stage.model(script(sites))
    [run_id] = await stage.submit("How deep is the Challenger Deep?")
    assert await stage.play(run_id) is Outcome.PLAYED

    asked = {turn(request): request for request in stage.server.requests if len(request["messages"]) > 1}
    [refusal] = results(asked[2])
    assert "quote: " in refusal
    assert "The Challenger Deep is 10,994 metres deep." in refusal  # so that the agent can mend it
    [contradiction], [joined] = results(asked[4]), results(asked[5])
    assert "contradicts" in contradiction
    assert "joined" in joined

    first, second = await stage.rows("select * from facts order by id")
    assert (first["content"], first["quote"]) == (
        "The Challenger Deep is 10,994 metres deep.",
        "The Challenger Deep is 10,994 metres deep.",
    )
    assert (first["status"], round(first["confidence"], 4)) == ("accepted", 0.6)
    assert (second["status"], round(second["confidence"], 4)) == ("disputed", 0.3)
    [link] = await stage.rows("select fact_id, other_id, relation from fact_links")
    assert (link["fact_id"], link["other_id"], link["relation"]) == (second["id"], first["id"], "contradicts")
    [other] = await stage.rows("select * from corroborations")
    assert (other["fact_id"], other["quote"]) == (
        first["id"],
        "Sounders agree: the depth of the Challenger Deep is 10,994 metres.",
    )
    for row in (first, second, other):
        [text] = await stage.rows("select hash from snapshots where hash = %s", row["snapshot_hash"])
        assert text["hash"]
    assert (await stage.row(run_id))["facts"] == 2


async def test_a_run_that_only_meets_facts_of_others_says_that_it_confirmed_them(
    stage: Stage, sites: list[Site]
) -> None:
    stage.registry = registry()
    await stage.model(script(sites))
    first_id, second_id = await stage.submit("the deep", "the deep again")
    closing_lines = []
    for run_id in (first_id, second_id):
        assert await stage.play(run_id) is Outcome.PLAYED
        closing_lines.append(closing_line(await run_summary(stage.pool, run_id)))
    first, second = await stage.row(first_id), await stage.row(second_id)
    assert (first["facts"] > 0, first["confirmed"]) == (True, 0)
    assert (second["facts"], second["confirmed"] > 0) == (0, True)
    assert f"0 new facts, {second['confirmed']} confirmed" in closing_lines[1]
    assert "confirmed" not in closing_lines[0]
    board = Board("the deep")
    lines = []
    for row in await stage.rows("select * from events where run_id = %s order by seq", second_id):
        kind = EventKind(row["kind"])
        event = Event(row["batch_id"], second_id, row["seq"], kind, row["at"], row["data"])
        board.apply(event)
        lines.append(phrase(event))
    console = Console(width=80, height=24, color_system=None)
    with console.capture() as screen:
        console.print(board)
    assert f"0 new facts, {second['confirmed']} confirmed" in screen.get()
    assert any(line.startswith("store_knowledge returned: 1 fact confirmed, ") for line in lines)
    report = await gather(stage.pool, second_id)
    assert (report.work.facts, report.work.confirmed) == (0, second["confirmed"])
    for form in (markdown, html):
        text = "".join(form.render(report))
        assert f"0 new facts, {second['confirmed']} confirmed" in text
        assert "0 facts" not in text
