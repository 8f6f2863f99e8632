from uuid import UUID

import uuid_utils.compat


def new_id() -> UUID:
    """A UUIDv7 (RFC 9562): ids made later sort later, so that tables can be cut by time."""
    return UUID(int=uuid_utils.compat.uuid7().int)
