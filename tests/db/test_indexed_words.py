"""Facts and passages of a worker of the version before, which knows neither languages nor pairs of characters."""

from psycopg.sql import SQL
from support.facts_with_vectors import keep

from chiron_workers.db.connect import Pool
from chiron_workers.knowledge.corpus import Corpus
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
   set tsv = to_tsvector('simple', 'کتاب\u200cها'),
       words_version = null
"""


async def test_words_that_a_version_before_indexed_in_another_form_are_indexed_again(pool: Pool) -> None:
    for content in ("او کتاب\u200cهای زیادی دارد.", "The tides are raised by the Moon."):
        await keep(pool, None, content)
    async with Session(pool) as session:
        await Corpus(session).add_texts(
            "پل", [("a.txt", "پل", "پل\u200cها چوبی هستند."), ("b.txt", "Moon", "It rises.")]
        )
    assert await index_words(pool) == 2
    assert await index_words(pool) == 0
    async with Session(pool) as session:
        for texts in ("facts", "passages"):
            await session.write(SQL(OLD_FORM).format(texts=SQL(texts)))
    # Those without letters or digits that are folded now have the same words in both forms.
    assert await index_words(pool) == 2
    assert await index_words(pool) == 0
    columns = "select tsv @@ 'كتاب'::tsquery as is_folded from facts where content like 'او%'"
    assert await Session(pool).rows(columns) == [{"is_folded": True}]
    [hit] = await Corpus(Session(pool)).search("پل ها", subject="پل", limit=1)
    assert hit["title"] == "پل"


async def test_a_fact_that_does_not_tell_its_language_has_that_of_most_of_its_subject(pool: Pool) -> None:
    for n in range(3):
        await keep(pool, None, f"Die Häuser der Stadt sind alt, und es sind {n} von ihnen.")
    await keep(pool, None, "The tides are raised by the Moon.")
    await index_words(pool)
    await keep(pool, None, "Kirchen, Häuser, Türme")
    await index_words(pool)
    [row] = await Session(pool).rows("select language from facts where content like 'Kirchen%'")
    assert row == {"language": "german"}
