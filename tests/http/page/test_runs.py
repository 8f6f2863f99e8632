"""The list of all runs: filters that stand in the address, pages by key, and a count that ends somewhere."""

import re
from uuid import UUID

import httpx2
import pytest
from support.research_rows import Shelf

from chiron_api.http.page.runs import listing
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.states import AccessScope


def topics_of(answer: httpx2.Response) -> list[str]:
    """The topics of the list, in its order."""
    return re.findall(
        r'<tr data-row data-key="[^"]+"><td><a href="/runs/[^"]+" dir="auto">([^<]*)</a>', answer.text
    )


def stored_runs(shelf: Shelf) -> UUID:
    """Four runs of a batch, one in each of some states; its id."""
    moss, batch = shelf.subject("moss"), shelf.batch("moss", "Moss of the north")
    more = (
        {
            "topic": "Bark",
            "state": "failed",
            "error": '{"kind": "turns", "message": "It used all its turns."}',
        },
        {"topic": "Stone", "model": "offline"},
        {"topic": "Sand", "facts": 0},
        {"topic": "Water <b>", "state": "queued"},
    )
    for n, columns in enumerate(more, start=1):
        shelf.run(moss, batch, number=n, **columns)
    return batch


@pytest.mark.parametrize(
    ("query", "topics"),
    [
        ("", ["Water &lt;b&gt;", "Sand", "Stone", "Bark"]),
        ("?state=nothing_found", ["Sand"]),
        ("?nothing_found=true", ["Sand"]),
        ("?state=failed&subject=&model=", ["Bark"]),
        ("?model=offline", ["Stone"]),
        ("?topic=wATER", ["Water &lt;b&gt;"]),
        ("?subject=Moss&since=yesterday&owner=local&topic=s", ["Sand", "Stone"]),
        ("?subject=ferns", []),
    ],
)
async def test_runs_page_lists_the_runs_that_its_address_names(
    client: httpx2.AsyncClient, shelf: Shelf, query: str, topics: list[str]
):
    stored_runs(shelf)
    answer = await client.get(f"/runs{query}")
    assert answer.status_code == 200
    assert topics_of(answer) == topics
    assert (f"{len(topics)} run" in answer.text) is True


async def test_runs_page_counts_the_facts_that_an_answer_met_as_its_own(
    client: httpx2.AsyncClient, shelf: Shelf
):
    shelf.run("moss", shelf.batch(shelf.subject("moss")), "Bark", facts=1, confirmed=2, cited=4)
    assert 'data-label="facts">7<' in (await client.get("/runs")).text


async def test_runs_page_keeps_its_filters_in_its_form_and_its_links(
    client: httpx2.AsyncClient, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(listing, "RUNS_PER_PAGE", 1)
    monkeypatch.setattr(listing, "COUNTED_MAX", 2)
    batch = stored_runs(shelf)
    seen: list[str] = []
    path = f"/runs?topic=a&batch={batch}&since=7d"
    while path:
        answer = await client.get(path)
        seen += topics_of(answer)
        assert "more than 2 runs" in answer.text
        assert 'name="topic" value="a"' in answer.text
        assert f'name="batch" value="{batch}"' in answer.text
        assert 'name="since" value="7d"' in answer.text
        older = re.search(r'href="([^"]+)" rel="next"', answer.text)
        path = older[1].replace("&amp;", "&") if older else ""
    assert seen == ["Water &lt;b&gt;", "Sand", "Bark"]


async def test_runs_page_says_what_is_wrong_with_a_filter_and_keeps_the_others(
    client: httpx2.AsyncClient, shelf: Shelf
):
    stored_runs(shelf)
    for query, words in (("since=soon", "yesterday"), ("state=asleep", "state"), ("after=x", "after")):
        answer = await client.get(f"/runs?{query}&subject=moss")
        assert answer.status_code == 422
        assert 'role="alert"' in answer.text
        assert words in answer.text
        assert 'name="subject" value="moss"' in answer.text
    assert (await client.get("/runs?topic=%00&subject=mo%00ss")).status_code == 200


async def test_runs_page_shows_a_key_the_runs_of_its_owner_alone(
    api: httpx2.AsyncClient, client: httpx2.AsyncClient, shelf: Shelf, pool: Pool
):
    stored_runs(shelf)
    key, _ = await create_key(pool, NewKey("alice", AccessScope.SUBMIT))
    alice = {"Authorization": f"Bearer {key}"}
    await api.post("/v1/runs", json={"topic": "Ferns", "subject": "Ferns"}, headers=alice)
    own = await api.get("/runs", headers=alice)
    assert topics_of(own) == ["Ferns"]
    assert 'name="owner"' not in own.text
    assert "local" not in own.text
    assert 'option value="moss"' not in own.text
    assert topics_of(await api.get("/runs?owner=local", headers=alice)) == []
    everything = await client.get("/runs")
    assert len(topics_of(everything)) == 5
    assert 'option value="alice"' in everything.text


async def test_an_empty_list_of_runs_says_how_to_begin(client: httpx2.AsyncClient):
    answer = await client.get("/runs")
    assert 'href="/submit">Submit topics' in answer.text


async def test_page_of_a_run_marks_the_runs_in_the_navigation(client: httpx2.AsyncClient, shelf: Shelf):
    run_id = shelf.run("moss", shelf.batch(shelf.subject("moss")), "Bark")
    page = (await client.get(f"/runs/{run_id}")).text
    assert re.findall(r'<a href="([^"]+)" aria-current="page">', page) == ["/runs"]
