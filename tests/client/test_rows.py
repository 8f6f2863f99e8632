"""Rows in the client: asked for with columns, read one by one or as a table."""

from uuid import UUID

import pytest
from support.api_server import api_client
from support.research_rows import Shelf

from chiron_api.client import AsyncChiron, Column, NotFound
from chiron_api.local_stack.access import api_key
from chiron_workers.ids import new_id
from chiron_workers.settings import Settings

COLUMNS = ["name", "year:int", Column("free", "bool", "Is it free software?")]


def fill(shelf: Shelf, run_id: UUID, count: int) -> None:
    fact = shelf.fact("databases", "PostgreSQL began in 1996.", "https://example.org")
    for n in range(1, count + 1):
        shelf.insert("answer_rows", run_id=run_id, n=n, id=new_id(), call_id="toolu_1")
        for place, value in enumerate([f"name {n}", "1996", "true"]):
            shelf.insert("answer_cells", run_id=run_id, n=n, place=place, value=value, fact_ids=[fact])


async def test_rows_are_read_over_all_pages_and_as_a_table(settings: Settings, shelf: Shelf) -> None:
    async with api_client(settings) as api, AsyncChiron(str(api.base_url), api_key(settings)) as chiron:
        receipt = await chiron.submit(["When?"], subject="Databases", columns=COLUMNS)
        fill(shelf, receipt.run_ids[0], 150)
        rows = [row async for row in chiron.rows(receipt)]
        assert [row.n for row in rows] == list(range(1, 151))
        values = [cell.value for cell in rows[0].cells.values()]
        assert values == ["name 1", 1996, True]
        assert [type(value) for value in values] == [str, int, bool]
        of_run = [row async for row in chiron.rows(run=receipt.run_ids[0])]
        assert of_run == rows
        table = await chiron.rows_document(receipt)
        assert table.decode().splitlines()[1].startswith("When?,name 1,1996,true,")
        assert (await chiron.rows_document(receipt, format="xlsx")).startswith(b"PK")
        plain = await chiron.start("When?", subject="Databases")
        with pytest.raises(NotFound, match="submitted without columns"):
            await chiron.rows_document(run=plain)
