"""What the project's search is held against: BM25, and the full text search of Postgres, over the facts of a subject."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from chiron_workers.db.queries import load
from chiron_workers.knowledge.search.filters import Filters
from chiron_workers.knowledge.search.word_index import tsvector
from chiron_workers.language.terms import terms_of_query
from chiron_workers.states import SearchMode
from chiron_workers.store import Store

SQL = load(__file__)
STOP_WORDS = ("en", "de", "nl", "fr", "es", "pt", "it", "ru", "sv", "no", "zh")  # whose lists bm25s has

Ranking = Callable[[str], Awaitable[Sequence[str]]]  # ids of facts for a question, best first


async def rankings(
    store: Store, subject_id: str, texts: dict[str, str], *, language: str, limit: int
) -> dict[str, Ranking]:
    """The project's search in each of its modes, then what it is compared with, by name; `limit` facts each.

    Args:
        texts: The facts of the subject, by id.
        language: Whose stop words BM25 leaves out, as `de`; English ones where bm25s has no list.
    """
    found: dict[str, Ranking] = {
        f"Chiron, {mode}": _searching(store, subject_id, mode, limit)
        for mode in (SearchMode.HYBRID, SearchMode.VECTOR, SearchMode.TEXT)
    }
    found["BM25"] = _bm25(texts, language, limit)
    found["BM25, same terms"] = await _bm25_stemmed(store, subject_id, limit)
    for name, query in (("full text, any word", "any_word"), ("full text, every word", "all_words")):
        found[name] = _full_text(store, subject_id, query, limit)
    return found


def _searching(store: Store, subject_id: str, mode: SearchMode, limit: int) -> Ranking:
    async def rank(question: str) -> Sequence[str]:
        facts = await store.search.find(question, filters=Filters(subject_id), limit=limit, mode=mode)
        return [fact["id"] for fact in facts]

    return rank


def _full_text(store: Store, subject_id: str, query: str, limit: int) -> Ranking:
    async def rank(question: str) -> Sequence[str]:
        args = {"query": question, "subject_id": subject_id, "limit": limit}
        return [row["id"] for row in await store.session.rows(SQL[query], args)]

    return rank


def _bm25(texts: dict[str, str], language: str, limit: int) -> Ranking:
    import bm25s

    index, ids = bm25s.BM25(), list(texts)
    stopwords = language if language in STOP_WORDS else "en"
    words = bm25s.tokenize(list(texts.values()), stopwords=stopwords, return_ids=False, show_progress=False)
    index.index(words, show_progress=False)

    async def rank(question: str) -> Sequence[str]:
        [arguments] = bm25s.tokenize([question], stopwords=stopwords, return_ids=False, show_progress=False)
        return _best(index, ids, arguments, limit)

    return rank


async def _bm25_stemmed(store: Store, subject_id: str, limit: int) -> Ranking:
    import bm25s

    rows = await store.session.rows(SQL["of_texts"], {"subject_id": subject_id})
    index, ids = bm25s.BM25(), [row["id"] for row in rows]
    index.index([_words(row) for row in rows], show_progress=False)

    async def rank(question: str) -> Sequence[str]:
        terms = terms_of_query(question)
        pairs = [pair.partition(":")[0].strip("'") for pair in terms.pairs]
        args = {"subject_id": subject_id, "words": terms.words, "pairs": tsvector(pairs)}
        [row] = await store.session.rows(SQL["of_a_question"], args)
        return _best(index, ids, _words(row), limit)

    return rank


def _words(row: Any) -> list[str]:
    pairs = zip(row["lexemes"] or (), row["times"] or (), strict=True)
    return [lexeme for lexeme, times in pairs for _ in range(times)]


def _best(index: Any, ids: list[str], arguments: list[str], limit: int) -> list[str]:
    if not (known := [word for word in arguments if word in index.vocab_dict]):
        return []
    places, scores = index.retrieve([known], k=min(limit, len(ids)), show_progress=False)
    return [ids[place] for place, score in zip(places[0], scores[0], strict=True) if score > 0]
