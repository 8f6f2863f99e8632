from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import AsyncConnection, AsyncCursor, AsyncPipeline, generators
from psycopg.abc import PQGen
from psycopg.rows import AsyncRowFactory, DictRow

from chiron_workers.db.connect import Query


@dataclass(frozen=True, slots=True)
class Statement:
    """A query with its arguments. `prepare` False: planned for these on every call. True: one plan may serve all.

    `row_factory` makes its rows, where they are to be something else than dicts.
    """

    query: Query
    args: Mapping[str, Any] | None = None
    prepare: bool | None = None
    row_factory: AsyncRowFactory[Any] | None = None


async def send(connection: AsyncConnection[DictRow], statements: Sequence[Statement]) -> list[list[DictRow]]:
    """Run statements that go out together and are waited for once; the rows of each, none where it returns none.

    Postgres runs them in order, each as if it were sent alone. Where one fails, those after it are not run.
    """
    if len(statements) == 1:
        cursors = await _execute(connection, statements)
    else:
        pipeline = connection._pipeline = _Pipeline(connection)
        try:
            async with pipeline:
                cursors = await _execute(connection, statements)
        finally:
            connection._pipeline = None
    return [await cursor.fetchall() if cursor.description else [] for cursor in cursors]


async def _execute(
    connection: AsyncConnection[DictRow], statements: Sequence[Statement]
) -> list[AsyncCursor[DictRow]]:
    return [
        await connection.cursor(row_factory=statement.row_factory or connection.row_factory).execute(
            statement.query, statement.args, prepare=statement.prepare
        )
        for statement in statements
    ]


class _Pipeline(AsyncPipeline):
    """Sends everything at its end, in as few packets as hold it, and ends with its Sync alone.

    psycopg sends each statement by itself: a system call, and Postgres wakes up for it. Behind the Sync it sends a request to
    flush. Postgres reads that as the next message and waits for one more, which is when it does not count how long a
    transaction is idle: one whose worker stands still would never be ended.
    """

    _is_complete = False

    def _enqueue_sync(self) -> None:
        super()._enqueue_sync()
        self._is_complete = True

    def _communicate_gen(self) -> PQGen[None]:
        if self._is_complete:
            while self.command_queue:
                self.command_queue.popleft()()
            yield from super()._communicate_gen()

    def _fetch_gen(self, *, flush: bool) -> PQGen[None]:
        if flush and self.result_queue:
            yield from generators.send(self.pgconn)
        yield from super()._fetch_gen(flush=False)
