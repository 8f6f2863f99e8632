import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from chiron_workers.db.connect import Pool
from chiron_workers.documents.read_folder import FileDocument, read_folder
from chiron_workers.knowledge.corpus import SNIPPET_CHARS_MAX, AddedCounts, Corpus, document_url
from chiron_workers.runs.session import Session
from chiron_workers.sources.sources import Sources

GARDEN = [
    (
        "compost.txt",
        "Compost",
        "Kitchen waste and leaves rot into compost within a year. Turn the heap monthly.",
    ),
    (
        "roses.txt",
        "Roses",
        "Roses flower in June. Prune roses in March, and feed them with compost in spring.",
    ),
    (
        "frost.txt",
        "Frost",
        "A late frost kills the blossom of plum trees. Cover young plants with fleece at night.",
    ),
    (
        "tools.txt",
        "Tools",
        "A sharp spade and a good pair of secateurs are all the tools that a garden needs.",
    ),
]


@pytest.fixture
async def corpus(pool: Pool) -> AsyncIterator[Corpus]:
    async with Session(pool) as session:
        yield Corpus(session)


async def urls(corpus: Corpus, query: str, subject: str = "Garden") -> list[str]:
    return [hit["url"].rpartition("/")[2] for hit in await corpus.search(query, subject=subject, limit=10)]


async def test_documents_are_listed_with_their_addresses_titles_and_sizes(corpus: Corpus) -> None:
    assert await corpus.add_texts("My Garden", GARDEN) == AddedCounts(added=4, replaced=0, passages=4)
    (first, *others) = await corpus.documents("my-garden")
    assert len(others) == 3
    assert first["url"] == "corpus://my-garden/compost.txt"
    assert (first["title"], first["chars"], first["passages"]) == ("Compost", len(GARDEN[0][2]), 1)
    assert await corpus.documents("another") == []
    assert len(await corpus.documents()) == 4


async def test_a_question_in_whole_words_finds_the_document_that_answers_it(corpus: Corpus) -> None:
    await corpus.add_texts("Garden", GARDEN)
    assert (await urls(corpus, "When should I prune my roses?"))[0] == "roses.txt"
    assert (await urls(corpus, "What does frost do to plum blossoms?"))[0] == "frost.txt"
    assert (await urls(corpus, "Which tools are needed in a garden?"))[0] == "tools.txt"


async def test_a_title_counts_more_than_a_mention_and_scores_are_between_0_and_1(corpus: Corpus) -> None:
    await corpus.add_texts("Garden", GARDEN)
    hits = await corpus.search("compost", subject="Garden", limit=10)
    assert [hit["title"] for hit in hits] == ["Compost", "Roses"]
    assert 1 > hits[0]["score"] > hits[1]["score"] > 0


async def test_a_rare_word_counts_more_than_a_common_one(corpus: Corpus) -> None:
    common = [
        (f"{n}.txt", "", f"The river floods the plain in year {n}. The river is wide.") for n in range(30)
    ]
    await corpus.add_texts(
        "Rivers", [*common, ("rare.txt", "", "An otter was seen near the water by a fisherman.")]
    )
    assert (await urls(corpus, "river otter", "Rivers"))[0] == "rare.txt"


async def test_a_long_document_is_found_by_its_best_passage(corpus: Corpus) -> None:
    filler = "\n\n".join(f"Paragraph {n} speaks of nothing in particular. " * 8 for n in range(60))
    text = f"{filler}\n\nZeppelins\n=========\n\nA zeppelin is held aloft by hydrogen or helium.\n\n{filler}"
    await corpus.add_texts("Flight", [("long.txt", "Flight", text), ("other.txt", "Other", filler)])
    (hit,) = await corpus.search("What holds a zeppelin aloft?", subject="Flight", limit=5)
    assert hit["url"] == "corpus://flight/long.txt"
    assert "held aloft by hydrogen" in hit["snippet"]
    assert len(hit["snippet"]) <= SNIPPET_CHARS_MAX


async def test_names_with_dots_and_underscores_are_found_by_their_parts(corpus: Corpus) -> None:
    await corpus.add_texts("Code", [("a.txt", "", "Call asyncio.run_coroutine_threadsafe from a thread.")])
    for query in ("run coroutine", "asyncio.run", "run_coroutine_threadsafe"):
        assert await urls(corpus, query, "Code") == ["a.txt"]


async def test_queries_without_usable_words_find_nothing_and_break_nothing(corpus: Corpus) -> None:
    await corpus.add_texts("Garden", GARDEN)
    for query in ("", "  ", "the of and", "' | & ! :* \\ <->", "\0", "🜂", "zzzunknown", "x" * 50_000):
        assert await corpus.search(query, subject="Garden", limit=5) == []


async def test_subjects_do_not_see_each_others_documents(corpus: Corpus) -> None:
    await corpus.add_texts("Garden", GARDEN)
    await corpus.add_texts("Kitchen", [("roses.txt", "Roses", "Roses made of marzipan decorate the cake.")])
    (hit,) = await corpus.search("roses", subject="Kitchen", limit=5)
    assert hit["url"] == "corpus://kitchen/roses.txt"
    assert await corpus.search("roses", subject="Nowhere", limit=5) == []


async def test_adding_again_replaces_the_document_and_its_passages(corpus: Corpus) -> None:
    await corpus.add_texts("Garden", GARDEN)
    again = [("frost.txt", "Frost", "Hoarfrost is beautiful."), ("new.txt", "New", "A new bed.")]
    assert await corpus.add_texts("Garden", again) == AddedCounts(added=1, replaced=1, passages=2)
    assert await urls(corpus, "fleece") == []
    assert await urls(corpus, "hoarfrost") == ["frost.txt"]
    document = await corpus.document("corpus://garden/frost.txt")
    assert document is not None
    assert document.text == "Hoarfrost is beautiful."


async def test_two_who_add_the_same_documents_at_once_leave_one_of_each(pool: Pool) -> None:
    async def add(texts: list[tuple[str, str, str]]) -> AddedCounts:
        async with Session(pool) as session:
            return await Corpus(session).add_texts("Garden", texts)

    first, second = await asyncio.gather(add(GARDEN), add(GARDEN[::-1]))
    assert (first + second).added == (first + second).replaced == 4
    found = Corpus(Session(pool))
    assert len(await found.documents("Garden")) == 4
    assert len(await found.search("compost", subject="Garden", limit=9)) == 2


async def test_a_document_is_a_source_from_the_moment_it_is_added(corpus: Corpus) -> None:
    await corpus.add_texts("Garden", GARDEN)
    found = await Sources(corpus.session).latest("corpus://garden/roses.txt")
    assert found is not None
    document = await corpus.document("corpus://garden/roses.txt#june")
    assert document is not None
    assert found == replace(document, fetched_at=found.fetched_at)  # it was read a moment before it was added
    assert await corpus.document("corpus://garden/weeds.txt") is None


def test_addresses_are_percent_encoded_and_stable() -> None:
    assert document_url("a-b", "x y/ö#1?.md") == "corpus://a-b/x%20y/%C3%B6%231%3F.md"
    assert document_url("a-b", "bad\udcff.md") == "corpus://a-b/bad%FF.md"


async def test_documents_whose_names_need_encoding_are_read_back(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "50% off #1?.md").write_text("# Sale\n\nHalf price.")
    await corpus.add("Shop", [found for found in read_folder(tmp_path) if isinstance(found, FileDocument)])
    (hit,) = await corpus.search("sale", subject="Shop", limit=5)
    document = await corpus.document(hit["url"])
    assert document is not None
    assert document.text == "Sale\n\nHalf price."


async def test_eighty_documents_of_700_kilobytes_take_about_a_second(corpus: Corpus) -> None:
    words = (
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma " * 90
    )[:8_800]
    texts = [
        (
            f"{n}.txt",
            f"Text {n}",
            f"Number {n}. " + "\n\n".join(words[i : i + 400] for i in range(0, 8_800, 400)),
        )
        for n in range(80)
    ]
    started = time.perf_counter()
    added = await corpus.add_texts("Greek", texts)
    assert added.added == 80
    assert time.perf_counter() - started < 20  # about 0.4 s alone; the limit allows for a busy machine


async def test_documents_are_found_in_the_stems_of_their_language_and_without_spaces(corpus: Corpus) -> None:
    texts = [
        ("haus.txt", "Häuser", "Die Häuser der Stadt stehen auf einem Hügel, und sie sind alt."),
        ("река.txt", "Реки", "В реках Сибири живёт много рыбы, и её ловят зимой."),
        ("月.txt", "月球", "月球围绕地球运行。水在零度结冰。"),
        ("tide.txt", "Tides", "The tides of the sea are raised by the Moon."),
    ]
    await corpus.add_texts("Garden", texts)
    for query, title in (
        ("altes Haus", "Häuser"), ("сибирская рыба", "Реки"), ("地球", "月球"), ("冰", "月球"), ("tide", "Tides"),
    ):  # fmt: skip
        assert [hit["title"] for hit in await corpus.search(query, subject="Garden", limit=1)] == [title]
        assert [hit["title"] for hit in await corpus.search(query, subject=None, limit=1)] == [title]
