"""The partitions of journal and events: one for each month in which run ids were made."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Self
from uuid import UUID

from psycopg import errors
from psycopg.sql import Composed, Identifier, Literal

from chiron_workers.db.connect import Pool, fetch_all, fetch_one
from chiron_workers.db.queries import load
from chiron_workers.errors import ChironError
from chiron_workers.ids import first_id, time_of

SQL = load(__file__)
PARENTS = ("entries", "tool_results", "events")  # in the order in which they are locked everywhere
CLOCK_OFF_MAX = timedelta(days=31)


@dataclass(frozen=True, slots=True)
class Partition:
    """A part of the journal: the runs whose ids are at least `low` and below `high`, made before `ends`."""

    name: str  # 2026_11, or before_2026_12 for what was there before there were partitions
    low: UUID
    high: UUID
    ends: datetime

    @classmethod
    def named(cls, name: str) -> Self:
        """The partition that a name stands for."""
        month = datetime.strptime(name.removeprefix("before_"), "%Y_%m").replace(tzinfo=UTC)
        if name.startswith("before_"):
            return cls(name, UUID(int=0), first_id(month), month)
        return cls(name, first_id(month), first_id(_next(month)), _next(month))

    @classmethod
    def of_month(cls, at: datetime) -> Self:
        """The partition of a month of its own."""
        return cls.named(f"{at.astimezone(UTC):%Y_%m}")

    @property
    def tables(self) -> list[str]:
        """Its tables, in the order in which they are locked."""
        return [f"{parent}_{self.name}" for parent in PARENTS]


async def ensure(pool: Pool, run_ids: Sequence[UUID]) -> None:
    """See to it that journals of these runs can be written, and next month's too; before their rows are stored.

    It is one look into the catalogue, but for the first call of a month, which makes the next month's.

    Raises:
        ChironError: The ids were made by a clock that is more than a month off, or the tables are not ours to change.
    """
    made_at = [time_of(min(run_ids)), time_of(max(run_ids))]
    months = sorted({Partition.of_month(at).name for at in (*made_at, _next(made_at[1]))})
    [row] = await fetch_all(pool, SQL["missing"], {"months": months})
    if max(abs(at - row["now"]) for at in made_at) > CLOCK_OFF_MAX:
        raise ChironError(
            f"The clock of this machine says {made_at[0]:%Y-%m-%d %H:%M} UTC and that of the database "
            f"{row['now'].astimezone(UTC):%Y-%m-%d %H:%M}. Set it right: the ids of runs carry the time."
        )
    if row["months"]:
        await make(pool, [Partition.named(name) for name in row["months"]])


async def make(pool: Pool, partitions: Sequence[Partition]) -> None:
    """Make those of the partitions that do not exist, in a transaction of its own. Raises as `ensure`."""
    by_name = {partition.name: partition for partition in partitions}
    try:
        async with pool.connection() as connection, connection.transaction():
            await connection.execute(SQL["lock"])
            row = await fetch_one(connection, SQL["missing"], {"months": sorted(by_name)})
            for name in row["months"]:
                for statement in definition(by_name[name]):
                    await connection.execute(statement)
    except errors.InsufficientPrivilege as error:
        raise ChironError(
            f"A partition for the coming month cannot be made: {error.diag.message_primary}. "
            "Connect as the role that owns the tables."
        ) from None


async def list_all(pool: Pool) -> list[tuple[Partition, int]]:
    """All partitions, oldest first, each with the bytes it takes on disk."""
    rows = await fetch_all(pool, SQL["all"], {"parents": list(PARENTS)})
    sizes = [(Partition.named(row["name"]), row["bytes"]) for row in rows]
    return sorted(sizes, key=lambda item: item[0].high)


def definition(partition: Partition) -> list[Composed]:
    """The statements that make the tables of a partition."""
    statements = []
    bounds = {"low": Literal(str(partition.low)), "high": Literal(str(partition.high))}
    for parent, table in zip(PARENTS, partition.tables, strict=True):
        names = {"parent": Identifier(parent), "partition": Identifier(table)}
        statements += [SQL["create"].format(**names), SQL["attach"].format(**names, **bounds)]
    return statements


def _next(at: datetime) -> datetime:
    first = at.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (first + timedelta(days=32)).replace(day=1)
