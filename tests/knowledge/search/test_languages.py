"""Search by words in other languages than English; `words` alone, so that no vector helps."""

from typing import Any

import pytest
from psycopg.sql import SQL
from support.facts_with_vectors import keep

from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.knowledge.search import search as search_module
from chiron_workers.knowledge.search.filters import Filters
from chiron_workers.knowledge.search.search import Search
from chiron_workers.knowledge.search.word_index import index_words
from chiron_workers.runs.session import Session
from chiron_workers.states import SearchMode


async def store(pool: Pool, *contents: str, subject_id: str = "moon") -> None:
    """Keep facts, indexed in the language that each is in."""
    for content in contents:
        await keep(pool, None, content, subject_id=subject_id)
    await index_words(pool)


async def search(pool: Pool, embedder: Embedder, query: str, **fields: Any) -> list[str]:
    filters = Filters(fields.pop("subject_id", "moon"))
    mode = fields.pop("mode", SearchMode.TEXT)
    facts = await Search(Session(pool), embedder).find(query, filters=filters, limit=10, mode=mode)
    return [fact["content"] for fact in facts]


GERMAN = (
    "Die Häuser der Stadt stehen auf einem Hügel über dem Fluss.",
    "Der Mond wird von der Sonne beleuchtet, und er dreht sich um die Erde.",
    "Im Jahr 2009 schlug die Sonde LCROSS im Krater Cabeus ein.",
)
RUSSIAN = (
    "Луна вращается вокруг Земли по эллиптической орбите.",
    "В реках Сибири живёт много рыбы, и её ловят зимой.",
)


PERSIAN = (
    "او هر روز به کتابخانه می\u200cرود و کتاب\u200cهای تازه می\u200cخواند.",
    "جمعیت شهر در سال ۱۳۹۵ به ۲۵۰۰۰ نفر رسید و پل چوبی ساخته شد.",
)


@pytest.mark.parametrize(
    ("texts", "query", "best"),
    [
        (PERSIAN, "کتاب", 0),
        (PERSIAN, "چه کسی كتاب هاي تازه میخواند؟", 0),
        (PERSIAN, "25000", 1),
        (PERSIAN, "١٣٩٥", 1),
        (("يبلغ ارتفاع البرج ٣٣٠ مترا.", "أُسِّسَت المدرسة في القرن الماضي."), "اسست", 1),
        (GERMAN, "Haus", 0),
        (GERMAN, "welches haus steht auf hügeln?", 0),
        (GERMAN, "Monde", 1),
        (GERMAN, "KRATERN", 2),
        (RUSSIAN, "лунная орбита", 0),
        (RUSSIAN, "Где ловят РЫБУ?", 1),
        (RUSSIAN, "река", 1),
        (
            ("Les chevaux mangent l'herbe de la prairie.", "Le chat dort sur le lit."),
            "que mange le cheval ?",
            0,
        ),
        (("東京都は日本の首都です。", "富士山は日本で一番高い山です。"), "首都はどこですか", 0),
        (("東京都は日本の首都です。", "富士山は日本で一番高い山です。"), "山", 1),
        (("月球围绕地球运行。", "水在零度结冰。"), "地球", 0),
        (("月球围绕地球运行。", "水在零度结冰。"), "冰", 1),
        (("กรุงเทพเป็นเมืองหลวงของประเทศไทย", "ช้างเป็นสัตว์ขนาดใหญ่"), "เมืองหลวง", 0),
        (("서울은 대한민국의 수도이다.", "고래는 바다에 산다."), "수도는 어디인가", 0),
        (("ភ្នំពេញគឺជារាជធានីនៃប្រទេសកម្ពុជា", "ដំរីជាសត្វធំ"), "រាជធានី", 0),
    ],
)
async def test_a_query_in_the_language_of_the_facts_finds_them_in_other_forms_and_without_spaces(
    pool: Pool, embedder: Embedder, texts: tuple[str, ...], query: str, best: int
) -> None:
    await store(pool, *texts)
    assert (await search(pool, embedder, query))[:1] == [texts[best]]


async def test_facts_of_several_languages_in_one_subject_are_each_found_in_their_own_stems(
    pool: Pool, embedder: Embedder
) -> None:
    english = "The tides of the sea are raised by the Moon and they follow it."
    await store(pool, *GERMAN, *RUSSIAN, english, "潮汐是由月球引起的。")
    for query, best in (
        ("Häuser", GERMAN[0]),
        ("рыба", RUSSIAN[1]),
        ("tide", english),
        ("月球", "潮汐是由月球引起的。"),
    ):
        assert (await search(pool, embedder, query))[:1] == [best]
        assert (await search(pool, embedder, query, subject_id=None))[:1] == [best]


async def test_identifiers_and_numbers_are_found_in_every_language(pool: Pool, embedder: Embedder) -> None:
    texts = (
        "Der Fehler CVE-2021-44228 steckt in log4j und wurde im Dezember bekannt.",
        "Die Methode str.format_map() nimmt ein Wörterbuch, und sie ist seit 3.2 da.",
        "東京の人口は13,960,000人（２０２１年）です。",
        "В 2015 году вышла версия v2.7.1, и она была последней.",
    )
    await store(pool, *texts)
    for query, best in (
        ("cve-2021-44228", 0), ("log4j", 0), ("format_map", 1), ("3.2", 1), ("13,960,000", 2), ("2021年", 2), ("v2.7.1", 3),
    ):  # fmt: skip
        assert (await search(pool, embedder, query))[:1] == [texts[best]], query


async def test_a_stop_word_of_the_query_is_none_in_facts_of_another_language(
    pool: Pool, embedder: Embedder
) -> None:
    await store(pool, *GERMAN, "They say that die is cast and that the die will roll for them.")
    assert await search(pool, embedder, "Wie ist die Stadt?") == [GERMAN[0]]


async def test_what_a_version_before_wrote_is_found_in_english_stems_until_it_is_indexed(
    pool: Pool, embedder: Embedder
) -> None:
    await keep(pool, None, GERMAN[0])
    await keep(pool, None, "The tides rise.")
    assert await search(pool, embedder, "tide") == ["The tides rise."]
    assert await search(pool, embedder, "haus") == []
    assert await index_words(pool) == 2
    assert await index_words(pool) == 0
    assert await search(pool, embedder, "haus") == [GERMAN[0]]
    assert await search(pool, embedder, "tide") == ["The tides rise."]


async def test_words_lead_where_the_subject_is_not_in_the_language_of_the_embedding_model(
    pool: Pool, embedder: Embedder
) -> None:
    for content in (*RUSSIAN, "Спутник Юпитера Ио покрыт вулканами.", "Вода кипит при ста градусах."):
        await keep(pool, embedder, content)
    await index_words(pool)
    for query, best in (("вулкан", "Спутник Юпитера Ио покрыт вулканами."), ("рыба", RUSSIAN[1])):
        assert (await search(pool, embedder, query, mode=SearchMode.HYBRID))[:1] == [best]


async def test_pairs_of_characters_that_most_facts_have_are_known_to_be_common(
    pool: Pool, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    common = [f"月球围绕地球运行{n}。" for n in range(60)]
    rare = [f"月球表面有撞击坑{n}。" for n in range(3)]
    await store(pool, *common, *rare)
    async with Session(pool) as session:
        await session.write(SQL("analyze facts"))
    monkeypatch.setattr(search_module, "SMALL_SUBJECT_FACTS", 50)
    monkeypatch.setattr(search_module, "MATCHES_MAX", 20)
    assert sorted(await search(pool, embedder, "月球撞击坑")) == sorted(rare)
