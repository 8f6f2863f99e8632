"""The judge of a fact sees its page as a reader does, once for all facts of a turn, and is not asked twice about the same."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import zstandard
from aiohttp import web
from support.run_harness import Stage
from support.scripted_model import Says, call, calls, page_of, question_words, says, turn, verdict_entries
from support.scripted_sites import Site

from chiron_workers.evidence.quotes.reading_window import ReadingWindow, reading_window
from chiron_workers.states import Outcome
from chiron_workers.tools import registry

PROSE = (
    "<p>" + "The report describes methods, data and limits of the study in separate chapters. " * 4 + "</p>"
)
SHAFTS, JOBS = "The mine in the north has 12 shafts.", "The mine in the north employs 2,400 people."
BANNER = "<div class='banner'>Superseded by the report of 2021</div>"


def report(banner: str = "") -> str:
    return (
        f"<html><head><title>Mines</title></head><body>{banner}<article><h1>Mines</h1>{PROSE * 30}"
        f"<p>{SHAFTS}</p>{PROSE}<p>{JOBS}</p>{PROSE * 30}</article></body></html>"
    )


@pytest.fixture
def site(local_site: Site) -> Site:
    for path, banner in {"/sound": "", "/old": BANNER}.items():
        local_site.answers[path] = partial(page, report(banner))
    return local_site


def page(body: str, request: web.Request) -> web.Response:
    return web.Response(text=body, content_type="text/html")


def script(url: str) -> Callable[[dict[str, Any]], Says]:
    def answer(request: dict[str, Any]) -> Says:
        claims = {"There are twelve shafts in the north.": SHAFTS, "Miners of the north number 2,400.": JOBS}
        facts = [
            call(
                "store_knowledge", content=content, quote=quote, subject_id="physics", source_url=url, source_score=0.9,
                topic_path="mines", confidence=1.0,
            )
            for content, quote in claims.items()
        ]  # fmt: skip
        return [calls(call("web_fetch", url=url)), calls(*facts), says("Done.")][turn(request)]

    return answer


def careful(request: dict[str, Any]) -> Says:
    """A judge who reads the page."""

    def verdict_on(item: str) -> tuple[str, str]:
        is_old = "Superseded" in page_of(request, item)
        return ("contradicted", "Its page is superseded.") if is_old else ("supported", "It says so.")

    return verdict_entries(request, verdict_on)


async def test_a_banner_far_from_a_quote_decides(stage: Stage, site: Site) -> None:
    stage.registry = registry()
    await stage.model(script(site.url + "/old"), judge=careful)
    [run_id] = await stage.submit("mines")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert await stage.rows("select content from facts") == []
    [question] = stage.server.verdict_questions
    assert question_words(question).count("Superseded by the report of 2021") == 1
    refusals = str(stage.server.requests[-1]["messages"][-1]["content"])
    assert refusals.count("Its page is superseded.") == 2


async def test_the_window_of_a_fact_is_kept_by_its_place_and_judged_once(stage: Stage, site: Site) -> None:
    stage.registry = registry()
    await stage.model(script(site.url + "/sound"), judge=careful)
    for _ in range(2):
        [run_id] = await stage.submit("mines")
        assert await stage.play(run_id) is Outcome.PLAYED
        await stage.rows("delete from facts returning id")
        assert len(stage.server.verdict_questions) == 1, "the same statements, quotes and windows"
    [run_id] = await stage.submit("mines")
    assert await stage.play(run_id) is Outcome.PLAYED
    rows = await stage.rows("select f.*, s.body from facts f join snapshots s on s.hash = f.snapshot_hash")
    assert len(rows) == 2
    for row in rows:
        text = zstandard.decompress(row["body"]).decode()
        window = ReadingWindow.from_rows(row["window_pieces"])
        assert window == reading_window(text, row["quote_start"], row["quote_end"])
        assert row["window_hash"] == window.digest_of(text)
