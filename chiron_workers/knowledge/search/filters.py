from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from psycopg import sql
from psycopg.rows import DictRow

from chiron_workers.db.parameters import array
from chiron_workers.db.queries import load
from chiron_workers.db.validation import clean_text, parse_id, unit_interval
from chiron_workers.errors import ToolValidationError
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.knowledge.coverage.topic_titles import paths_of_nodes
from chiron_workers.runs.session import Session
from chiron_workers.sources.sources import canonical
from chiron_workers.states import HIDDEN_STATUSES, SHOWN_STATUSES, FactStatus

SQL = load(__file__)

SOURCE_CHARS_MAX = 2_000
CLAUSES_MAX = 64  # that are kept, joined


@dataclass(frozen=True, slots=True)
class Filters:
    """Which facts a search may find; what is left out does not narrow it. Without a subject those of all."""

    subject_id: str | None = None
    min_confidence: float = 0.0
    # Also facts that are not confirmed well enough yet, or that no source says any more.
    candidates: bool = False
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

    `vector_clause` filters by subject, status and confidence, which the table of vectors has too; `fact_clause` by what
    only facts have, and is None where nothing of that is filtered.
    """

    vector_clause: sql.Composed
    fact_clause: sql.Composed | None
    args: dict[str, Any]

    @property
    def clause(self) -> sql.Composed:
        """Both clauses, for the table of facts."""
        return (
            self.vector_clause
            if self.fact_clause is None
            else self.vector_clause + sql.SQL("\n   ") + self.fact_clause
        )

    @property
    def is_plain(self) -> bool:
        """Whether only subject and status are filtered."""
        return self.fact_clause is None and not self.args["min_confidence"]

    @property
    def is_plain_in_subject(self) -> bool:
        """Whether only subject and status are filtered, and there is a subject: its clause is `PLAIN_CLAUSE`."""
        return self.is_plain and "subject_id" in self.args


async def build_condition(session: Session, filters: Filters) -> Condition:
    """The filters as SQL.

    Raises:
        ToolValidationError: One of them makes no sense, or the node is not there or not of the subject.
    """
    statuses = [*SHOWN_STATUSES, *(HIDDEN_STATUSES if filters.candidates else ())]
    args: dict[str, Any] = {
        "statuses": array(statuses),
        "min_confidence": unit_interval(filters.min_confidence, field="min_confidence"),
    }
    vector_clauses, fact_clauses = ["accepted"], []
    if args["min_confidence"]:
        vector_clauses.append("confident")
    if filters.subject_id is not None:
        args["subject_id"] = slug(filters.subject_id)
        vector_clauses.append("of_subject")
    if filters.topic_path is not None:
        from chiron_workers.knowledge.facts import claims

        args["topic"] = claims.path(filters.topic_path, example="area/topic").lower()
        fact_clauses.append("under_topic")
    if filters.source is not None:
        args["source"] = _parse_source(filters.source)
        fact_clauses.append("from_address" if "/" in args["source"] else "from_domain")
    for field in ("since", "until", "validated_since"):
        if (at := getattr(filters, field)) is not None:
            args[field] = _parse_time(at, field=field)
            fact_clauses.append(field)
    if filters.node_id is not None:
        row = await _load_neighbourhood(
            session, filters.node_id, args.get("subject_id"), wide=filters.neighbours
        )
        args |= await _topic_path_args(session, row, statuses)
        fact_clauses.append("of_nodes")
    elif filters.neighbours:
        raise ToolValidationError(
            "neighbours: needs the node_id whose neighbours are meant.", field="neighbours"
        )
    return Condition(_join(*vector_clauses), _join(*fact_clauses) if fact_clauses else None, args)


async def _load_neighbourhood(
    session: Session, node_id: str, subject_id: str | None, *, wide: bool
) -> DictRow:
    """A node's `subjects`, only that of the search if it has one, and `wanted`, the ids that are asked for."""
    uuid = parse_id(node_id, field="node_id")
    row = await session.row(SQL["around"], {"node_id": uuid, "wide": wide})
    if row is None:
        raise ToolValidationError(
            f"node_id: no node has the id {uuid}; get_knowledge_tree lists the nodes of a subject.",
            field="node_id",
        )
    if subject_id is not None and subject_id not in row["subjects"]:
        raise ToolValidationError(
            f"node_id: {row['title']!r} is a node of {row['subjects'][0]!r}, not of {subject_id!r}.",
            field="node_id",
        )
    return row if subject_id is None else row | {"subjects": [subject_id]}


async def _topic_path_args(
    session: Session, row: DictRow, statuses: list[FactStatus]
) -> dict[str, list[str]]:
    """Where facts of the nodes are: subjects, and beside each a topic path."""
    places = [
        (subject_id, path)
        for subject_id in row["subjects"]
        for path in await paths_of_nodes(session, subject_id, row["wanted"], statuses)
    ]
    return {"node_subjects": [subject for subject, _ in places], "node_paths": [path for _, path in places]}


def _parse_source(text: str) -> str:
    """An address in the form in which sources are kept, or a domain in small letters."""
    source = clean_text(text, field="source", chars_max=SOURCE_CHARS_MAX)
    if "://" in source:
        return canonical(source)
    return source if "/" in source else source.lower().strip(".").partition(":")[0]


def _parse_time(at: str | datetime, *, field: str) -> datetime:
    try:
        time = at if isinstance(at, datetime) else datetime.fromisoformat(at.strip())
        return time if time.tzinfo else time.replace(tzinfo=UTC)
    except ValueError:
        raise ToolValidationError(
            f"{field}: must be a date such as 2026-03-01 or 2026-03-01T09:30Z (got {at!r:.40}).", field=field
        ) from None


@lru_cache(maxsize=CLAUSES_MAX)
def _join(*names: str) -> sql.Composed:
    return sql.SQL("\n   ").join(SQL[name] for name in names)


PLAIN_CLAUSE = _join("accepted", "of_subject")  # of each condition that is plain in a subject
