"""Search over the facts, as a browser gets it."""

import html
import re

import httpx2
import pytest
from support.facts_with_vectors import keep
from support.research_rows import Shelf

from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder

HOSTILE = "<script>alert(1)</script> \"'><img src=x onerror=alert(2)> مرحبا 🙂 \u202eabc\x1b[31m"


@pytest.fixture
async def stored(pool: Pool, embedder: Embedder) -> None:
    """Two facts about towers."""
    await keep(pool, embedder, "The tower is 330 metres tall.", subject_id="towers")
    await keep(pool, embedder, "Rivets hold the iron.", subject_id="towers")


def contents_of(page: str) -> list[str]:
    return [html.unescape(text) for text in re.findall(r"data-panel>([^<]*)</a></p>", page)]


async def test_without_facts_it_teaches_the_next_step(client: httpx2.AsyncClient):
    answer = await client.get("/search")
    assert answer.status_code == 200
    assert "Nothing was stored here yet" in answer.text
    assert 'href="/submit"' in answer.text


async def test_without_a_question_the_newest_facts_that_fit_are_shown(
    client: httpx2.AsyncClient, shelf: Shelf
):
    for n in range(30):
        shelf.fact(
            shelf.subject("a") if n == 0 else "a", f"Fact {n}.", "https://a.example.org/", f"x/{n % 2}"
        )
    shelf.fact(shelf.subject("b"), "Elsewhere.", "https://b.example.org/", status="candidate", confidence=0.4)
    first = (await client.get("/search")).text
    assert contents_of(first) == [f"Fact {n}." for n in range(29, 4, -1)]
    [link] = re.findall(r'href="([^"]+)" rel="next"', first)
    assert contents_of((await client.get(html.unescape(link))).text) == [
        f"Fact {n}." for n in range(4, -1, -1)
    ]
    fitting = {
        "?subject=b": [],
        "?subject=b&candidates=true": ["Elsewhere."],
        "?candidates=true&source=b.example.org": ["Elsewhere."],
        "?topic_path=x/1&since=2026-01-01&until=2026-12-31": [f"Fact {n}." for n in range(29, 0, -2)],
        "?until=2026-01-01": [],
        "?min_confidence=0.95": [],
    }
    for query, contents in fitting.items():
        assert contents_of((await client.get(f"/search{query}")).text) == contents, query


async def test_a_question_finds_facts_with_a_score(client: httpx2.AsyncClient, stored: None):
    page = (await client.get("/search?q=tower&mode=text")).text
    assert contents_of(page) == ["The tower is 330 metres tall."]
    assert "score 0." in page or "score 1." in page
    assert 'value="tower"' in page


async def test_what_fits_nothing_says_what_may_help(client: httpx2.AsyncClient, stored: None):
    page = (await client.get("/search?q=zebra&mode=text&subject=towers")).text
    assert "Nothing fits" in page
    assert "without filters" in page
    assert html.escape("/search?q=zebra&subject=towers&mode=text&candidates=true") in page
    assert html.escape("/submit?topics=zebra&subject=towers") in page


async def test_a_question_without_meaning_finds_nothing_and_says_so(client: httpx2.AsyncClient, stored: None):
    page = (await client.get("/search?q=" + "x" * 2_000)).text
    assert contents_of(page) == []
    assert "Nothing fits" in page


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("min_confidence=2", "min_confidence"),
        ("min_confidence=much", "min_confidence"),
        ("since=yesterday", "since"),
        ("until=2026-13-01", "until"),
        ("mode=magic", "mode"),
        ("candidates=perhaps", "candidates"),
        ("topic_path=//", "topic_path"),
        ("subject=%21%21", "subject"),
        ("source=" + "x" * 2_001, "source"),
        ("q=" + "x" * 4_001, "q"),
        ("page=9", "page"),
    ],
)
async def test_a_bad_filter_is_said_beside_its_field(
    client: httpx2.AsyncClient, stored: None, query: str, field: str
):
    answer = await client.get(f"/search?{query}")
    assert answer.status_code == 422
    assert f'id="{field}-problem" role="alert"' in answer.text
    assert 'action="/search"' in answer.text


async def test_words_of_strangers_never_become_markup(client: httpx2.AsyncClient, shelf: Shelf):
    shelf.subject("towers", title=HOSTILE)
    shelf.fact(
        "towers", HOSTILE, f"javascript:{HOSTILE}", HOSTILE, quote=HOSTILE + "!", ground="source changed"
    )
    for params in (
        {},
        {"q": HOSTILE, "mode": "text"},
        dict.fromkeys(("q", "subject", "since", "mode"), HOSTILE),
    ):
        text = (await client.get("/search", params=params)).text
        for mark in ("<script>alert", "<img", "\u202e", "\x1b", 'href="javascript:'):
            assert mark not in text, mark


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("min_confidence", "much", "Write a number from 0 to 1, such as 0.8."),
        ("min_confidence", "2", "Write a number from 0 to 1, such as 0.8."),
        ("since", "yesterday", "Write a day such as 2026-03-01, or leave it empty."),
        ("mode", "magic", "Choose one of"),
        ("page", "99", "Choose a page from 1 to"),
    ],
)
async def test_what_is_wrong_in_a_field_is_a_sentence_that_says_what_to_write(
    client: httpx2.AsyncClient, field: str, text: str, words: str
):
    answer = await client.get("/search", params={field: text})
    assert answer.status_code == 422
    assert f'id="{field}-problem" role="alert" dir="auto">{words}' in answer.text
    assert "Input should be" not in answer.text


async def test_an_unknown_subject_gets_the_nearest_names(client: httpx2.AsyncClient):
    await client.post("/subjects", data={"title": "Sea ice"})
    answer = await client.get("/search", params={"q": "ice", "subject": "sea-icee"})
    assert answer.status_code == 422
    assert "There is no subject &#39;sea-icee&#39;. The nearest: sea-ice." in answer.text
