from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, TypedDict, cast

from pgvector import HalfVector
from psycopg import sql
from psycopg.rows import DictRow

from chiron_workers.db.pipelines import Statement
from chiron_workers.db.queries import load
from chiron_workers.db.validation import clean_text, limited
from chiron_workers.embeddings import Embedder, languages_of
from chiron_workers.errors import ServiceUnpaid
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.knowledge.search import word_index
from chiron_workers.knowledge.search.filters import PLAIN_CLAUSE, Condition, Filters, build_condition
from chiron_workers.knowledge.search.vector_indexes import find_index
from chiron_workers.knowledge.search.vectors import Vectors, space_key, to_halfvec
from chiron_workers.runs.session import Session
from chiron_workers.states import SearchMode

SQL = load(__file__, word_index.QUERIES)
# Parts of them stand in those of other modules.
QUERIES = (word_index.QUERIES, Path(__file__).with_suffix(".sql"))

QUERY_CHARS_MAX = 4_000
RESULTS_MAX = 100
RANKING_DEPTH = 100  # of each ranking, before they are fused
# In a subject of up to so many facts, all that hold the rarest word of the query are ranked.
SMALL_SUBJECT_FACTS = 20_000
MATCHES_MAX = 5_000  # facts that hold the rarest in a larger one, and that its other words may promise in any
SAMPLE_FACTS = 200  # of a smaller one, for how common words are
STATEMENTS_MAX = 64  # that are kept as text
WORDS_MAX = 64  # of a query, the rarest; pairs of characters are more than words
# Chosen on other sets of questions than those that benchmarks/README.md reports.
FUSION = {"vector_weight": 0.5, "foreign_vector_weight": 0.1}


class FoundFact(TypedDict):
    """A fact that a search found, with how it stands to others."""

    id: str
    subject_id: str
    content: str
    quote: str | None
    quote_state: str  # verified: the quote stands in what was read; else unverified
    context: str  # what stands around the quote there: its heading and its lead-in
    verdict: str  # whether the quote supports the content: supported, partly, or unchecked
    source_url: str
    source_score: float
    topic_path: str
    confidence: float
    status: str
    score: float  # what the facts are ordered by, higher is better; see `Search.find`
    # Cosine to the query; None in a search of text alone, or where the fact has no vector.
    similarity: float | None
    corroborations: int  # further sources that say the same
    contradicted_by: list[str]  # ids of facts
    observed_at: str | None  # when the source was read, UTC
    valid_from: str | None  # since which year, month or day it is so, where its words say so
    valid_until: str | None
    ground: str  # stands; or that its own source has changed, is gone or was retracted
    superseded_by: str | None  # the fact that its source says instead by now
    recall: float  # that this search's path to the nearest vectors was tested at


class FactBackground(TypedDict):
    """Columns of a fact that a search does not return; `contradictions` are ids of facts, or statements."""

    validated_at: datetime
    contradictions: list[str]
    source_title: str


@dataclass(frozen=True, slots=True)
class VectorRanking:
    """A ranking by vectors as SQL, the recall it was measured at, and the planner settings it needs."""

    nearest: sql.Composed
    recall: float = 1.0
    settings: Mapping[str, list[str]] | None = None
    facts: int | None = None  # an estimate of how many are ranked, where there is one


class Search:
    """Search by meaning (vectors) and by words (full text), fused."""

    def __init__(self, session: Session, embedder: Embedder) -> None:
        self.session = session
        self.embedder = embedder
        self.vectors = Vectors(session, embedder.space)
        self.words_only = ""  # why the last search went by words alone, though more was asked for

    async def find(
        self, query: str, *, filters: Filters, limit: int, mode: SearchMode = SearchMode.HYBRID
    ) -> list[FoundFact]:
        """The facts that answer a query best, best first.

        The best hundred by the cosine of the vectors and by the words that query and fact share are ordered by half of
        each: the cosine spread over 0 to 1 among these facts, and BM25 as a share of what no fact can reach (a convex
        combination: Bruch, Gai and Ingber, TOIS 2023). Words count nine tenths where query or subject are in a language
        that the embedding model does not know. `score` is that sum; in mode text the share of BM25, in mode vector the
        cosine. Facts written under another embedding model are found by their words only; `unembedded` counts them.
        Mode text needs no embedding. Where nobody may pay for that of the query, words alone rank, and `words_only` says why.

        Raises:
            ToolValidationError: The query or a filter makes no sense; the message names it.
        """
        words = clean_text(query, field="query", chars_max=QUERY_CHARS_MAX)
        results_max = limited(limit, field="top_k", count_max=RESULTS_MAX)
        condition = await build_condition(self.session, filters)
        table = await self.vectors.table() if mode is not SearchMode.TEXT else None
        if mode is SearchMode.VECTOR and table is None:
            return []
        query_args: dict[str, Any] = {"limit": results_max, "depth": max(RANKING_DEPTH, results_max)}
        vector = None if table is None else await self._embed(words)
        if vector is None:
            mode, table = SearchMode.TEXT, None
        else:
            query_args["vector"] = to_halfvec(vector)
        if mode is not SearchMode.VECTOR:
            query_args |= word_index.query_args(words)
        rows = await self._search_small(mode, condition, table, query_args) or await self._search_large(
            mode, condition, table, query_args
        )
        self.session.searched_ids.update(row["id"] for row in rows)
        return cast("list[FoundFact]", rows)

    async def _embed(self, words: str) -> list[float] | None:
        """The vector of a query; None where nobody may pay for it."""
        self.words_only = ""
        try:
            [vector] = await self.embedder.embed([words], query=True)
        except ServiceUnpaid as refusal:
            self.words_only = f"Words alone were searched. {refusal}"
            return None
        return vector

    async def nearest(self, vector: Sequence[float], subject_id: str, *, limit: int) -> list[DictRow]:
        """The facts of a subject nearest to a vector, candidates too but no withdrawn ones, nearest first.

        Each has id, content, status and cosine.
        """
        rows, _ = await self.nearest_beside(to_halfvec(vector), subject_id, limit=limit)
        return rows

    async def nearest_beside(
        self,
        vector: HalfVector,
        subject_id: str,
        *,
        limit: int,
        quoted_hash: str | None = None,
        beside: Sequence[Statement] = (),
    ) -> tuple[list[DictRow], list[list[DictRow]]]:
        """As `nearest`, and the rows of other queries that go out first and together with it.

        Args:
            quoted_hash: Of a text; `is_same_text` says whether it bears a fact out, too.
        """
        table = await self.vectors.table()
        if table is None:
            return [], await self.session.rows_of(*beside)
        condition = await build_condition(self.session, Filters(subject_id, candidates=True))
        query_args = {"vector": vector, "depth": limit, "quoted_hash": quoted_hash}
        statement = _small_nearest(table.as_string())
        args = condition.args | space_key(self.embedder.space) | query_args
        search = Statement(statement, args, prepare=True)
        *further_rows, rows = await self.session.rows_of(*beside, search)
        if not rows:
            ranking = await self._vector_ranking(table, condition)
            further_search = SQL["nearest"].format(nearest=ranking.nearest)
            rows = await self._rows(further_search, condition.args | query_args, ranking)
        return rows, further_rows

    async def background(self, fact_ids: Sequence[str]) -> dict[str, FactBackground]:
        """What a search does not return of facts, by id."""
        rows = await self.session.rows(SQL["background"], {"fact_ids": list(fact_ids)})
        return {row["id"]: cast("FactBackground", row) for row in rows}

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

    async def _search_small(
        self, mode: SearchMode, condition: Condition, table: sql.Identifier | None, query_args: dict[str, Any]
    ) -> list[DictRow]:
        """Search a small subject by one prepared statement; no rows where the subject is not small."""
        if not condition.is_plain_in_subject:
            return []
        args = condition.args | self._fusion_args() | _size_args(SMALL_SUBJECT_FACTS) | query_args
        args |= space_key(self.embedder.space) | {"few": SMALL_SUBJECT_FACTS, "recall": 1.0}
        if mode is SearchMode.VECTOR:  # ranked exactly, and fused with nothing
            args["depth"] = args["limit"]
        statement = _small_search(mode, table.as_string() if table else None)
        return await self.session.rows(statement, args, prepare=True)

    async def _search_large(
        self, mode: SearchMode, condition: Condition, table: sql.Identifier | None, query_args: dict[str, Any]
    ) -> list[DictRow]:
        ranking = await self._vector_ranking(table, condition) if table else VectorRanking(sql.Composed([]))
        facts = None if mode is SearchMode.VECTOR else ranking.facts or await self._count_if_small(condition)
        sizes = _size_queries(condition, facts)
        statement = _statement(mode, condition, table, ranking.nearest, sizes)
        args = (
            condition.args | self._fusion_args() | _size_args(facts) | query_args | {"recall": ranking.recall}
        )
        return await self._rows(statement, args, ranking)

    def _fusion_args(self) -> dict[str, Any]:
        return FUSION | {"embedded_languages": languages_of(self.embedder.space)}

    async def _rows(
        self, statement: sql.Composed, args: dict[str, Any], ranking: VectorRanking
    ) -> list[DictRow]:
        if ranking.settings is None:
            return await self.session.rows(statement, args, prepare=False)
        async with self.session.reading() as connection:
            await connection.execute(SQL["plan_with"], ranking.settings)
            return await (await connection.execute(statement, args, prepare=False)).fetchall()

    async def _count_if_small(self, condition: Condition) -> int | None:
        if "subject_id" not in condition.args:
            return None
        row = await self.session.row(SQL["count_up_to"], condition.args | {"limit": SMALL_SUBJECT_FACTS + 1})
        return row["facts"] if row and row["facts"] <= SMALL_SUBJECT_FACTS else None

    async def _vector_ranking(self, table: sql.Identifier, condition: Condition) -> VectorRanking:
        # What other filters leave is ranked exactly, since no recall was measured with them.
        if not condition.is_plain:
            clause = condition.vector_clause
            if condition.fact_clause is not None:
                clause = sql.SQL("\n   ").join([clause, SQL["further"].format(condition=condition.clause)])
            return VectorRanking(SQL["nearest_exactly"].format(table=table, condition=clause))
        index = await find_index(self.session, self.embedder.space, condition.args.get("subject_id"))
        if index is None:
            return VectorRanking(_exact_ranking(table, condition))
        nearest = SQL["nearest_about"].format(table=table, condition=condition.vector_clause)
        return VectorRanking(nearest, index.recall, index.settings, index.facts)


# To compose a statement takes as long as a search of a small subject, so it is done once for each table of vectors.
@lru_cache(maxsize=STATEMENTS_MAX)
def _small_search(mode: SearchMode, table_name: str | None) -> sql.SQL:
    condition = _small_condition(mode)
    table = sql.SQL(table_name) if table_name else None
    nearest = _exact_ranking(table, condition) if table else sql.Composed([])
    return _rendered(_statement(mode, condition, table, nearest, ("size_counted", "sampled")))


@lru_cache(maxsize=STATEMENTS_MAX)
def _small_nearest(table_name: str) -> sql.SQL:
    ranking = _exact_ranking(sql.SQL(table_name), _small_condition(SearchMode.VECTOR))
    return _rendered(SQL["nearest"].format(nearest=ranking))


def _small_condition(mode: SearchMode) -> Condition:
    """The filters of a plain search, and that the subject has few enough facts to look up each word and no approximate index."""
    names = [] if mode is SearchMode.VECTOR else ["if_few"]
    names += [] if mode is SearchMode.TEXT else ["if_unindexed"]
    clause = sql.SQL("\n   ").join([PLAIN_CLAUSE, *(SQL[name] for name in names)])
    # Which subject it is, the arguments of the search say; here it counts that there is one.
    return Condition(clause, None, {"subject_id": None})


def _rendered(statement: sql.Composed) -> sql.SQL:
    return sql.SQL(statement.as_string())


def _exact_ranking(table: sql.Composable, condition: Condition) -> sql.Composed:
    return SQL["nearest_exactly"].format(table=table, condition=condition.vector_clause)


def _size_args(facts: int | None) -> dict[str, int | None]:
    matches_max = SMALL_SUBJECT_FACTS if facts is not None and facts <= SMALL_SUBJECT_FACTS else MATCHES_MAX
    return {
        "size": facts,
        "matches_max": matches_max,
        "expected_max": MATCHES_MAX,
        "sample_max": SAMPLE_FACTS,
        "words_max": WORDS_MAX,
    }


def _size_queries(condition: Condition, facts: int | None) -> tuple[str, str]:
    """The name of the query that says how many facts are searched, and where it stands how common their words are."""
    if "subject_id" not in condition.args:
        return "size_of_all" if facts is None else "size_known", "listed"
    if facts is None:
        return "size_of_a_subject", "listed"
    return "size_known", "sampled" if facts <= SMALL_SUBJECT_FACTS else "listed"


def _statement(
    mode: SearchMode,
    condition: Condition,
    table: sql.Composable | None,
    nearest: sql.Composed,
    size: tuple[str, str],
) -> sql.Composed:
    scope = "a_subject" if "subject_id" in condition.args else "all"
    parts = {
        "nearest": SQL["nearest_first"].format(nearest=nearest) if mode is SearchMode.HYBRID else sql.SQL(""),
        "nearest_matches": SQL["nearest_matches"] if mode is SearchMode.HYBRID else sql.SQL(""),
    }
    match_clauses = SQL["matching"].format(
        size=SQL[size[0]],
        common=SQL["sampled_facts" if size[1] == "sampled" else "common_words"],
        share=SQL[f"share_{size[1]}"],
        languages=SQL[f"languages_of_{scope}"],
        count_of_term=SQL["count_of_term"],
        condition=condition.clause,
        **parts,
    )
    similarity, vectors = "similarity", SQL["vectors"].format(table=table) if table else None
    if mode is SearchMode.VECTOR:
        similarity, vectors = "similarity_ranked", None
    elif table is None:
        similarity = "no_similarity"
    result_query = SQL["shown"].format(similarity=SQL[similarity], vectors=vectors or sql.SQL(""))
    return SQL[mode].format(
        nearest=nearest,
        matching=match_clauses,
        worded=SQL["worded"],
        shown=result_query,
        table=table or sql.SQL(""),
        weight=SQL["weight"].format(subject_language=SQL[f"language_of_{scope}"]),
    )
