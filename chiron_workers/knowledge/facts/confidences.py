import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import zstandard
from psycopg.rows import DictRow
from psycopg.types.json import Json

from chiron_workers import ids
from chiron_workers.db.pipelines import Statement
from chiron_workers.db.queries import load
from chiron_workers.evidence.confidence import Confidence, calculate_confidence
from chiron_workers.evidence.copies import sketch
from chiron_workers.evidence.origins import Assertion
from chiron_workers.evidence.studies import as_rows, from_rows, studies_of
from chiron_workers.evidence.works import Record
from chiron_workers.knowledge.facts.links import Links
from chiron_workers.knowledge.facts.source_kinds import with_kind
from chiron_workers.knowledge.search.vectors import copy_to_vectors
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.states import SHOWN_STATUSES, FactStatus

SQL = load(__file__)
SKETCH_BATCH = 20  # texts that are read at once


@dataclass(frozen=True, slots=True)
class ConfidenceUpdate:
    """A fact's confidence and status after they were computed anew, and its status before."""

    confidence: float
    status: FactStatus
    status_before: FactStatus
    is_changed: bool

    @property
    def is_lifted(self) -> bool:
        """Whether a candidate is shown now."""
        return self.status_before is FactStatus.CANDIDATE and self.status in SHOWN_STATUSES


class Confidences:
    """Confidences of facts, computed from all that is stored of who says so and who says otherwise."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def of(self, fact_ids: Sequence[str]) -> dict[str, Confidence]:
        """The confidence that what is stored now gives each fact, by id; nothing is written."""
        return self._confidences(fact_ids, await self._assertions(fact_ids))

    async def origin_counts(self, fact_ids: Sequence[str]) -> dict[str, int]:
        """How many independent origins support each fact, by id."""
        rows = await self._assertions(fact_ids)
        counts = Counter(row["fact_id"] for row in rows if row["is_for"])
        # One source is one origin, whatever is known of it.
        several = [fact_id for fact_id, count in counts.items() if count > 1]
        confidences = self._confidences(several, [row for row in rows if counts[row["fact_id"]] > 1])
        return (
            dict.fromkeys(fact_ids, 0)
            | counts
            | {fact_id: len(confidence.support) for fact_id, confidence in confidences.items()}
        )

    async def _assertions(self, fact_ids: Sequence[str]) -> list[DictRow]:
        return await self._session.rows(SQL["assertions"], {"fact_ids": list(fact_ids)})

    def _confidences(self, fact_ids: Sequence[str], rows: Sequence[DictRow]) -> dict[str, Confidence]:
        support: defaultdict[str, list[Assertion]] = defaultdict(list)
        opposition: defaultdict[str, list[Assertion]] = defaultdict(list)
        for row in map(with_kind, rows):
            (support if row["is_for"] else opposition)[row["fact_id"]].append(_assertion(row))
        return {fact_id: compute_confidence(support[fact_id], opposition[fact_id]) for fact_id in fact_ids}

    async def recompute(
        self, fact_ids: Sequence[str], *, reason: str, new_id: str | None = None
    ) -> dict[str, ConfidenceUpdate]:
        """Compute confidences and statuses anew and store them; what they were is kept, with the reason of the change.

        A fact that was withdrawn stays as it is, and so does the history of `new_id`, which has none yet.
        """
        assertion_rows = await self._assertions(fact_ids)
        confidences = self._confidences(fact_ids, assertion_rows)
        superseded_ids = _superseded(assertion_rows)
        rows = await self._session.write(
            SQL["update"],
            {
                "fact_ids": list(confidences),
                "change_ids": [ids.new_id() for _ in confidences],
                "confidences": [confidence.value for confidence in confidences.values()],
                "statuses": [
                    FactStatus.SUPERSEDED if fact_id in superseded_ids else status_of(confidence)
                    for fact_id, confidence in confidences.items()
                ],
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

    async def recompute_with_partners(
        self, fact_id: str, reason: str, *, new_id: str | None = None
    ) -> dict[str, ConfidenceUpdate]:
        """Compute anew the confidence of a fact and of those whose confidence depends on it; all of them are locked."""
        partner_ids = await Links(self._session).partners(fact_id)
        return await self.recompute([fact_id, *partner_ids], reason=reason, new_id=new_id)


def _superseded(rows: Sequence[DictRow]) -> set[str]:
    """The facts that a source bore out, and no source does any more: neither their own nor one of a fact that supports them."""
    lost_ids = {row["fact_id"] for row in rows if row["is_lost"]}
    return lost_ids - {row["fact_id"] for row in rows if row["is_for"] and row["is_verified"]}


def compute_confidence(support: Sequence[Assertion], opposition: Sequence[Assertion]) -> Confidence:
    """The confidence that these assertions give under the settings."""
    return calculate_confidence(support, opposition, unverified_max=settings().unverified_confidence_max)


def status_of(confidence: Confidence) -> FactStatus:
    """Whether a fact of this confidence is shown, by the threshold of the settings."""
    return confidence.status(settings().confidence_threshold)


def _assertion(row: Mapping[str, Any]) -> Assertion:
    published_at = row["published_at"]
    return Assertion(
        row["source_url"],
        row["source_score"],
        row["is_verified"],
        row["sketch"],
        row["quote"] if row["is_verified"] else None,
        row["source_kind"],
        place=(row["quote_start"], row["quote_end"]) if row["quote_end"] is not None else None,
        record=Record(
            row["title"] or "",
            # A version before has kept the authors on one line only; with whom it begins can be told.
            tuple(row["authors"] or filter(None, [row["author"]])),
            row["doi"] or "",
            published_at.year if published_at else None,
        ),
        studies=from_rows(row["studies"]),
    )


async def ensure_sketches(session: Session, *, facts: Sequence[str], snapshots: Sequence[str] = ()) -> None:
    """Store what tells which texts are independent, of snapshots and of those that facts rest on; in a transaction of its own.

    A text is looked at once, when the first fact needs it: most pages that are read give none. They are read in batches, each
    of which is stored before the next one is read.
    """
    if not (facts or snapshots):
        return
    args = {"hashes": list(snapshots), "fact_ids": list(facts), "limit": SKETCH_BATCH}
    last_hash, count = "", SKETCH_BATCH
    while count == SKETCH_BATCH:
        rows = await session.rows(SQL["without_sketch"], args | {"after": last_hash})
        count = len(rows)
        if rows:
            last_hash = rows[-1]["hash"]
            statement = await _store_sketches({row["hash"]: row["body"] for row in rows})
            async with session.pool.connection() as connection:
                await connection.execute(statement.query, statement.args)


async def sketch_statements(snapshot_hash: str | None, body: bytes | None) -> list[Statement]:
    """What stores the sketch of a text that has none yet, and the studies it names: its body is there."""
    if snapshot_hash is None or body is None:
        return []
    return [await _store_sketches({snapshot_hash: body})]


async def _store_sketches(bodies: Mapping[str, bytes]) -> Statement:
    def look() -> tuple[list[bytes], list[Json]]:
        sketches, studies = [], []
        for body in bodies.values():
            text = zstandard.decompress(body).decode()
            sketches.append(sketch(text))
            studies.append(Json(as_rows(studies_of(text))))
            del text  # before the next one is read: texts may be large
        return sketches, studies

    sketches, studies = await asyncio.to_thread(look)
    return Statement(
        SQL["store_sketches"], {"hashes": list(bodies), "sketches": sketches, "studies": studies}
    )
