"""Whether sources still say what facts rest on, and what follows for the facts where they do not, or do again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool
from chiron_workers.db.pipelines import Statement
from chiron_workers.db.queries import load
from chiron_workers.knowledge.facts.confidences import Confidences, ensure_sketches
from chiron_workers.knowledge.facts.links import Links
from chiron_workers.knowledge.facts.locks import lock_subject
from chiron_workers.runs.session import Session
from chiron_workers.sources.changes import check_changes, unchecked_changes
from chiron_workers.sources.sources import canonical
from chiron_workers.states import Ground

SQL = load(__file__)


@dataclass(frozen=True, slots=True)
class GroundChange:
    """That a source says no more, or again, what a fact rests on; `ground` is how it stands now."""

    fact_id: str
    subject_id: str
    source_url: str
    ground: Ground


async def check_grounds(pool: Pool, urls: Sequence[str]) -> list[GroundChange]:
    """Find what the newest changes of addresses mean for the facts that rest on them, and see to it that facts show it.

    Confidence and status follow at once, those of facts that were supported or contradicted by these too. Each subject is
    written in a transaction of its own, which waits for whoever else writes facts of it. Call it outside of transactions.
    """
    changes, rows = await Session(pool).rows_of(unchecked_changes(urls), _differing_statement(urls))
    if changes:  # what differs is known once they are checked
        await check_changes(pool, changes)
        return await settle_grounds(pool, urls)
    return await _settle(pool, urls, rows)


async def settle_grounds(pool: Pool, urls: Sequence[str]) -> list[GroundChange]:
    """As `check_grounds`, of changes that were checked. It may be repeated: what is so already stays."""
    [rows] = await Session(pool).rows_of(_differing_statement(urls))
    return await _settle(pool, urls, rows)


def _differing_statement(urls: Sequence[str]) -> Statement:
    return Statement(SQL["differing"], {"urls": _addresses(urls), "subject_id": None})


def _addresses(urls: Sequence[str]) -> list[str]:
    return sorted({canonical(url) for url in urls})


async def _settle(pool: Pool, urls: Sequence[str], rows: Sequence[DictRow]) -> list[GroundChange]:
    addresses = _addresses(urls)
    changes: list[GroundChange] = []
    for subject_id in sorted({row["subject_id"] for row in rows}):
        fact_ids = sorted({row["fact_id"] for row in rows if row["subject_id"] == subject_id})
        async with Session(pool) as session:
            changes += await _settle_subject(session, addresses, subject_id, fact_ids)
    return changes


async def _settle_subject(
    session: Session, urls: Sequence[str], subject_id: str, fact_ids: Sequence[str]
) -> list[GroundChange]:
    await ensure_sketches(session, snapshots=[], facts=fact_ids)
    await lock_subject(session, subject_id)
    # Again, since another process may have done so until the lock was ours.
    rows = await session.rows(SQL["differing"], {"urls": urls, "subject_id": subject_id})
    changes = [_change(row) for row in rows]
    if not changes:
        return []
    args = {"ids": [row["id"] for row in rows], "grounds": [row["ground"] for row in rows]}
    await session.write(SQL["store_of_facts"], args)
    await session.write(SQL["store_of_corroborations"], args)
    fact_ids = sorted({change.fact_id for change in changes})
    earlier = await session.rows(SQL["successions"], {"fact_ids": fact_ids})
    await _recompute(session, changes)
    await session.write(
        SQL["name_successors"],
        {
            "fact_ids": fact_ids,
            "predecessor_ids": [row["fact_id"] for row in earlier],
            "successor_ids": [row["successor_id"] for row in earlier],
        },
    )
    return changes


async def _recompute(session: Session, changes: Iterable[GroundChange]) -> None:
    for (ground, url), group in groupby(changes, key=attrgetter("ground", "source_url")):
        fact_ids = list(dict.fromkeys(change.fact_id for change in group))
        partner_ids = [
            partner_id for fact_id in fact_ids for partner_id in await Links(session).partners(fact_id)
        ]
        reason = f"source says so again: {url}" if ground is Ground.STANDS else f"{ground}: {url}"
        await Confidences(session).recompute(list(dict.fromkeys([*fact_ids, *partner_ids])), reason=reason)


def _change(row: DictRow) -> GroundChange:
    return GroundChange(row["fact_id"], row["subject_id"], row["source_url"], Ground(row["ground"]))
