"""Sessions of browsers: a code that a link holds is traded for one, once. The database holds the SHA-256 of each."""

import secrets
from datetime import timedelta
from uuid import UUID

from chiron_workers.access.keys import SECRET_CHARS_MAX, Key, key_of_row, secret_hash
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.errors import Unauthenticated

SQL = load(__file__)
SECRET_BYTES = 32
CODE_VALID_FOR = timedelta(minutes=5)
IDLE_FOR = timedelta(hours=12)
TOUCHED_AT_LEAST = timedelta(minutes=1)  # between two writes of when a session was used
OVER = "The session is over. Sign in again."


async def create_code(pool: Pool, *, key_id: UUID | None = None) -> str:
    """A code that signs a browser in within five minutes, once; for the local user, or for whoever has a key."""
    code = secrets.token_urlsafe(SECRET_BYTES)
    args = {"hash": secret_hash(code), "key_id": key_id, "valid_for": CODE_VALID_FOR}
    async with pool.connection() as connection:
        await connection.execute(SQL["insert_code"], args)
    return code


async def trade_code(pool: Pool, code: str) -> str:
    """The token of a new session for a code. Raises Unauthenticated where it is unknown, used or too old."""
    token = secrets.token_urlsafe(SECRET_BYTES)
    args = {
        "hash": secret_hash(token),
        "code_hash": secret_hash(code[:SECRET_CHARS_MAX]),
        "idle_for": IDLE_FOR,
    }
    if not await fetch_all(pool, SQL["trade"], args):
        raise Unauthenticated(
            "This link was used, or is older than five minutes. Each link signs in once; sign in with another."
        )
    return token


async def find_session(pool: Pool, token: str) -> Key | None:
    """The key of a session, None for one of the local user; it then stays open for another twelve hours.

    Raises:
        Unauthenticated: It is unknown, idle for too long or closed, or its key is no longer valid.
    """
    args = {"hash": secret_hash(token[:SECRET_CHARS_MAX]), "idle_for": IDLE_FOR, "at_least": TOUCHED_AT_LEAST}
    rows = await fetch_all(pool, SQL["session"], args)
    if not rows:
        raise Unauthenticated(OVER)
    row = rows[0]
    if row["session_key_id"] is not None and (row["revoked_at"] is not None or row["is_expired"]):
        raise Unauthenticated(OVER)
    async with pool.connection() as connection:
        await connection.execute(SQL["touch"], args)
    return None if row["session_key_id"] is None else key_of_row(row)


async def close_session(pool: Pool, token: str) -> None:
    """End a session, if there is one."""
    await fetch_all(pool, SQL["close"], {"hash": secret_hash(token[:SECRET_CHARS_MAX])})


async def shared_secret(pool: Pool, name: str) -> bytes:
    """A secret that every server of this database has; the first call makes it."""
    async with pool.connection() as connection:
        args = {"name": name, "secret": secrets.token_bytes(SECRET_BYTES)}
        await connection.execute(SQL["share_secret"], args)
    [row] = await fetch_all(pool, SQL["secret"], {"name": name})
    return bytes(row["secret"])
