"""How the parameters of statements are sent."""

from collections.abc import Iterable

from psycopg.abc import AdaptContext
from psycopg.adapt import Dumper, PyFormat
from psycopg.types.numeric import Int4, Int4BinaryDumper, Int4Dumper, IntBinaryDumper, IntDumper

_INTEGER = Int4BinaryDumper(Int4)
_TEXT_INTEGER = Int4Dumper(Int4)
_INTEGER_END = 2**31


class StableIntDumper(IntBinaryDumper):
    """Sends small integers as `integer`, where psycopg's own sends those below 32,768 as `smallint`.

    psycopg prepares a statement for the types of its arguments. A sum that grows would have it parsed and planned anew.
    """

    def upgrade(self, obj: int, format: PyFormat) -> Dumper:
        """What sends this value."""
        return _INTEGER if -_INTEGER_END <= obj < _INTEGER_END else super().upgrade(obj, format)


class StableTextIntDumper(IntDumper):
    """The same for text, as which psycopg sends lists.

    A list has the key of its largest element by the dumper above, and the type of it by this one. If they differed, a list of
    larger integers would be sent as the `smallint[]` of one before it, and Postgres would refuse it.
    """

    def upgrade(self, obj: int, format: PyFormat) -> Dumper:
        """What sends this value."""
        return _TEXT_INTEGER if -_INTEGER_END <= obj < _INTEGER_END else super().upgrade(obj, format)


def register_dumpers(context: AdaptContext) -> None:
    """Have a connection send its integers as `StableIntDumper` does."""
    context.adapters.register_dumper(int, StableTextIntDumper)
    context.adapters.register_dumper(int, StableIntDumper)


def array(words: Iterable[str]) -> str:
    """Ids, hashes or states as Postgres reads an array, with a cast behind it: psycopg writes a list element by element."""
    return f"{{{','.join(words)}}}"
