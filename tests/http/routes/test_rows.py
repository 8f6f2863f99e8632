"""Rows over HTTP: asked for with columns, given as pages of JSON or as one table."""

import csv
import io
from uuid import UUID

import httpx2
import pytest
from python_calamine import CalamineWorkbook
from support.research_rows import Shelf

from chiron_workers.ids import new_id

BATCH = {"topics": ["When?"], "subject": "Databases"}
COLUMNS = ["name", "year:int", {"name": "page", "type": "url", "description": "Of the project"}]


async def submitted(client: httpx2.AsyncClient, **more: object) -> dict:
    answer = await client.post("/v1/batches", json=BATCH | {"columns": COLUMNS} | more)
    assert answer.status_code == 202, answer.text
    return answer.json()


def fill(shelf: Shelf, run_id: str, *years: int) -> UUID:
    """Rows as a run hands them in, one for each year."""
    fact = shelf.fact("databases", "PostgreSQL began in 1996.", "https://example.org")
    for n, year in enumerate(years, start=1):
        shelf.insert("answer_rows", run_id=run_id, n=n, id=new_id(), call_id="toolu_1")
        for place, value in enumerate(["=PostgreSQL", str(year), None]):
            rest = {"value": value, "fact_ids": [fact]} if value else {"reason": "No page says so."}
            shelf.insert("answer_cells", run_id=run_id, n=n, place=place, **rest)
    return fact


async def test_rows_come_in_pages_with_their_columns(client: httpx2.AsyncClient, shelf: Shelf):
    receipt = await submitted(client)
    fact = fill(shelf, receipt["run_ids"][0], 1996, 1997, 1998)
    path = f"/v1/batches/{receipt['batch_id']}/rows"
    first = (await client.get(path, params={"limit": 2})).json()
    assert first["columns"] == [
        {"name": "name", "type": "text", "description": ""},
        {"name": "year", "type": "int", "description": ""},
        {"name": "page", "type": "url", "description": "Of the project"},
    ]
    rest = (await client.get(path, params={"limit": 2, "after": first["next"]})).json()
    rows = first["items"] + rest["items"]
    assert [row["cells"]["year"]["value"] for row in rows] == [1996, 1997, 1998]
    assert rest["next"] is None
    assert rows[0]["cells"]["name"]["facts"][0]["id"] == str(fact)
    assert rows[0]["cells"]["page"] == {
        "value": None, "facts": [], "reason": "No page says so.", "found_by": "", "changes": [],
        "verdict": None, "mark": "", "calculation": "",
    }  # fmt: skip
    of_run = (await client.get(f"/v1/runs/{receipt['run_ids'][0]}/rows")).json()
    assert of_run["items"] == rows


async def test_a_table_has_all_rows_and_no_formula(client: httpx2.AsyncClient, shelf: Shelf):
    receipt = await submitted(client)
    fill(shelf, receipt["run_ids"][0], 1996, 1997)
    path = f"/v1/batches/{receipt['batch_id']}/rows"
    table = await client.get(path, params={"format": "csv"})
    assert table.headers["Content-Type"].startswith("text/csv")
    assert table.headers["Content-Disposition"] == 'attachment; filename="rows.csv"'
    lines = list(csv.reader(io.StringIO(table.text)))
    assert [line[:4] for line in lines[1:]] == [
        ["When?", "'=PostgreSQL", "1996", ""], ["When?", "'=PostgreSQL", "1997", ""]
    ]  # fmt: skip
    workbook = await client.get(path, params={"format": "xlsx"})
    assert workbook.headers["Content-Disposition"] == 'attachment; filename="rows.xlsx"'
    sheet = CalamineWorkbook.from_filelike(io.BytesIO(workbook.content)).get_sheet_by_name("Rows")
    mark = "value found, meaning unchecked: name, year"
    assert sheet.to_python()[1] == ["When?", "=PostgreSQL", 1996, "", mark]
    for more in ({"after": str(new_id())}, {"limit": "5"}):
        refused = await client.get(path, params={"format": "csv"} | more)
        assert (refused.status_code, "goes with format=json" in refused.text) == (422, True)


async def test_a_run_of_its_own_takes_columns_too(client: httpx2.AsyncClient, shelf: Shelf):
    body = {"topic": "When?", "subject": "Databases", "columns": ["name", "year:int", "page:url"]}
    receipt = (await client.post("/v1/runs", json=body)).json()
    fill(shelf, receipt["run_id"], 1996)
    rows = (await client.get(f"/v1/runs/{receipt['run_id']}/rows")).json()
    assert [column["type"] for column in rows["columns"]] == ["text", "int", "url"]
    assert len(rows["items"]) == 1


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ([], "columns"),
        (["a", "A"], "as one before it is"),
        (["a:money"], "the types are text, int"),
        ([{"name": "a", "type": "money"}], "columns"),
        ([{"name": "a", "kind": "int"}], "kind"),
        ([{"name": "=a"}], "cannot be called '=a'"),
        ([f"c{n}" for n in range(1_000)], "columns"),
        ("a,b", "columns"),
        ([None], "columns"),
    ],
)
async def test_columns_that_cannot_be_are_refused(client: httpx2.AsyncClient, columns: object, words: str):
    answer = await client.post("/v1/batches", json=BATCH | {"columns": columns})
    assert answer.status_code == 422
    assert words in answer.text
    assert (await client.get("/v1/batches")).json()["items"] == []


async def test_a_key_that_was_used_with_other_columns_is_refused(client: httpx2.AsyncClient):
    headers = {"Idempotency-Key": "k"}
    first = await client.post("/v1/batches", json=BATCH | {"columns": ["a"]}, headers=headers)
    again = await client.post("/v1/batches", json=BATCH | {"columns": ["a"]}, headers=headers)
    other = await client.post("/v1/batches", json=BATCH | {"columns": ["b"]}, headers=headers)
    assert (first.status_code, again.json(), other.status_code) == (202, first.json(), 422)


async def test_what_has_no_columns_has_no_rows(client: httpx2.AsyncClient):
    receipt = (await client.post("/v1/batches", json=BATCH)).json()
    for path in (
        f"/v1/batches/{receipt['batch_id']}/rows",
        f"/v1/runs/{receipt['run_ids'][0]}/rows",
        f"/v1/batches/{receipt['run_ids'][0]}/rows",
        f"/v1/batches/{new_id()}/rows",
    ):
        assert (await client.get(path)).status_code == 404, path
