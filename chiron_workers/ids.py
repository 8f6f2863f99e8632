from datetime import UTC, datetime, timedelta
from uuid import UUID

import uuid_utils.compat

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MS = timedelta(milliseconds=1)


def new_id() -> UUID:
    """A UUIDv7 (RFC 9562): ids made later sort later, so that tables can be cut by time."""
    return UUID(int=uuid_utils.compat.uuid7().int)


def time_of(id_: UUID) -> datetime:
    """When an id was made, to the millisecond, by the clock of the machine that made it."""
    return EPOCH + (id_.int >> 80) * MS


def first_id(at: datetime) -> UUID:
    """What sorts before every id made at a time or later, and after all made before."""
    return UUID(int=(at - EPOCH) // MS << 80)
