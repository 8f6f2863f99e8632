from collections.abc import Collection

from chiron_workers.db.pipelines import Statement
from chiron_workers.db.queries import load
from chiron_workers.runs.session import Session
from chiron_workers.states import FactStatus

SQL = load(__file__)
TRIES_MAX = 5


class Overtaken(Exception):  # it is no error: the writer begins anew
    """Another writer has changed what an addition rests on."""


async def lock_subject(session: Session, subject_id: str) -> None:
    """Be the only writer of a subject's facts until the commit. The first statement of a transaction."""
    await session.lock(SQL["lock_subject"], {"subject_id": subject_id}, keys=[key_of(subject_id)])


async def lock_facts(session: Session, fact_ids: Collection[str]) -> dict[str, FactStatus]:
    """Lock facts, and those whose confidence may change with theirs; the status of each.

    Raises:
        Overtaken: They are linked to more whenever they are locked.
    """
    if not fact_ids:
        return {}
    args = {"fact_ids": sorted(fact_ids)}
    attempt = [Statement(SQL["lock_facts"], args), Statement(SQL["reach_of_facts"], args)]
    first = Statement(SQL["mark"])
    for _ in range(TRIES_MAX):
        _, lock_rows, reach_rows = await session.write_all(first, *attempt)
        # While the locks were waited for, others may have linked facts that are not locked.
        if {row["id"] for row in reach_rows} <= {row["id"] for row in lock_rows}:
            return {row["id"]: FactStatus(row["status"]) for row in reach_rows}
        first = Statement(SQL["unlock_facts"])
    raise Overtaken


def key_of(subject_id: str) -> str:
    """By what sessions of one pool queue for a subject."""
    return f"facts {subject_id}"
