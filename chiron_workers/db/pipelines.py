from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from chiron_workers.db.connect import Query


@dataclass(frozen=True, slots=True)
class Statement:
    """A query with its arguments. `prepare` False: planned for these on every call. True: one plan may serve all."""

    query: Query
    args: Mapping[str, Any] | None = None
    prepare: bool | None = None


async def send(connection: AsyncConnection[DictRow], statements: Sequence[Statement]) -> list[list[DictRow]]:
    """Run statements that go out together and are waited for once; the rows of each, none where it returns none.

    Postgres runs them in order, each as if it were sent alone. Where one fails, those after it are not run.
    """
    async with connection.pipeline():
        cursors = [
            await connection.execute(statement.query, statement.args, prepare=statement.prepare)
            for statement in statements
        ]
    return [await cursor.fetchall() if cursor.description else [] for cursor in cursors]
