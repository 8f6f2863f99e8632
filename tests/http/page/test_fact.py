"""A fact with its proof, as a browser gets it."""

import html
import json
import re

import httpx2
import psycopg
import pytest
from support.research_rows import Shelf

from chiron_workers.settings import Settings

URL = "https://example.org/towers"
QUOTE = "The tower is <script>alert(1)</script> 330 m tall, برج, 塔 🗼."
HOSTILE = "<script>alert(1)</script> \"'><img src=x onerror=alert(2)> مرحبا 🙂 \u202eabc\x1b[31m"
MARK = re.compile(r'(.{0,40})<mark data-quote id="(?:panel-)?quote">(.*?)</mark>(.{0,40})', re.DOTALL)
PANEL = {"X-Part": "panel"}


@pytest.fixture
def shelf(shelf: Shelf) -> Shelf:
    """A shelf with a subject."""
    shelf.subject("towers")
    return shelf


@pytest.mark.parametrize(
    "before",
    [
        "",
        "A heading.\n",
        "🗼🗼 emoji 👩‍👩‍👧 first. ",
        "هذا برج طويل جدا. ",
        "这是一座很高的塔。" * 40,
        "<b>&amp; markup</b> ",
    ],
)
async def test_the_quote_is_marked_where_it_stands(client: httpx2.AsyncClient, shelf: Shelf, before: str):
    text = f"{before}{QUOTE} And after it."
    fact_id = shelf.fact("towers", "It is tall.", URL, quote=QUOTE, text=text)
    for headers in ({}, PANEL):
        answer = await client.get(f"/facts/{fact_id}", headers=headers)
        assert answer.status_code == 200
        assert "<script>alert" not in answer.text
        [match] = MARK.findall(answer.text)
        assert html.unescape(match[1]) == QUOTE
        assert html.unescape(match[0]).endswith(before[-5:])
        assert html.unescape(match[2]).startswith(" And after it.")


async def test_a_long_text_is_shown_around_its_quote_and_leads_on(client: httpx2.AsyncClient, shelf: Shelf):
    text = "Before it stands a line of words.\n" * 3_000 + QUOTE + "\nAfter it stands another line." * 3_000
    fact_id = shelf.fact("towers", "It is tall.", URL, quote=QUOTE, text=text)
    answer = await client.get(f"/facts/{fact_id}")
    assert len(answer.text) < 20_000
    assert "Before it stands" in answer.text
    assert "After it stands" in answer.text
    earlier, later = (html.unescape(link) for link in re.findall(r'href="([^"]+;at=\d+)"', answer.text))
    for link in (earlier, later):
        stretch = await client.get(link)
        assert "<mark" not in stretch.text
        assert "Back to the quote" in stretch.text
    assert "After it stands" not in (await client.get(earlier)).text
    assert (await client.get(f"/facts/{fact_id}?at=999999999")).status_code == 200


async def test_the_stretches_of_a_text_leave_nothing_out(client: httpx2.AsyncClient, shelf: Shelf):
    text = "".join(f"Line {n} of the text.\n" for n in range(2_000))
    fact_id = shelf.fact("towers", "It is tall.", URL, quote="Line 0 of the text.", text=text)
    path, pieces = f"/facts/{fact_id}?at=0", []
    while path:
        page = (await client.get(path)).text
        [piece] = re.findall(r'aria-label="What the source said">(.*?)</div>', page, re.DOTALL)
        pieces.append(html.unescape(re.sub(r"</?mark[^>]*>", "", piece)))
        links = re.findall(r'href="([^"]+)"[^>]*>Further', page)
        path = html.unescape(links[0]) if links else ""
    assert "".join(pieces) == text


async def test_each_source_has_its_tab(client: httpx2.AsyncClient, shelf: Shelf):
    fact_id = shelf.fact("towers", "It is tall.", URL, quote="Tall.", text="Tall. Indeed.")
    shelf.confirm(fact_id, "It is high.", "https://b.example.com/", quote="High.", text="So: High. Yes.")
    first = await client.get(f"/facts/{fact_id}")
    second = await client.get(f"/facts/{fact_id}?source=2")
    assert MARK.findall(first.text)[0][1] == "Tall."
    assert MARK.findall(second.text)[0][1] == "High."
    assert f'href="/facts/{fact_id}?source=2" aria-current="true"' in second.text
    assert 'href="https://b.example.com/" rel="noreferrer' in second.text
    assert (await client.get(f"/facts/{fact_id}?source=99")).status_code == 200
    assert (await client.get(f"/facts/{fact_id}?source=x")).status_code == 422


async def test_the_panel_is_a_part_and_the_page_a_whole(client: httpx2.AsyncClient, shelf: Shelf):
    fact_id = shelf.fact("towers", "It is tall.", URL, quote="Tall.", text="Tall.")
    whole = (await client.get(f"/facts/{fact_id}")).text
    part = (await client.get(f"/facts/{fact_id}", headers=PANEL)).text
    assert whole.startswith("<!doctype html>")
    assert "<html" not in part
    assert 'id="panel-quote"' in part
    assert 'href="#quote"' in whole


async def test_a_fact_is_withdrawn_and_reinstated_with_a_reason(
    client: httpx2.AsyncClient, shelf: Shelf, settings: Settings
):
    fact_id = shelf.fact("towers", "It is tall.", URL, quote="Tall.", text="Tall.")
    path = f"/facts/{fact_id}"
    answer = await client.post(f"{path}/withdraw", data={"reason": "Not <b>so</b>."})
    assert (answer.status_code, answer.headers["location"]) == (303, path)
    page = (await client.get(path)).text
    assert "state withdrawn" in page
    assert "withdrawn: Not &lt;b&gt;so&lt;/b&gt;." in page
    assert f'action="{path}/reinstate"' in page
    await client.post(f"{path}/reinstate", data={"reason": "It is."})
    with psycopg.connect(settings.database_url) as connection:
        [status] = connection.execute("select status from facts").fetchone() or ()
    assert status != "withdrawn"
    assert "brought back: It is." in (await client.get(path)).text
    assert (await client.post(f"{path}/withdraw", data={"reason": "x" * 1_001})).status_code == 422


async def test_a_fact_without_a_kept_text_says_so(client: httpx2.AsyncClient, shelf: Shelf):
    fact_id = shelf.fact("towers", "It is tall.", "file:///home/me/towers.pdf", quote="Tall <i>.")
    page = (await client.get(f"/facts/{fact_id}")).text
    assert "was not kept" in page
    assert "Tall &lt;i&gt;." in page
    assert 'href="file:' not in page
    assert "<mark" not in page


async def test_a_quote_that_was_not_found_is_not_marked(client: httpx2.AsyncClient, shelf: Shelf):
    digest = shelf.source(URL, "Something else.")
    fact_id = shelf.fact("towers", "It is tall.", URL, quote="Tall.", snapshot_hash=digest)
    page = (await client.get(f"/facts/{fact_id}")).text
    assert "were not found in what the source gave" in page
    assert "Something else." in page
    assert "<mark" not in page


async def test_there_is_no_such_fact(client: httpx2.AsyncClient):
    for name in ("no-id", "0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa"):
        assert (await client.get(f"/facts/{name}")).status_code == 404
        assert (await client.post(f"/facts/{name}/withdraw", data={"reason": ""})).status_code == 404


async def test_contradictions_stand_as_pairs(client: httpx2.AsyncClient, shelf: Shelf):
    fact_id = shelf.fact(
        "towers", "It is 330 m tall.", URL, contradictions=json.dumps(["It has <no> height."])
    )
    other_id = shelf.fact("towers", "It is 300 m tall.", "https://c.example.com/", status="disputed")
    shelf.link(fact_id, other_id, "contradicts")
    page = (await client.get(f"/facts/{fact_id}")).text
    [pair] = re.findall(r'<div class="pair".*?</div>\n<p.*?</p>', page, re.DOTALL)
    assert "It is 330 m tall." in pair
    assert f'href="/facts/{other_id}" data-panel>It is 300 m tall.' in pair
    assert "Told by rule: The figures differ." in pair
    assert "It has &lt;no&gt; height." in page
    back = (await client.get(f"/facts/{other_id}")).text
    assert f'href="/facts/{fact_id}" data-panel>It is 330 m tall.' in back


async def test_words_of_strangers_never_become_markup(client: httpx2.AsyncClient, shelf: Shelf):
    words = HOSTILE.replace("\x00", "")
    fact_id = shelf.fact(
        "towers", words, f"javascript:alert('{HOSTILE}')", quote=words, text=f"{words} in {words}"
    )
    other_id = shelf.fact("towers", words + "2", "https://c.example.com/" + words, path=words)
    shelf.link(fact_id, other_id, "contradicts", reason=words)
    shelf.change(fact_id, reason=words)
    shelf.confirm(fact_id, words, URL, quote=words, text=words)
    for query in ("", "?source=2"):
        for headers in ({}, PANEL):
            text = (await client.get(f"/facts/{fact_id}{query}", headers=headers)).text
            for mark in ("<script>alert", "<img", "\u202e", "\x1b", 'href="javascript:'):
                assert mark not in text, mark


async def test_what_the_verdict_rests_on_is_shown_beside_the_quote(client: httpx2.AsyncClient, shelf: Shelf):
    prose = "\n\n".join(["The tower is described here in many words."] * 400)
    text = f"Towers\n\nRETRACTED <b>by</b> its authors\n\n{prose}\n\nMyths\n\n{QUOTE}\n\n{prose}\n\nLast updated in 2004"
    fact_id = shelf.fact("towers", "It is tall.", URL, quote=QUOTE, text=text)
    words = html.unescape((await client.get(f"/facts/{fact_id}")).text)
    _, _, window = words.partition("The text around the quote that was judged with it")
    for part in ("page head", "RETRACTED", "section", "Myths", "page foot", "Last updated in 2004"):
        assert part in window
    [assertion] = (await client.get(f"/v1/facts/{fact_id}")).json()["assertions"]
    assert [text[piece["start"] : piece["end"]] for piece in assertion["window"]] == [
        piece["text"] for piece in assertion["window"]
    ]
    assert len(assertion["window_hash"]) == 64
