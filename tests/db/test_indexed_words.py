"""Facts and passages of a worker of the version before, which knows neither languages nor pairs of characters."""

from psycopg.sql import SQL
from support.facts_with_vectors import keep

from chiron_workers.db.connect import Pool
from chiron_workers.knowledge.corpus import Corpus
from chiron_workers.knowledge.search.word_index import SQL as QUERIES
from chiron_workers.knowledge.search.word_index import index_words
from chiron_workers.runs.session import Session

OLD_PASSAGES = """
update passages
   set language = null,
       tsv = to_tsvector('english', translate(body, './_\\', '    '))
"""


async def test_a_fact_without_words_gets_english_ones_and_is_indexed_anew_by_a_worker(pool: Pool) -> None:
    await keep(pool, None, "Die Häuser der Stadt sind alt.")
    columns = "select language, terms, tsv @@ 'haus'::tsquery as is_stemmed from facts"
    assert await Session(pool).rows(columns) == [{"language": None, "terms": 6, "is_stemmed": False}]
    assert await index_words(pool) == 1
    assert await Session(pool).rows(columns) == [{"language": "german", "terms": 3, "is_stemmed": True}]
    [subject] = await Session(pool).rows("select languages from subjects")
    assert subject == {"languages": ["german"]}


async def test_a_passage_of_a_worker_of_the_version_before_is_indexed_anew(pool: Pool) -> None:
    async with Session(pool) as session:
        await Corpus(session).add_texts("Mond", [("a.txt", "Der Mond", "東京都は日本の首都です。")])
        await session.write(SQL(OLD_PASSAGES))
    assert await Corpus(Session(pool)).search("首都", subject="Mond", limit=1) == []
    assert await index_words(pool) == 1
    [hit] = await Corpus(Session(pool)).search("首都", subject="Mond", limit=1)
    assert hit["title"] == "Der Mond"
    [hit] = await Corpus(Session(pool)).search("Mond", subject="Mond", limit=1)
    assert 0 < hit["score"] < 1


OLD_FORM = """
update {texts}
   set tsv = case when tsv::text ~ '[\u0600-\u06ff]' then to_tsvector('simple', 'کتاب\u200cها') else tsv end,
       words_version = null
"""


async def test_words_that_a_version_before_indexed_in_another_form_are_indexed_again(pool: Pool) -> None:
    for content in ("او کتاب\u200cهای زیادی دارد.", "The tides are raised by the Moon."):
        await keep(pool, None, content)
    async with Session(pool) as session:
        texts = [
            ("a.txt", "پل", "پل\u200cها چوبی هستند."),
            ("b.txt", "Moon", "It rises."),
            ("c.txt", "رود", "It flows."),
        ]
        await Corpus(session).add_texts("پل", texts)
    assert await index_words(pool) == 2
    assert await index_words(pool) == 0
    async with Session(pool) as session:
        for table in ("facts", "passages"):
            await session.write(SQL(OLD_FORM).format(texts=SQL(table)))
    # Those without letters or digits that are folded now have the same words in both forms.
    assert await index_words(pool) == 3
    assert await index_words(pool) == 0
    columns = "select tsv @@ 'كتاب'::tsquery as is_folded from facts where content like 'او%'"
    assert await Session(pool).rows(columns) == [{"is_folded": True}]
    for query, title in (("پل ها", "پل"), ("رود", "رود")):
        [hit] = await Corpus(Session(pool)).search(query, subject="پل", limit=1)
        assert hit["title"] == title


async def test_what_is_left_to_index_is_read_in_the_order_of_indexes_that_hold_nothing_else(
    pool: Pool,
) -> None:
    indexes = {
        "facts": "facts_unindexed",
        "earlier_facts": "facts_of_earlier_words",
        "passages": "passages_unindexed",
        "earlier_passages": "passages_of_earlier_words",
    }
    async with Session(pool) as session:
        await session.write("set local enable_seqscan = off")
        for texts, index in indexes.items():
            plan = await session.write(SQL("explain ") + QUERIES[texts], {"limit": 200})
            assert any(f"Index Scan using {index}" in row["QUERY PLAN"] for row in plan), plan


async def test_a_fact_that_does_not_tell_its_language_has_that_of_most_of_its_subject(pool: Pool) -> None:
    for n in range(3):
        await keep(pool, None, f"Die Häuser der Stadt sind alt, und es sind {n} von ihnen.")
    await keep(pool, None, "The tides are raised by the Moon.")
    await index_words(pool)
    await keep(pool, None, "Kirchen, Häuser, Türme")
    await index_words(pool)
    [row] = await Session(pool).rows("select language from facts where content like 'Kirchen%'")
    assert row == {"language": "german"}
