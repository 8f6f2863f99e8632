from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import AsyncConnection, generators
from psycopg._preparing import Prepare
from psycopg._queries import PostgresQuery
from psycopg.abc import PQGen
from psycopg.adapt import Transformer
from psycopg.errors import PipelineAborted, error_from_result
from psycopg.pq import ConnStatus, ExecStatus, Format, TransactionStatus
from psycopg.pq.abc import PGresult
from psycopg.rows import DictRow, RowMaker

from chiron_workers.db.connect import Query

# By which psycopg knows a statement: its text and the types of its arguments.
Key = tuple[bytes, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Statement:
    """A query with its arguments. `prepare` False: planned for these on every call. True: one plan may serve all.

    `make_row` makes a row of its values, where it is to be something else than a dict.
    """

    query: Query
    args: Mapping[str, Any] | None = None
    prepare: bool | None = None
    make_row: RowMaker[Any] | None = None


async def send(connection: AsyncConnection[DictRow], statements: Sequence[Statement]) -> list[list[DictRow]]:
    """Run statements that go out together and are waited for once; the rows of each, none where it returns none.

    Postgres runs them in order, each as if it were sent alone. Where one fails, those after it are not run.
    """
    if len(statements) == 1 and statements[0].make_row is None:
        [statement] = statements
        cursor = await connection.execute(statement.query, statement.args, prepare=statement.prepare)
        return [await cursor.fetchall() if cursor.description else []]
    exchange = _Exchange(connection)
    for statement in statements:
        exchange.add(statement)
    async with connection.lock:
        return await connection.wait(exchange.run())


@dataclass(frozen=True, slots=True)
class _Slot:
    """The place of a result: of a statement, or of its preparation where `name` says under which name."""

    key: Key
    name: bytes = b""
    # What psycopg counts from the result of a statement that it sees for the first time on a connection.
    cache_entry: tuple[Key, Prepare, bytes] | None = None


class _Exchange:
    """Statements sent at once in as few packets as hold them, with one Sync, and their results.

    psycopg's own pipeline makes a cursor for each statement, sends it by itself, for which Postgres wakes up, and has a
    request to flush behind the Sync. Postgres reads that as the next message and waits for one more, which is when it does not
    count how long a transaction is idle: one whose worker stands still would never be ended. Which statements are prepared on
    a connection, psycopg keeps for this as for its cursors.
    """

    def __init__(self, connection: AsyncConnection[DictRow]) -> None:
        self._connection = connection
        self._pgconn = connection.pgconn
        self._transformer = Transformer(connection)
        self._queries: list[tuple[PostgresQuery, Statement]] = []
        self._slots: list[_Slot] = []

    def add(self, statement: Statement) -> None:
        """Add a statement; its arguments are converted, and nothing is sent."""
        query = PostgresQuery(self._transformer)
        query.convert(statement.query, statement.args)
        self._queries.append((query, statement))

    def run(self) -> PQGen[list[list[Any]]]:
        """The rows of each statement. Raises what the first of them that fails raises."""
        yield from self._deallocate()
        self._pgconn.enter_pipeline_mode()
        try:
            for query, statement in self._queries:
                self._send(query, statement.prepare)
            self._pgconn.pipeline_sync()
            yield from generators.send(self._pgconn)
            results = yield from self._results()
        finally:
            # Where somebody is cancelled twice, results may be left; the pool closes such a connection.
            with suppress(psycopg.OperationalError):
                if self._pgconn.status != ConnStatus.BAD:
                    self._pgconn.exit_pipeline_mode()
        try:
            return self._rows(results)
        finally:
            # Now: a cursor does so after its own statement, which would be forgotten on the server alone. What is committed
            # stays so whether this succeeds or not.
            with suppress(psycopg.Error):
                yield from self._deallocate()

    def _deallocate(self) -> PQGen[None]:
        """Have Postgres forget the prepared statements that psycopg has forgotten: all of them after a rollback."""
        if self._pgconn.transaction_status != TransactionStatus.INERROR:
            yield from self._connection._prepared.maintain_gen(self._connection)

    def _results(self) -> PQGen[list[PGresult]]:
        results: list[PGresult] = []
        while len(results) <= len(self._slots):  # the last is that of the Sync
            result = yield from generators.fetch_many(self._pgconn)
            if not result:
                raise psycopg.OperationalError("Postgres gave a pipeline up.")
            results += result
        return results

    def _send(self, query: PostgresQuery, prepare: bool | None) -> None:
        cache = self._connection._prepared
        state, name = cache.get(query, prepare)
        key = cache.key(query)
        if state is Prepare.SHOULD:
            self._pgconn.send_prepare(name, query.query, param_types=query.types)
            self._slots.append(_Slot(key, name))
        if state is Prepare.NO:
            self._pgconn.send_query_params(
                query.query,
                query.params,
                param_types=query.types,
                param_formats=query.formats,
                result_format=Format.TEXT,
            )
        else:
            self._pgconn.send_query_prepared(
                name, query.params, param_formats=query.formats, result_format=Format.TEXT
            )
        is_new = cache.maybe_add_to_cache(query, state, name) is not None
        self._slots.append(_Slot(key, cache_entry=(key, state, name) if is_new else None))

    def _rows(self, results: Sequence[PGresult]) -> list[list[Any]]:
        errors, answers = [], []
        cache = self._connection._prepared
        for slot, result in zip(self._slots, results, strict=False):
            if slot.cache_entry:
                cache.validate(*slot.cache_entry, [result])
            if slot.name and result.status != ExecStatus.COMMAND_OK:
                cache._names.pop(slot.key, None)  # psycopg takes it for prepared from now on
            if result.status == ExecStatus.FATAL_ERROR:
                errors.append(error_from_result(result, encoding=self._transformer.encoding))
            elif result.status == ExecStatus.PIPELINE_ABORTED:
                errors.append(PipelineAborted("pipeline aborted"))
            elif not slot.name:
                answers.append(result)
        if errors:
            raise errors[0]
        # Last: a value that has no form in Python leaves nothing uncounted.
        return [
            self._rows_of(result, statement.make_row)
            for result, (_, statement) in zip(answers, self._queries, strict=True)
        ]

    def _rows_of(self, result: PGresult, make_row: RowMaker[Any] | None) -> list[Any]:
        if result.status != ExecStatus.TUPLES_OK:
            return []
        self._transformer.set_pgresult(result)
        rows: list[Any] = self._transformer.load_rows(0, result.ntuples, make_row or _dict_maker(result))
        return rows


def _dict_maker(result: PGresult) -> RowMaker[DictRow]:
    names = [(result.fname(n) or b"").decode() for n in range(result.nfields)]
    return lambda values: dict(zip(names, values, strict=True))
