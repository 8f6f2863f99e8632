"""How the parameters of statements are sent."""

from collections.abc import Iterable

from psycopg.abc import AdaptContext
from psycopg.adapt import Dumper, PyFormat
from psycopg.types.numeric import Int2BinaryDumper, Int4, Int4BinaryDumper, IntBinaryDumper

_INTEGER = Int4BinaryDumper(Int4)


class StableIntDumper(IntBinaryDumper):
    """Sends small integers as `integer`, where psycopg's own sends those below 32,768 as `smallint`.

    psycopg prepares a statement for the types of its arguments. A sum that grows would have it parsed and planned anew.
    """

    def upgrade(self, obj: int, format: PyFormat) -> Dumper:
        """What sends this value."""
        dumper = super().upgrade(obj, format)
        return _INTEGER if isinstance(dumper, Int2BinaryDumper) else dumper


def register_dumpers(context: AdaptContext) -> None:
    """Have a connection send its integers as `StableIntDumper` does."""
    context.adapters.register_dumper(int, StableIntDumper)


def array(words: Iterable[str]) -> str:
    """Ids, hashes or states as Postgres reads an array, with a cast behind it: psycopg writes a list element by element."""
    return f"{{{','.join(words)}}}"
