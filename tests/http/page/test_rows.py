"""Rows as a browser gets them: each cell opens its fact, a gap says why, and the form takes columns."""

import json
import re
from uuid import UUID

import httpx2
from support.research_rows import Shelf

from chiron_workers.ids import new_id
from chiron_workers.runs.columns import Column, stored
from chiron_workers.states import ColumnType

HOSTILE = "<script>alert(1)</script> \"'><img src=x onerror=alert(2)>"


class Filled:
    """A batch with columns, its run and the fact behind its rows."""

    def __init__(self, shelf: Shelf, count: int = 3) -> None:
        shelf.subject("databases", "Databases")
        self.batch = shelf.batch("databases", "Releases")
        columns = [Column("name", description=HOSTILE), Column("year", ColumnType.INT), Column("source")]
        shelf.connection.execute(
            "update batches set columns = %s where id = %s", (json.dumps(stored(columns)), self.batch)
        )
        self.run = shelf.run("databases", self.batch, f"When? {HOSTILE}")
        self.fact = shelf.fact("databases", "PostgreSQL began in 1996.", "https://example.org")
        for n in range(1, count + 1):
            shelf.insert("answer_rows", run_id=self.run, n=n, id=new_id(), call_id="toolu_1")
            for place, value in enumerate([f"{HOSTILE} {n}", "1996", None]):
                rest = {"value": value, "fact_ids": [self.fact]} if value else {"reason": HOSTILE}
                shelf.insert("answer_cells", run_id=self.run, n=n, place=place, **rest)


async def test_a_batch_and_a_run_show_their_rows_with_a_link_to_each_fact(
    client: httpx2.AsyncClient, shelf: Shelf
):
    filled = Filled(shelf)
    for path in (f"/batches/{filled.batch}", f"/runs/{filled.run}", f"/batches/{filled.batch}/rows"):
        page = (await client.get(path)).text
        assert page.count(f'href="/facts/{filled.fact}" data-panel dir="auto">1996</a>') == 3, path
        assert "— &lt;script&gt;" in page
        assert page.count("value found, meaning unchecked") == 6, path
        assert "<script>alert" not in page
        assert "<img src=x" not in page
    for link in re.findall(r'href="(/v1/[^"]+)" download', page):
        answer = await client.get(link.replace("&amp;", "&"))
        assert answer.headers["content-disposition"].startswith("attachment"), link


async def test_many_rows_come_in_pages(client: httpx2.AsyncClient, shelf: Shelf):
    filled = Filled(shelf, count=60)
    first = (await client.get(f"/batches/{filled.batch}")).text
    assert first.count(">1996</a>") == 10
    assert f'href="/batches/{filled.batch}/rows">All rows</a>' in first
    page = (await client.get(f"/runs/{filled.run}/rows")).text
    assert page.count(">1996</a>") == 50
    [after] = re.findall(r'href="\?after=([0-9a-f-]+)">Next', page)
    last = (await client.get(f"/runs/{filled.run}/rows", params={"after": after})).text
    assert last.count(">1996</a>") == 10
    assert "Next</a>" not in last
    assert (await client.get(f"/runs/{filled.run}/rows?after=x")).status_code == 422


async def test_a_cell_whose_fact_was_withdrawn_says_so(client: httpx2.AsyncClient, shelf: Shelf):
    filled = Filled(shelf, count=1)
    shelf.connection.execute("update facts set status = 'withdrawn'")
    assert f"Fact {filled.fact} was withdrawn since." in (await client.get(f"/runs/{filled.run}")).text


async def test_what_has_no_columns_shows_no_rows(client: httpx2.AsyncClient, shelf: Shelf):
    shelf.subject("databases", "Databases")
    batch = shelf.batch("databases", "Words")
    run = shelf.run("databases", batch, "When?")
    for path in (f"/batches/{batch}", f"/runs/{run}"):
        assert 'id="rows"' not in (await client.get(path)).text
        assert (await client.get(f"{path}/rows")).status_code == 404
    assert (await client.get(f"/batches/{new_id()}/rows")).status_code == 404


async def test_the_form_takes_columns_and_says_what_is_wrong_with_them(client: httpx2.AsyncClient):
    fields = {"topics": "When?", "subject": "Databases", "columns": "name, year:int"}
    answer = await client.post("/submit", data=fields)
    assert answer.status_code == 303
    batch_id = UUID(answer.headers["location"].rpartition("/")[2])
    rows = (await client.get(f"/v1/batches/{batch_id}/rows")).json()
    assert [(column["name"], column["type"]) for column in rows["columns"]] == [
        ("name", "text"),
        ("year", "int"),
    ]
    assert "None yet. A run hands in its rows" in (await client.get(f"/batches/{batch_id}")).text
    wrong = await client.post("/submit", data=fields | {"columns": "name, name"})
    assert wrong.status_code == 422
    assert "number 2 is called" in wrong.text
    assert 'value="name, name"' in wrong.text
    preview = await client.post("/submit/estimate", data=fields | {"columns": "a:money"})
    assert "the types are text, int" in preview.text
