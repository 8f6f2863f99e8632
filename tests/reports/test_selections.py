"""The selectors of a report in JSON lead to the quotes in the kept texts."""

import hashlib
import json
from urllib.parse import urlsplit

import zstandard

from chiron_api.reports.formats import json as json_format
from chiron_api.reports.gathering import gather

ASTRAL = (
    "🧊🧊 Ice is cold.\n\nThe mean thickness was 1.9 m in winter. Ice is cold. e\u0301 "
    "The mean thickness was 2.1 m in spring."
)
TWICE = "The ice is thin here. The ice is thin here. The ice is thin here."


def citations_of(report) -> list[dict]:
    document = json.loads("".join(json_format.render(report)))
    findings = [finding for section in document["sections"] for finding in section["findings"]]
    return [citation for finding in findings + document["asides"] for citation in finding["citations"]]


def find_by_words(text: str, selector: dict) -> list[int]:
    """Where a TextQuoteSelector leads to, by the words alone, as another program resolves it."""
    passage = selector["prefix"] + selector["exact"] + selector["suffix"]
    places = [at for at in range(len(text)) if text.startswith(passage, at)]
    return [at + len(selector["prefix"]) for at in places]


async def test_every_selector_resolves_in_the_text_of_its_hash(sea_ice, pool):
    shelf = sea_ice.shelf
    for n, quote in enumerate(
        ("The mean thickness was 1.9 m in winter.", "The mean thickness was 2.1 m in spring.")
    ):
        shelf.fact(
            "sea-ice",
            quote,
            f"https://astral{n}.org/",
            "thickness",
            quote=quote,
            text=ASTRAL,
            run_id=sea_ice.run,
        )
    shelf.fact(
        "sea-ice", "The ice is thin.", "https://twice.org/", "thin", quote="The ice is thin here.", text=TWICE,
        run_id=sea_ice.run,
    )  # fmt: skip
    shelf.connection.execute(
        "update facts set quote_start = 22, quote_end = 43 where source_url = 'https://twice.org/'"
    )
    rows = shelf.connection.execute("select hash, body from snapshots").fetchall()
    texts = {digest: zstandard.decompress(body).decode() for digest, body in rows}
    citations = citations_of(await gather(pool, sea_ice.batch, with_selections=True))
    targets = [citation["target"] for citation in citations if citation["is_verified"]]
    assert len(targets) == 6
    for target in targets:
        words, position = target["selector"]
        assert (words["type"], position["type"]) == ("TextQuoteSelector", "TextPositionSelector")
        cached = urlsplit(target["state"]["cached"])
        assert (cached.scheme, cached.netloc) == ("hash", "sha256")
        text = texts[cached.path.strip("/")]
        assert hashlib.sha256(text.encode()).hexdigest() == cached.path.strip("/")
        assert text[position["start"] : position["end"]] == words["exact"]
        assert find_by_words(text, words) == [position["start"]]
        assert len(words["prefix"]) >= min(32, position["start"])
        assert len(words["suffix"]) >= min(32, len(text) - position["end"])
        assert target["state"]["sourceDate"] == "2026-03-01T12:00:00+00:00"


async def test_what_is_not_verified_or_not_asked_for_has_no_selector(sea_ice, pool):
    citations = citations_of(await gather(pool, sea_ice.batch, with_selections=True))
    assert {citation["target"] for citation in citations if not citation["is_verified"]} == {None}
    assert {citation["target"] for citation in citations_of(await gather(pool, sea_ice.batch))} == {None}


async def test_a_row_that_does_not_agree_with_its_text_has_no_selector(sea_ice, pool):
    sea_ice.shelf.connection.execute(
        "update facts set quote_start = quote_start + 1 where quote_start is not null"
    )
    citations = citations_of(await gather(pool, sea_ice.batch, with_selections=True))
    assert {citation["target"] for citation in citations} == {None}
