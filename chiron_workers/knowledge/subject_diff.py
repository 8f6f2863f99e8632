"""What is known of a subject at one moment and was not, or was otherwise, at an earlier one."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers.db.queries import load
from chiron_workers.errors import Conflict, NotFound, UsageError
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.problems import SEE_BATCHES
from chiron_workers.runs.session import Session
from chiron_workers.states import SHOWN_STATUSES, ChangeKind

SQL = load(__file__)
LISTED_MAX = 10_000
FACT_KINDS = ("new", "lifted", "restored", "changed", "dropped", "superseded", "withdrawn", "candidates")
# A candidate is out of sight, so one that is new is nothing that anybody would see.
HIDDEN_KIND = "candidates"
COUNTS = (
    *FACT_KINDS,
    "corroborated",
    "contradicted",
    *(f"sources_{kind}" for kind in ChangeKind),
    "sources_back_changed",
)


@dataclass(frozen=True, slots=True)
class FactDiff:
    """A fact that is new or was otherwise before; what it was is None of a new one. `at` is when it last changed.

    `superseded_by` is the fact that the source of a superseded one says instead, as it is known now.
    """

    id: str
    content: str
    quote: str | None
    context: str
    source_url: str
    topic_path: str
    status: str
    confidence: float
    status_before: str | None
    confidence_before: float | None
    at: datetime
    reason: str
    superseded_by: str | None


@dataclass(frozen=True, slots=True)
class Corroboration:
    """A fact that further sources say, too."""

    id: str
    content: str
    topic_path: str
    confidence: float
    sources: list[str]
    at: datetime


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two facts of which the later contradicts the other."""

    id: str
    content: str
    source_url: str
    other_id: str
    other_content: str
    other_source_url: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SourceDiff:
    """A source that is gone, is back, or no longer says what the facts rest on.

    `lost_fact_ids` are those of its facts that lost what they rest on: one that is back may say something else now.
    """

    url: str
    kind: ChangeKind
    at: datetime
    reason: str
    agreement: float | None
    fact_ids: list[str]
    lost_fact_ids: list[str]


@dataclass(frozen=True, slots=True)
class SubjectDiff:
    """What has become of a subject from `since` (not included) to `until`. `counts` are whole, lists may be cut.

    Each is told as it was at the two moments, whatever came later. `sources_back_changed` are those of `sources_back`
    that no longer say what facts rest on.

    Of facts that were known: `lifted` from candidates, `restored` after they were withdrawn or superseded, `dropped` to
    candidates, `superseded` since no source says so any more, `withdrawn`, or shown as before with
    another confidence or status (`changed`). `candidates` are new ones, out of
    sight. It is empty if nothing that is shown is different.
    """

    subject_id: str
    since: datetime
    until: datetime
    is_empty: bool
    counts: dict[str, int]
    new: list[FactDiff]
    lifted: list[FactDiff]
    restored: list[FactDiff]
    changed: list[FactDiff]
    dropped: list[FactDiff]
    superseded: list[FactDiff]
    withdrawn: list[FactDiff]
    corroborated: list[Corroboration]
    contradicted: list[Contradiction]
    sources: list[SourceDiff]
    candidates: list[FactDiff]


async def between(
    session: Session, subject_id: str, since: datetime, until: datetime | None = None, *, limit: int = 100
) -> SubjectDiff:
    """What has become of a subject since a moment, up to another or to now; `limit` entries of each kind at most.

    Raises:
        NotFound: There is no such subject.
        UsageError: The second moment is not after the first.
    """
    row = await session.row(SQL["now"], {"subject_id": subject_id})
    if row is None:
        raise await Subjects(session).unknown(subject_id)
    end = row["now"] if until is None else min(until, row["now"])
    if end <= since:
        raise UsageError(f"The time from {since:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC has no length.")
    args = {
        "subject_id": subject_id,
        "since": since,
        "until": end,
        "limit": limit,
        "shown": list(SHOWN_STATUSES),
    }
    rows = {name: await session.rows(SQL[name], args) for name in ("facts", *ENTRY_TYPES)}
    return _assemble(subject_id, since, end, rows)


async def between_batches(session: Session, earlier: UUID, later: UUID, *, limit: int = 100) -> SubjectDiff:
    """What has become of a subject from the end of one of its batches to the end of another.

    Raises:
        NotFound: There is no such batch.
        Conflict: One of them is not finished.
        UsageError: They have different subjects, or the second ended first.
    """
    rows = await session.rows(SQL["batches"], {"ids": [earlier, later]})
    batches = {row["id"]: row for row in rows}
    for batch_id in (earlier, later):
        if batch_id not in batches:
            raise NotFound(f"There is no batch {batch_id}.", remedies=(SEE_BATCHES,))
        if batches[batch_id]["finished_at"] is None:
            raise Conflict(f"Batch {batch_id} is not finished; what it has brought is not known yet.")
    first, second = batches[earlier], batches[later]
    if first["subject_id"] != second["subject_id"]:
        raise UsageError(
            f"The batches have different subjects, {first['subject_id']} and {second['subject_id']}. "
            "Give two of one subject."
        )
    if first["finished_at"] >= second["finished_at"]:
        raise UsageError(f"Batch {later} had ended before {earlier}: give the earlier one first.")
    return await between(
        session, first["subject_id"], first["finished_at"], second["finished_at"], limit=limit
    )


ENTRY_TYPES: Mapping[str, type] = {
    "corroborated": Corroboration,
    "contradicted": Contradiction,
    "sources": SourceDiff,
}


def _assemble(
    subject_id: str, since: datetime, until: datetime, rows_by_kind: Mapping[str, list[DictRow]]
) -> SubjectDiff:
    counts = dict.fromkeys(COUNTS, 0)
    lists: dict[str, list[Any]] = {name: [] for name in FACT_KINDS}
    for row in rows_by_kind["facts"]:
        kind = row.pop("kind")
        counts[kind] = row.pop("total")
        lists[kind].append(FactDiff(**row))
    for row in rows_by_kind["sources"]:
        counts["sources_back_changed"] = row.pop("back_changed")
    for name, entry in ENTRY_TYPES.items():
        for row in rows_by_kind[name]:
            counts[f"sources_{row['kind']}" if name == "sources" else name] = row.pop("total")
        lists[name] = [entry(**row) for row in rows_by_kind[name]]
    is_empty = not any(count for name, count in counts.items() if name != HIDDEN_KIND)
    return SubjectDiff(subject_id, since, until, is_empty, counts, **lists)
