"""What the tables hold at the end, against what is promised: each broken promise as a sentence."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import DictRow, dict_row

from chiron_workers.db.queries import load
from crashes.consistency import among_rows, snapshot
from crashes.replies import writes

SQL = load(__file__)


class Tables:
    """One look into the tables of a crash test."""

    def __init__(self, database_url: str, batch_id: UUID) -> None:
        self.database_url = database_url
        self.batch_id = batch_id

    def rows(self, query: str, **args: Any) -> list[DictRow]:
        with psycopg.connect(self.database_url, autocommit=True, row_factory=dict_row) as connection:
            return connection.execute(SQL[query], {"batch_id": self.batch_id, **args}).fetchall()

    def states(self) -> dict[str, int]:
        return {row["state"]: row["n"] for row in self.rows("states")}

    def is_finished(self) -> bool:
        """Whether the end of the batch is said, which it is after the commit of its last run's end."""
        return self.rows("batch")[0]["finished_at"] is not None

    def has_blamed(self) -> bool:
        """Whether a run is paused because its workers ended."""
        return bool(self.rows("blames")[0]["paused"])

    def blames(self) -> int:
        """How often a run was paused."""
        return int(self.rows("blames")[0]["n"])

    def takings(self, run: str) -> str:
        """Who took a run and let go of it, and when: what helps to find out how a promise was broken."""
        return "; ".join(row["what"] for row in self.rows("takings", run=run))

    def unconfirmed(self) -> dict[str, tuple[int, int]]:
        """By run the calls that may have been billed and that brought no reply, and how often it was taken."""
        return {row["run"]: (row["calls"], row["takings"]) for row in self.rows("unconfirmed")}

    def doubled_writes(self) -> list[str]:
        return [row["mark"] for row in self.rows("marks") if row["n"] > 1]

    def broken(self, *, seed: int, turns: Mapping[str, int]) -> Iterator[str]:
        """The promises that were not kept, given how many turns the model gave each run."""
        if unfinished := self.rows("unfinished"):
            yield f"not completed, or still held: {len(unfinished)}, such as {unfinished[0]}"
        with snapshot(self.database_url) as connection:
            yield from among_rows(connection)
        if wrong := [row for row in self.rows("turns") if row["turns"] != turns.get(row["run"])]:
            yield f"another number of turns than the model gave: {len(wrong)}, such as {wrong[0]}"
        yield from self._writes(seed, turns)
        if (said := self.rows("batch_completed")[0]["n"]) != 1:
            yield f"batch.completed was said {said} times"
        batch = self.rows("batch")[0]
        if batch["open_runs"] != 0 or batch["finished_at"] is None:
            yield f"the batch is not closed: {batch}"

    def _writes(self, seed: int, turns: Mapping[str, int]) -> Iterator[str]:
        wanted = {
            write.mark
            for run, count in turns.items()
            for turn in range(count)
            for write in writes(seed, run, turn, turns=count)
        }
        found = Counter({row["mark"]: row["n"] for row in self.rows("marks")})
        for meaning, marks in (
            ("written more than once", [mark for mark, n in found.items() if n > 1]),
            ("never written", sorted(wanted - found.keys())),
            ("written though nobody asked", sorted(found.keys() - wanted)),
        ):
            if marks:
                yield f"rows of tools {meaning}: {len(marks)}, such as {marks[0]}"
        results = self.rows("results")[0]
        if results["errors"] or results["n"] != len(wanted):
            yield f"results of tools: {results['n']} of {len(wanted)}, {results['errors']} of them errors"
