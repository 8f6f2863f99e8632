"""Whose a batch, a run, a subscription, a webhook, a quiz or a journey is; to others it is as if it were not there."""

from uuid import UUID

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.errors import NotFound

SQL = load(__file__)


async def require_visible(pool: Pool, target: UUID, owner: str | None) -> None:
    """Raise NotFound where somebody else owns what has the id, as if it were not there.

    Args:
        owner: Who asks; None sees everything.
    """
    if owner is None:
        return
    rows = await fetch_all(pool, SQL["owner"], {"id": target})
    if any(row["owner"] != owner for row in rows):
        raise NotFound(f"Nothing of yours has the id {target}.")
