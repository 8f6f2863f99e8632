from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict, cast

from psycopg import sql
from psycopg.rows import DictRow

from chiron_workers.db.queries import load
from chiron_workers.db.validation import clean_text, limited
from chiron_workers.embeddings import Embedder
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.knowledge.search.filters import Condition, Filters, build_condition
from chiron_workers.knowledge.search.vector_indexes import USABLE, find_index
from chiron_workers.knowledge.search.vectors import Vectors, space_key, to_halfvec
from chiron_workers.runs.session import Session
from chiron_workers.states import SearchMode

SQL = load(__file__)

QUERY_CHARS_MAX = 4_000
RESULTS_MAX = 100
DEPTH = 100  # of each ranking, before they are fused
FEW = 20_000  # in a subject of up to so many facts, all that hold a word of the query are ranked
MATCHES_MAX = 5_000  # facts whose words are ranked in a larger one
WORDS_MAX = 32  # of a query, the rarest
# With 60, as the paper has it, a fact in both rankings passes the first of one, and hybrid fell behind vectors alone.
FUSION = {"k": 10, "vector_weight": 2, "text_weight": 1}


class FoundFact(TypedDict):
    """A fact that a search found, with how it stands to others."""

    id: str
    subject_id: str
    content: str
    quote: str | None
    quote_state: str  # verified: the quote stands in what was read; else unverified
    source_url: str
    source_score: float
    topic_path: str
    confidence: float
    status: str
    score: float  # what the facts are ordered by, higher is better; see `Search.find`
    similarity: (
        float | None
    )  # cosine to the query; None in a search of text alone, or where the fact has no vector
    corroborations: int  # further sources that say the same
    contradicted_by: list[str]  # ids of facts
    recall: float  # that this search's path to the nearest vectors was tested at


class Neighbour(TypedDict):
    """A fact near to a vector."""

    id: str
    content: str
    status: str
    cosine: float


@dataclass(frozen=True, slots=True)
class FactBackground:
    """What is known of a fact beside its words; `contradictions` are ids of facts, or statements."""

    validated_at: datetime
    contradictions: tuple[str, ...]
    source_title: str


@dataclass(frozen=True, slots=True)
class VectorRanking:
    """A way to the nearest vectors: the ranking as SQL, the recall it was tested at, and what the planner is told."""

    nearest: sql.Composed
    recall: float = 1.0
    settings: Mapping[str, str] | None = None
    facts: int | None = None  # about how many there are, where that is known


class Search:
    """Finds facts by what they mean and by their words."""

    def __init__(self, session: Session, embedder: Embedder) -> None:
        self.session = session
        self.embedder = embedder
        self.vectors = Vectors(session, embedder.space)

    async def find(
        self, query: str, *, filters: Filters, limit: int, mode: SearchMode = SearchMode.HYBRID
    ) -> list[FoundFact]:
        """The facts that answer a query best, best first.

        Two rankings, by cosine of the vectors and by the words that query and fact share, each word weighted with
        its rarity, are fused by reciprocal rank: 2 / (10 + place) for the first, 1 / (10 + place) for the second
        (Cormack, Clarke, Büttcher: Reciprocal Rank Fusion, SIGIR 2009). `score` is that sum as a share of what the
        first place in both would give, so 1 at most. In mode text it is the same of the one ranking, in mode vector
        the cosine. Facts written under another embedding model are found by their words only; `unembedded` counts
        them. Mode text needs no embedding.

        Raises:
            ToolValidationError: The query or a filter makes no sense; the message names it.
        """
        words = clean_text(query, field="query", chars_max=QUERY_CHARS_MAX)
        most = limited(limit, field="top_k", count_max=RESULTS_MAX)
        wanted = await build_condition(self.session, filters)
        table = await self.vectors.table() if mode is not SearchMode.TEXT else None
        if mode is SearchMode.VECTOR and table is None:
            return []
        asked = {"query": words, "limit": most, "depth": max(DEPTH, most)}
        if table is None:
            mode = SearchMode.TEXT
        else:
            [vector] = await self.embedder.embed([words], query=True)
            asked["vector"] = to_halfvec(vector)
        rows = await self._at_once(mode, wanted, table, asked) or await self._step_by_step(
            mode, wanted, table, asked
        )
        return cast("list[FoundFact]", rows)

    async def nearest(self, vector: Sequence[float], subject_id: str, *, limit: int) -> list[Neighbour]:
        """The facts of a subject nearest to a vector, candidates too but no withdrawn ones, nearest first."""
        table = await self.vectors.table()
        if table is None:
            return []
        wanted = await build_condition(self.session, Filters(subject_id, candidates=True))
        asked = {"vector": to_halfvec(vector), "depth": limit}
        here = self._if_small(SearchMode.VECTOR, wanted)
        statement = SQL["nominate"].format(nearest=_exactly(table, here))
        rows = await self.session.rows(statement, here.args | asked, prepare=True)
        if not rows:
            path = await self._path(table, wanted)
            statement = SQL["nominate"].format(nearest=path.nearest)
            rows = await self._rows(statement, wanted.args | asked, path)
        return cast("list[Neighbour]", rows)

    async def background(self, fact_ids: Sequence[str]) -> dict[str, FactBackground]:
        """What is known of facts beside their words, by id."""
        rows = await self.session.rows(SQL["background"], {"fact_ids": list(fact_ids)})
        return {
            row["id"]: FactBackground(
                row["validated_at"], tuple(row["contradictions"]), row["source_title"] or ""
            )
            for row in rows
        }

    async def unembedded(self, subject_id: str | None = None) -> int:
        """How many accepted facts are found by their words only, stored under another embedding model."""
        args = {"subject_id": slug(subject_id) if subject_id is not None else None}
        table = await self.vectors.table()
        scope = SQL["in_all" if subject_id is None else "in_a_subject"]
        query = (
            SQL["unembedded"].format(table=table, scope=scope)
            if table
            else SQL["accepted"].format(scope=scope)
        )
        row = await self.session.row(query, args)
        return int(row["facts"]) if row else 0

    async def _at_once(
        self, mode: SearchMode, wanted: Condition, table: sql.Identifier | None, asked: dict[str, Any]
    ) -> list[DictRow]:
        """What a small subject has, by one statement that is not planned each time; nothing where it is not small."""
        if not wanted.is_plain or "subject_id" not in wanted.args:
            return []
        here = self._if_small(mode, wanted)
        nearest = _exactly(table, here) if table else sql.Composed([])
        statement = _statement(mode, here, table, nearest, ("size_counted", "no_words"))
        args = here.args | FUSION | _bounds(FEW) | asked | {"recall": 1.0}
        return await self.session.rows(statement, args, prepare=True)

    async def _step_by_step(
        self, mode: SearchMode, wanted: Condition, table: sql.Identifier | None, asked: dict[str, Any]
    ) -> list[DictRow]:
        path = await self._path(table, wanted) if table else VectorRanking(sql.Composed([]))
        facts = None if mode is SearchMode.VECTOR else path.facts or await self._few(wanted)
        statement = _statement(mode, wanted, table, path.nearest, _size(wanted, facts))
        args = wanted.args | FUSION | _bounds(facts) | asked | {"recall": path.recall}
        return await self._rows(statement, args, path)

    def _if_small(self, mode: SearchMode, wanted: Condition) -> Condition:
        """The same, where a subject has so few facts that each word is looked up, and no approximate index."""
        parts = [] if mode is SearchMode.VECTOR else [SQL["if_few"].format()]
        if mode is not SearchMode.TEXT:
            parts.append(SQL["if_unindexed"].format(usable=USABLE))
        return wanted.narrowed(sql.SQL("\n   ").join(parts), {"few": FEW} | space_key(self.embedder.space))

    async def _rows(
        self, statement: sql.Composed, args: dict[str, Any], path: VectorRanking
    ) -> list[DictRow]:
        if path.settings is None:
            return await self.session.rows(statement, args, prepare=False)
        async with self.session.reading() as connection:
            given = {"names": list(path.settings), "values": list(path.settings.values())}
            await connection.execute(SQL["plan_with"], given)
            return await (await connection.execute(statement, args, prepare=False)).fetchall()

    async def _few(self, wanted: Condition) -> int | None:
        if "subject_id" not in wanted.args:
            return None
        row = await self.session.row(SQL["count_up_to"], wanted.args | {"limit": FEW + 1})
        return row["facts"] if row and row["facts"] <= FEW else None

    async def _path(self, table: sql.Identifier, wanted: Condition) -> VectorRanking:
        if (
            not wanted.is_plain
        ):  # what other filters leave is ranked exactly, since no recall was measured with them
            whole = wanted.indexed
            if wanted.further is not None:
                whole = sql.SQL("\n   ").join([whole, SQL["further"].format(condition=wanted.whole)])
            return VectorRanking(SQL["nearest_exactly"].format(table=table, condition=whole))
        index = await find_index(self.session, self.embedder.space, wanted.args.get("subject_id"))
        if index is None:
            return VectorRanking(_exactly(table, wanted))
        nearest = SQL["nearest_about"].format(table=table, condition=wanted.indexed)
        return VectorRanking(nearest, index.recall, index.settings, index.facts)


def _exactly(table: sql.Identifier, wanted: Condition) -> sql.Composed:
    return SQL["nearest_exactly"].format(table=table, condition=wanted.indexed)


def _bounds(facts: int | None) -> dict[str, int | None]:
    matches_max = FEW if facts is not None and facts <= FEW else MATCHES_MAX
    return {"size": facts, "matches_max": matches_max, "words_max": WORDS_MAX}


def _size(wanted: Condition, facts: int | None) -> tuple[str, str]:
    """How it is known how many facts are searched, and how common their words are: two queries by name."""
    guess = "size_of_a_subject" if "subject_id" in wanted.args else "size_of_all"
    common = "no_words" if facts is not None and facts <= FEW else "common_words"
    return guess if facts is None else "size_known", common


def _statement(
    mode: SearchMode,
    wanted: Condition,
    table: sql.Identifier | None,
    nearest: sql.Composed,
    size: tuple[str, str],
) -> sql.Composed:
    facts, common = (SQL[name] for name in size)
    matching = SQL["matching"].format(size=facts, common=common, condition=wanted.whole)
    shown = SQL["shown"].format(
        similarity=SQL["similarity" if table else "no_similarity"],
        vectors=SQL["vectors"].format(table=table) if table else sql.SQL(""),
    )
    return SQL[mode].format(nearest=nearest, matching=matching, worded=SQL["worded"], shown=shown)
