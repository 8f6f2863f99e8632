"""A database whose clock a test sets: `now()` and `clock_timestamp()` are found before Postgres' own by the search path.

As with the real ones, `now()` stands still within a transaction. Columns' defaults keep the real clock.
"""

from datetime import datetime

import psycopg
from psycopg import sql

INSTALL = """
create schema clock;
create table clock.hands (
  set_at timestamptz not null default pg_catalog.clock_timestamp(),
  shown timestamptz not null,
  moves interval not null
);
create function clock.shown_at(asked timestamptz, at timestamptz) returns timestamptz stable language sql as $$
  select shown + moves * extract(epoch from at - set_at)
    from clock.hands
   where set_at <= asked
   order by set_at desc
   limit 1
$$;
create function clock.now() returns timestamptz stable language sql as $$
  select clock.shown_at(pg_catalog.now(), pg_catalog.now())
$$;
create function clock.clock_timestamp() returns timestamptz volatile language sql as $$
  select clock.shown_at(pg_catalog.clock_timestamp(), pg_catalog.clock_timestamp())
$$;
insert into clock.hands (shown, moves) values (pg_catalog.clock_timestamp(), interval '1 second');
"""


class SqlClock:
    """The clock of a database, for connections that are opened from now on; it goes until it is stopped at a time."""

    def __init__(self, database_url: str) -> None:
        self._connection = psycopg.connect(database_url, autocommit=True)
        self._connection.execute(INSTALL)
        name = sql.Identifier(self._connection.info.dbname)
        setting = sql.SQL("alter database {} set search_path = clock, pg_catalog, public")
        self._connection.execute(setting.format(name))

    def stop_at(self, moment: datetime) -> None:
        """Show this moment and no other."""
        self._connection.execute(
            "insert into clock.hands (shown, moves) values (%s, interval '0 seconds')", [moment]
        )

    def jump(self, hours: float) -> None:
        """Go on from another time."""
        self._connection.execute(
            """insert into clock.hands (shown, moves)
               select clock.clock_timestamp() + %s * interval '1 hour', interval '1 second'""",
            [hours],
        )

    def close(self) -> None:
        self._connection.close()
