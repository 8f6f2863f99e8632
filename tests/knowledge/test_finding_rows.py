"""The rows of findings are tuples, so their fields have to stand in the order of the columns."""

from typing import NamedTuple

import pytest

from chiron_workers.db.connect import Pool
from chiron_workers.knowledge.finding_rows import SQL, AssertionRow, FactRow


@pytest.mark.parametrize(
    ("name", "row"), [("facts_of_findings", FactRow), ("assertions_of_findings", AssertionRow)]
)
async def test_fields_stand_in_the_order_of_the_columns(pool: Pool, name: str, row: type[NamedTuple]) -> None:
    async with pool.connection() as connection:
        cursor = await connection.execute(SQL[name], {"fact_ids": "{}"})
    assert tuple(column.name for column in cursor.description or ()) == row._fields
