from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from psycopg import sql
from psycopg.rows import DictRow

from chiron_workers.db.queries import load
from chiron_workers.db.validation import clean_text, collapse_whitespace, parse_id, unit_interval
from chiron_workers.errors import ToolValidationError
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.knowledge.coverage.topic_titles import paths_of_nodes
from chiron_workers.runs.session import Session
from chiron_workers.sources.sources import canonical
from chiron_workers.states import SHOWN_STATUSES, FactStatus

SQL = load(__file__)

TOPIC_CHARS_MAX = 500
SOURCE_CHARS_MAX = 2_000


@dataclass(frozen=True, slots=True)
class Filters:
    """Which facts a search may find; what is left out does not narrow it. Without a subject those of all."""

    subject_id: str | None = None
    min_confidence: float = 0.0
    candidates: bool = False  # also facts that are not confirmed well enough yet
    topic_path: str | None = None  # facts at this path and below it
    source: str | None = None  # an address, or a domain with those below it
    since: str | datetime | None = None  # when the fact was stored: ISO 8601, UTC where no zone is named
    until: str | datetime | None = None  # before this moment
    validated_since: str | datetime | None = None  # when its confidence was last worked out
    node_id: str | None = None  # facts that belong to this node of the coverage map
    neighbours: bool = False  # and those of its parent, children, siblings and prerequisites


@dataclass(frozen=True, slots=True)
class Condition:
    """Filters as SQL over a table `f`.

    `indexed` speaks of subject, status and confidence, which the table of vectors has too; `further` of what only
    facts have, and is None where nothing of that is filtered.
    """

    indexed: sql.Composed
    further: sql.Composed | None
    args: dict[str, Any]

    @property
    def whole(self) -> sql.Composed:
        """Both, for the table of facts."""
        return self.indexed if self.further is None else self.indexed + sql.SQL("\n   ") + self.further

    @property
    def is_plain(self) -> bool:
        """Whether they ask for nothing but a subject and a status."""
        return self.further is None and not self.args["min_confidence"]

    def narrowed(self, by: sql.Composed, args: dict[str, Any]) -> "Condition":
        """The same, and one condition more that speaks of no table."""
        return replace(self, indexed=self.indexed + sql.SQL("\n   ") + by, args=self.args | args)


async def build_condition(session: Session, filters: Filters) -> Condition:
    """What the filters ask for, as SQL.

    Raises:
        ToolValidationError: One of them makes no sense, or the node is not there or not of the subject.
    """
    args: dict[str, Any] = {
        "statuses": [*SHOWN_STATUSES] + [FactStatus.CANDIDATE] * filters.candidates,
        "min_confidence": unit_interval(filters.min_confidence, field="min_confidence"),
    }
    indexed, further = ["accepted"], []
    if filters.subject_id is not None:
        args["subject_id"] = slug(filters.subject_id)
        indexed.append("of_subject")
    if filters.topic_path is not None:
        args["topic"] = _topic(filters.topic_path)
        further.append("under_topic")
    if filters.source is not None:
        args["source"] = _source(filters.source)
        further.append("from_address" if "/" in args["source"] else "from_domain")
    for field in ("since", "until", "validated_since"):
        if (at := getattr(filters, field)) is not None:
            args[field] = _moment(at, field=field)
            further.append(field)
    if filters.node_id is not None:
        row = await _around(session, filters.node_id, args.get("subject_id"), wide=filters.neighbours)
        args |= await _places(session, row, args["statuses"])
        further.append("of_nodes")
    elif filters.neighbours:
        raise ToolValidationError(
            "neighbours: needs the node_id whose neighbours are meant.", field="neighbours"
        )
    return Condition(_all(indexed), _all(further) if further else None, args)


async def _around(session: Session, node_id: str, subject_id: str | None, *, wide: bool) -> DictRow:
    """A node's `subjects`, only that of the search if it has one, and `wanted`, the ids that are asked for."""
    found = parse_id(node_id, field="node_id")
    row = await session.row(SQL["around"], {"node_id": found, "wide": wide})
    if row is None:
        raise ToolValidationError(
            f"node_id: no node has the id {found}; get_knowledge_tree lists the nodes of a subject.",
            field="node_id",
        )
    if subject_id is not None and subject_id not in row["subjects"]:
        raise ToolValidationError(
            f"node_id: {row['title']!r} is a node of {row['subjects'][0]!r}, not of {subject_id!r}.",
            field="node_id",
        )
    return row if subject_id is None else row | {"subjects": [subject_id]}


async def _places(session: Session, row: DictRow, statuses: list[FactStatus]) -> dict[str, list[str]]:
    """Where facts of the nodes are: subjects, and beside each a topic path."""
    found = [
        (subject_id, path)
        for subject_id in row["subjects"]
        for path in await paths_of_nodes(session, subject_id, row["wanted"], statuses)
    ]
    return {"node_subjects": [subject for subject, _ in found], "node_paths": [path for _, path in found]}


def _source(text: str) -> str:
    """An address in the form in which sources are kept, or a domain in small letters."""
    found = clean_text(text, field="source", chars_max=SOURCE_CHARS_MAX)
    if "://" in found:
        return canonical(found)
    return found if "/" in found else found.lower().strip(".").partition(":")[0]


def _topic(text: str) -> str:
    steps = [
        collapse_whitespace(step)
        for step in clean_text(text, field="topic_path", chars_max=TOPIC_CHARS_MAX).split("/")
    ]
    if not any(steps):
        raise ToolValidationError("topic_path: must be a path such as area/topic.", field="topic_path")
    return "/".join(step for step in steps if step).lower()


def _moment(at: str | datetime, *, field: str) -> datetime:
    try:
        found = at if isinstance(at, datetime) else datetime.fromisoformat(at.strip())
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    except ValueError:
        raise ToolValidationError(
            f"{field}: must be a date such as 2026-03-01 or 2026-03-01T09:30Z (got {at!r:.40}).", field=field
        ) from None


def _all(names: list[str]) -> sql.Composed:
    return sql.SQL("\n   ").join(SQL[name] for name in names)
