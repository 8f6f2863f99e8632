"""The page of a batch: its runs with the beginning of their answers and the facts that they met."""

import json
import re
from uuid import UUID

import httpx2
from support.research_rows import Shelf

ANSWER = "# Moss\n\nI read two pages. Moss holds **water** [1]. It has no roots [2]. A third sentence."
SUMMARY = "Moss holds water. It has no roots."


def row_of(html: str, run_id: UUID | str) -> str:
    """The row of a run in a table of runs."""
    row = re.search(rf'<tr data-row data-key="{run_id}">.*?</tr>', html, re.S)
    assert row
    return row[0]


async def test_batch_page_shows_below_each_topic_how_its_answer_begins(
    client: httpx2.AsyncClient, shelf: Shelf
):
    batch = shelf.batch(shelf.subject("moss"))
    answered = shelf.run("moss", batch, "Water", answer=ANSWER + " x" * 9_000)
    empty = shelf.run("moss", batch, "Ferns", number=2, facts=0, answer="I found nothing about ferns.")
    hostile = shelf.run("moss", batch, "Bark", number=3, answer="It is <b>bark</b>.")
    running = shelf.run("moss", batch, "Stone", number=4, state="running", finished_at=None)
    page = (await client.get(f"/batches/{batch}")).text
    assert f'dir="auto">{SUMMARY}</div>' in row_of(page, answered)
    assert row_of(page, empty).count("nothing found") == 1
    assert "about ferns" not in row_of(page, empty)
    assert "It is &lt;b&gt;bark&lt;/b&gt;." in row_of(page, hostile)
    assert "<div" not in row_of(page, running)


async def test_batch_page_counts_and_sorts_by_the_facts_that_its_runs_met(
    client: httpx2.AsyncClient, shelf: Shelf
):
    batch = shelf.batch(shelf.subject("moss"))
    stored = shelf.run("moss", batch, "Water", facts=3)
    cited = shelf.run("moss", batch, "Bark", number=2, facts=0, confirmed=1, cited=4)
    page = (await client.get(f"/batches/{batch}?order=facts")).text
    assert 'data-label="facts">5<' in row_of(page, cited)
    assert re.findall(r'<tr data-row data-key="([^"]+)">', page) == [str(cited), str(stored)]
    assert 'data-label="facts">8<' in (await client.get("/batches")).text
    shelf.connection.execute("update runs set state = 'running', finished_at = null where topic = 'Bark'")
    home = (await client.get("/")).text
    assert 'data-label="facts">8<' in home.partition('id="band-running"')[2].partition("</section>")[0]


async def test_row_of_a_run_changes_when_its_answer_comes(client: httpx2.AsyncClient, shelf: Shelf):
    submission = await client.post("/v1/batches", json={"topics": ["Water", "Bark"], "subject": "moss"})
    batch_id, [run_id, other_id] = submission.json()["batch_id"], submission.json()["run_ids"]
    page = (await client.get(f"/batches/{batch_id}")).text
    address = re.search(r'data-live="([^"]+)"', page)
    assert address
    shelf.connection.execute(
        "update runs set state = 'completed', answer = %s, facts = 2 where id = %s", (ANSWER, run_id)
    )
    async with client.stream("GET", address[1].replace("&amp;", "&")) as stream:
        async for line in stream.aiter_lines():
            if line.startswith("data:") and SUMMARY in line:
                part = json.loads(line.removeprefix("data:"))
                break
    assert part["target"] == "runs"
    assert SUMMARY in row_of(part["html"], run_id)
    assert row_of(part["html"], other_id) == row_of(page, other_id)
