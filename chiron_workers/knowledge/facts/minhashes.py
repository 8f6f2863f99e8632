import asyncio
from collections.abc import Sequence

import zstandard

from chiron_workers.db.queries import load
from chiron_workers.evidence.copies import signature
from chiron_workers.runs.session import Session

SQL = load(__file__)


async def sign(session: Session, *, snapshots: Sequence[str], facts: Sequence[str]) -> None:
    """Give snapshots, and those that facts rest on, the signatures that tell copies; in a transaction of its own.

    A signature is worked out once, when the first fact needs it: most pages that are read give none.
    """
    args = {"hashes": list(snapshots), "fact_ids": list(facts)}
    rows = await session.rows(SQL["unsigned"], args)
    if not rows:
        return
    signed = await asyncio.to_thread(lambda: [_signature(row["body"]) for row in rows])
    async with session.pool.connection() as connection:
        await connection.execute(SQL["sign"], {"hashes": [row["hash"] for row in rows], "signatures": signed})


def _signature(body: bytes) -> bytes:
    return signature(zstandard.decompress(body).decode())
