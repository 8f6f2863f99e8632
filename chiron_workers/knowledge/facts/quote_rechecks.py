import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from chiron_workers.db.queries import load
from chiron_workers.evidence.quotes.context import context_of
from chiron_workers.evidence.quotes.quotes import QuoteMatch, locate
from chiron_workers.knowledge.facts.confidences import ConfidenceUpdate, ensure_sketches
from chiron_workers.knowledge.facts.facts import Facts
from chiron_workers.knowledge.facts.source_kinds import bind
from chiron_workers.runs.session import Session
from chiron_workers.sources.sources import Sources
from chiron_workers.states import FactStatus, SourceKind

SQL = load(__file__)
PAGE_FACTS = 200
FIRST = UUID(int=0)


STATUS_CHANGES_MAX = 1_000  # that are listed; all are counted


@dataclass(frozen=True, slots=True)
class StatusChange:
    """A fact whose status is another one now."""

    fact_id: str
    subject_id: str
    content: str
    status_before: FactStatus
    status: FactStatus


@dataclass(frozen=True, slots=True)
class RecheckCounts:
    """How many facts were rechecked, and how much of them changed.

    `verified` counts quotes that are verified now, `scores` sources whose kind or score is another one now, `changed` facts
    whose confidence or status changed, and `statuses` those whose status did. `status_changes` lists these, 1,000 at most.
    """

    facts: int = 0
    verified: int = 0
    scores: int = 0
    changed: int = 0
    statuses: int = 0
    status_changes: tuple[StatusChange, ...] = ()

    def __add__(self, counts: "RecheckCounts") -> "RecheckCounts":
        return RecheckCounts(
            self.facts + counts.facts,
            self.verified + counts.verified,
            self.scores + counts.scores,
            self.changed + counts.changed,
            self.statuses + counts.statuses,
            (*self.status_changes, *counts.status_changes)[:STATUS_CHANGES_MAX],
        )


async def recheck(facts: Facts, *, subject_id: str, after: UUID = FIRST) -> tuple[RecheckCounts, UUID | None]:
    """Look again for the quotes of some facts that are not verified, and compute their confidence anew.

    For facts of a version that did not verify quotes, for changed settings, and for whoever wants the sum done again.
    One page of a subject's facts, those after the id `after`, and the id to go on after, None at the end. The caller
    commits each page.
    """
    session = facts.session
    args = {"subject_id": subject_id, "after": after, "limit": PAGE_FACTS}
    rows = await session.rows(SQL["page"], args)
    if not rows:
        return RecheckCounts(), None
    fact_ids = [str(row["id"]) for row in rows]
    assertions = await session.rows(SQL["unverified"], {"fact_ids": fact_ids})
    places = {
        assertion["id"]: place
        for assertion in assertions
        if (place := await _find_quote(session, assertion["source_url"], assertion["quote"]))
    }
    snapshots = [str(place["hash"]) for place in places.values()]
    await ensure_sketches(session, snapshots=snapshots, facts=fact_ids)
    await facts.lock_subject(subject_id)
    for assertion_id, place in places.items():
        await session.write(SQL["verify_fact"], {"id": assertion_id, **place})
        await session.write(SQL["verify_corroboration"], {"id": assertion_id, **place})
    scores = await _rescore(session, fact_ids)
    updates = await facts.confidences.recompute(fact_ids, reason="computed anew")
    changes = sum(update.is_changed for update in updates.values())
    status_changes = await _status_changes(session, subject_id, updates)
    counts = RecheckCounts(
        len(rows), len(places), scores, changes, len(status_changes), tuple(status_changes)
    )
    return counts, rows[-1]["id"]


async def _status_changes(
    session: Session, subject_id: str, updates: Mapping[str, ConfidenceUpdate]
) -> list[StatusChange]:
    fact_ids = [fact_id for fact_id, update in updates.items() if update.status is not update.status_before]
    rows = await session.rows(SQL["contents"], {"fact_ids": fact_ids}) if fact_ids else []
    return [
        StatusChange(
            row["fact_id"],
            subject_id,
            row["content"],
            updates[row["fact_id"]].status_before,
            updates[row["fact_id"]].status,
        )
        for row in rows
    ]


async def _rescore(session: Session, fact_ids: Sequence[str]) -> int:
    """Bind the scores of sources anew, by the kinds that the tables name now; how many changed."""
    changes = []
    for row in await session.rows(SQL["scores"], {"fact_ids": list(fact_ids)}):
        claimed_score = row["source_score"] if row["claimed_score"] is None else row["claimed_score"]
        stated_kind = SourceKind(row["stated_kind"]) if row["stated_kind"] else None
        scores = bind(row["source_url"], claimed_score, stated_kind)
        if any(row[name] != score for name, score in scores.items()):
            changes.append({"id": row["id"], **scores})
    if changes:
        columns = {name: [row[name] for row in changes] for name in changes[0]}
        await session.write(SQL["rescore_facts"], columns)
        await session.write(SQL["rescore_corroborations"], columns)
    return len(changes)


async def _find_quote(session: Session, url: str, quote: str) -> dict[str, str | int] | None:
    for version in await Sources(session).versions(url):
        match: QuoteMatch | None = await asyncio.to_thread(locate, quote, version.text)
        if match is not None:
            context = await asyncio.to_thread(context_of, version.text, match.start, match.end)
            return {
                "quote": match.quote,
                "hash": version.hash,
                "start": match.start,
                "end": match.end,
                "context": context,
            }
    return None
