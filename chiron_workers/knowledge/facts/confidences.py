import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import zstandard

from chiron_workers import ids
from chiron_workers.db.queries import load
from chiron_workers.evidence.confidence import Confidence, confidence
from chiron_workers.evidence.copies import signature
from chiron_workers.evidence.origins import Assertion
from chiron_workers.knowledge.search.vectors import copy_to_vectors
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.states import SHOWN_STATUSES, FactStatus

SQL = load(__file__)


@dataclass(frozen=True, slots=True)
class ConfidenceUpdate:
    """What a fact's confidence and status are, and what the status was before."""

    confidence: float
    status: FactStatus
    status_before: FactStatus
    is_changed: bool

    @property
    def is_lifted(self) -> bool:
        """Whether a candidate is shown now."""
        return self.status_before is FactStatus.CANDIDATE and self.status in SHOWN_STATUSES


class Confidences:
    """How sure facts are, computed from all that is stored of who says so and who says otherwise."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def of(self, fact_ids: Sequence[str]) -> dict[str, Confidence]:
        """The confidence of facts as it is now, by id."""
        rows = await self._session.rows(SQL["grounds"], {"fact_ids": list(fact_ids)})
        supporting: defaultdict[str, list[Assertion]] = defaultdict(list)
        opposing: defaultdict[str, list[Assertion]] = defaultdict(list)
        for row in rows:
            quote = row["quote"] if row["is_verified"] else None
            said = Assertion(
                row["source_url"], row["source_score"], row["is_verified"], row["signature"], quote
            )
            (supporting if row["is_for"] else opposing)[row["fact_id"]].append(said)
        return {one: computed(supporting[one], opposing[one]) for one in fact_ids}

    async def recompute(
        self, fact_ids: Sequence[str], *, reason: str, new_id: str | None = None
    ) -> dict[str, ConfidenceUpdate]:
        """Bring stored confidences and statuses up to date; what they were is kept, with the reason of the change.

        A fact that was withdrawn stays as it is, and so does the history of `new_id`, which has none yet.
        """
        found = await self.of(fact_ids)
        rows = await self._session.write(
            SQL["settle"],
            {
                "fact_ids": list(found),
                "change_ids": [ids.new_id() for _ in found],
                "confidences": [one.value for one in found.values()],
                "statuses": [status_of(one) for one in found.values()],
                "new_id": new_id,
                "reason": reason,
                "run_id": self._session.caller.run_id,
                "call_id": self._session.caller.call_id,
            },
        )
        await copy_to_vectors(self._session, [row["fact_id"] for row in rows if row["is_changed"]])
        return {
            row["fact_id"]: ConfidenceUpdate(
                row["confidence"],
                FactStatus(row["status"]),
                FactStatus(row["status_before"]),
                row["is_changed"],
            )
            for row in rows
        }


def computed(supporting: Sequence[Assertion], opposing: Sequence[Assertion]) -> Confidence:
    """The confidence that these assertions give under the settings."""
    return confidence(supporting, opposing, unverified_max=settings().unverified_confidence_max)


def status_of(found: Confidence) -> FactStatus:
    """Whether the fact is shown, by the threshold of the settings."""
    return found.status(settings().confidence_threshold)


async def ensure_minhashes(session: Session, *, snapshots: Sequence[str], facts: Sequence[str]) -> None:
    """Give snapshots, and those that facts rest on, the signatures that tell copies; in a transaction of its own.

    A signature is worked out once, when the first fact needs it: most pages that are read give none.
    """
    args = {"hashes": list(snapshots), "fact_ids": list(facts)}
    rows = await session.rows(SQL["unsigned"], args)
    if not rows:
        return
    signed = await asyncio.to_thread(lambda: [_minhash(row["body"]) for row in rows])
    async with session.pool.connection() as connection:
        await connection.execute(SQL["sign"], {"hashes": [row["hash"] for row in rows], "signatures": signed})


def _minhash(body: bytes) -> bytes:
    return signature(zstandard.decompress(body).decode())
