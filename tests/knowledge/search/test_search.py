import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg.sql import SQL
from support.facts_with_vectors import corroborate, insert, keep, link

from chiron_api.reports.coverage import cover
from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.errors import ToolValidationError
from chiron_workers.ids import new_id
from chiron_workers.knowledge.coverage.nodes import Nodes
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.knowledge.search import search
from chiron_workers.knowledge.search.filters import Filters
from chiron_workers.knowledge.search.search import FoundFact, Search
from chiron_workers.runs.session import Session
from chiron_workers.states import SearchMode

TIDES = "The gravity of the Moon raises the tides of the sea."
DUST = "Regolith covers the ground of the Moon."
PROBE = "The probe LCROSS struck the crater Cabeus in 2009."


async def ask(pool: Pool, embedder: Embedder, query: str, **fields: Any) -> list[FoundFact]:
    mode = fields.pop("mode", SearchMode.HYBRID)
    limit = fields.pop("limit", 10)
    return await Search(Session(pool), embedder).find(
        query, filters=Filters(**fields), limit=limit, mode=mode
    )


async def contents(pool: Pool, embedder: Embedder, query: str, **fields: Any) -> list[str]:
    return [fact["content"] for fact in await ask(pool, embedder, query, **fields)]


@pytest.fixture
async def three(pool: Pool, embedder: Embedder) -> dict[str, str]:
    """Three facts about the Moon; their ids."""
    return {content: await keep(pool, embedder, content) for content in (TIDES, DUST, PROBE)}


async def test_meaning_finds_what_shares_no_word_and_words_find_names_that_mean_nothing(
    pool: Pool, embedder: Embedder, three: dict[str, str]
) -> None:
    for mode, query, best in (
        (SearchMode.VECTOR, "why does the ocean rise and fall", TIDES),
        (SearchMode.TEXT, "lcross", PROBE),
        (SearchMode.HYBRID, "why does the ocean rise and fall", TIDES),
        (SearchMode.HYBRID, "what of LCROSS?", PROBE),
    ):
        assert (await contents(pool, embedder, query, mode=mode))[0] == best
    assert await contents(pool, embedder, "ocean", mode=SearchMode.TEXT) == []


async def test_the_score_is_half_the_cosine_spread_over_what_was_found_and_half_the_share_of_words(
    pool: Pool, embedder: Embedder, three: dict[str, str]
) -> None:
    query = "Which crater did LCROSS strike?"
    cosines = {
        f["content"]: f["score"]
        for f in await ask(pool, embedder, query, subject_id="moon", mode=SearchMode.VECTOR)
    }
    [text_only] = await ask(pool, embedder, query, subject_id="moon", mode=SearchMode.TEXT)
    assert (text_only["content"], text_only["similarity"]) == (PROBE, None)
    assert 0 < text_only["score"] < 1
    found = await ask(pool, embedder, query, subject_id="moon")
    least, most = min(cosines.values()), max(cosines.values())
    assert {fact["content"]: fact["score"] for fact in found} == pytest.approx(
        {
            content: (cosine - least) / (most - least) / 2 + (content == PROBE) * text_only["score"] / 2
            for content, cosine in cosines.items()
        },
        abs=1e-3,
    )
    for fact in await ask(pool, embedder, query, subject_id="moon", mode=SearchMode.VECTOR):
        assert fact["score"] == fact["similarity"]


async def test_words_are_scored_by_bm25(pool: Pool, embedder: Embedder) -> None:
    texts = ("basalt basalt basalt dust", "basalt", "dust and ice on the ground", "ice " * 30 + "basalt")
    ids = [await keep(pool, None, text) for text in texts]
    lengths = (4, 1, 3, 31)  # without stop words
    counts = {"basalt": (3, 1, 0, 1), "dust": (1, 0, 1, 0)}
    found = await ask(pool, embedder, "basalt dust", subject_id="moon", mode=SearchMode.TEXT)
    idf = {word: math.log(1 + (4 - df + 0.5) / (df + 0.5)) for word, df in (("basalt", 3), ("dust", 2))}
    mean = sum(lengths) / 4
    expected = {
        ids[n]: sum(
            idf[word] * count[n] / (count[n] + 1.2 * (0.25 + 0.75 * lengths[n] / mean))
            for word, count in counts.items()
        )
        / sum(idf.values())
        for n in range(4)
    }
    assert {fact["id"]: fact["score"] for fact in found} == pytest.approx(expected, rel=0.03)


async def test_a_rare_word_counts_more_than_a_common_one(pool: Pool, embedder: Embedder) -> None:
    for n in range(8):
        await keep(pool, None, f"The Moon and the Earth, once more: {n}.")
    await keep(pool, None, "Selenium was named after it.")
    found = await contents(pool, embedder, "moon earth selenium", mode=SearchMode.TEXT)
    assert found[0] == "Selenium was named after it."
    assert len(found) == 9


async def test_of_many_facts_with_common_words_only_those_with_a_rare_one_are_ranked(
    pool: Pool, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(60):
        await keep(pool, None, f"The Moon, view {n}.")
    rare = [await keep(pool, None, f"The Moon has craters, view {n}.") for n in range(3)]
    async with Session(pool) as session:
        await session.write(SQL("analyze facts"))
    monkeypatch.setattr(search, "SMALL_SUBJECT_FACTS", 50)
    monkeypatch.setattr(search, "MATCHES_MAX", 20)
    found = await ask(pool, embedder, "craters of the moon", mode=SearchMode.TEXT, limit=50)
    assert sorted(fact["id"] for fact in found) == sorted(rare)
    assert len(await ask(pool, embedder, "the moon", mode=SearchMode.TEXT, limit=50)) == 20


async def test_of_a_small_subject_the_facts_with_a_rare_word_are_ranked_and_of_a_common_word_alone_all(
    pool: Pool, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    common = [await keep(pool, embedder, f"The Moon, view {n}.") for n in range(60)]
    rare = [await keep(pool, embedder, f"The Moon has craters, view {n}.") for n in range(3)]
    monkeypatch.setattr(search, "MATCHES_MAX", 20)
    scope = {"subject_id": "moon", "limit": 100}
    by_words = await ask(pool, embedder, "craters, Moon", mode=SearchMode.TEXT, **scope)
    assert {fact["id"] for fact in by_words} == {*rare}
    by_both = await ask(pool, embedder, "craters, Moon", **scope)
    assert {fact["id"] for fact in by_both} == {*rare, *common}
    assert {fact["id"] for fact in by_both[:3]} == {*rare}
    assert len(await ask(pool, embedder, "Moon", mode=SearchMode.TEXT, **scope)) == 63


async def test_a_fact_without_a_vector_is_found_by_its_words(
    pool: Pool, embedder: Embedder, three: dict[str, str]
) -> None:
    await keep(pool, None, "Cabeus lies near the south pole.")
    similar = {fact["content"]: fact["similarity"] for fact in await ask(pool, embedder, "cabeus pole")}
    assert similar.pop("Cabeus lies near the south pole.") is None
    assert all(similar.values())


async def test_words_that_look_like_operators_are_words(
    pool: Pool, embedder: Embedder, three: dict[str, str]
) -> None:
    for query in ("tides & ! ( | :*", "'tides\\'", "tides <-> sea", "str.format/tides"):
        assert (await contents(pool, embedder, query, mode=SearchMode.TEXT)) == [TIDES]
    assert await contents(pool, embedder, "the of and", mode=SearchMode.TEXT) == []


async def test_a_fact_shows_how_it_stands_to_others(
    pool: Pool, embedder: Embedder, three: dict[str, str]
) -> None:
    other = await keep(pool, embedder, "No tides.")
    withdrawn = await keep(pool, embedder, "Never.", status="withdrawn")
    earlier = await keep(pool, embedder, "The Sun alone raises the tides.")
    await link(pool, three[TIDES], other, "contradicts")
    await link(pool, three[TIDES], withdrawn, "contradicts")
    await link(pool, earlier, three[TIDES], "contradicts")
    await link(pool, three[DUST], three[TIDES], "supports")
    for n, host in enumerate(("a.example", "a.example", "b.example", "example.org/moon")):
        await corroborate(pool, three[TIDES], f"https://{host}", f"In words {n}.")
    found = {fact["id"]: fact for fact in await ask(pool, embedder, "tides of the sea")}
    shown = found[three[TIDES]]
    assert shown["contradicted_by"] == sorted([other, earlier])
    assert shown["corroborations"] == 2
    assert found[other]["contradicted_by"] == [three[TIDES]]
    assert found[three[DUST]]["contradicted_by"] == []
    assert (shown["quote_state"], shown["recall"]) == ("unverified", 1)


async def named(pool: Pool, title: str, **fields: Any) -> str:
    """A node of the Moon's coverage map; its id."""
    node_id = new_id()
    row = {"id": node_id, "subject_id": "moon", "title": title, "description": "x"} | fields
    async with Session(pool) as session:
        await Subjects(session).ensure("moon", "Moon")
        await insert(session, "nodes", **row)
    return str(node_id)


async def test_a_topic_a_source_and_a_time_narrow_a_search(pool: Pool, embedder: Embedder) -> None:
    today = datetime.now(UTC)
    a = await keep(
        pool, embedder, "Moon a", topic_path="Orbit/Distance", source_url="https://www.nasa.example/x/y"
    )
    b = await keep(
        pool, embedder, "Moon b", topic_path="orbital", source_url="https://other.example/x",
        created_at=today - timedelta(days=30), validated_at=today,
    )  # fmt: skip
    c = await keep(
        pool, embedder, "Moon c", topic_path="orbit", source_url="https://notnasa.example/",
        created_at=today - timedelta(days=9), validated_at=today - timedelta(days=9),
    )  # fmt: skip
    await corroborate(pool, c, "https://nasa.example/z")
    d = await keep(
        pool, embedder, "Moon d", topic_path="own", source_url="corpus://moon/notes/Engineering.docx",
        created_at=today - timedelta(days=30), validated_at=today - timedelta(days=30),
    )  # fmt: skip
    week = today - timedelta(days=7)
    for filters, expected in (
        ({"topic_path": "orbit"}, {a, c}),
        ({"topic_path": " ORBIT / distance/"}, {a}),
        ({"source": "nasa.example"}, {a, c}),
        ({"source": "example"}, {a, b, c}),
        ({"source": "asa.example"}, set()),
        ({"source": "https://other.example"}, {b}),
        ({"source": "https://www.Nasa.example:443/x/"}, {a}),
        ({"source": "https://nasa.example/z"}, {c}),
        ({"source": "engineering.docx"}, {d}),
        ({"source": "neering.docx"}, set()),
        ({"since": week.isoformat()}, {a}),
        ({"until": week}, {b, c, d}),
        ({"since": (today - timedelta(days=10)).date().isoformat(), "until": week}, {c}),
        ({"validated_since": week}, {a, b}),
        ({"topic_path": "orbit", "source": "nasa.example", "since": week}, {a}),
    ):
        for mode in SearchMode:
            found = await ask(pool, embedder, "moon", mode=mode, **filters)
            assert {fact["id"] for fact in found} == expected, (filters, mode)


async def test_a_confidence_and_candidates_widen_or_narrow_every_mode(pool: Pool, embedder: Embedder) -> None:
    sure = await keep(pool, embedder, "Moon a")
    unsure = await keep(pool, embedder, "Moon b", confidence=0.4, status="candidate")
    await keep(pool, embedder, "Moon c", status="withdrawn")
    await keep(pool, embedder, "Moon d", subject_id="sky")
    for mode in SearchMode:
        for filters, expected in (
            ({}, {sure}),
            ({"candidates": True}, {sure, unsure}),
            ({"candidates": True, "min_confidence": 0.5}, {sure}),
        ):
            found = await ask(pool, embedder, "moon", subject_id="Moon", mode=mode, **filters)
            assert {fact["id"] for fact in found} == expected
        assert len(await ask(pool, embedder, "moon", mode=mode)) == 2


async def test_a_node_finds_its_facts_and_its_neighbours_those_around_it(
    pool: Pool, embedder: Embedder
) -> None:
    root = await named(pool, "Orbit")
    basics = await named(pool, "Basics")
    distance = await named(pool, "Distance", parent_id=root, prerequisites=[basics])
    await named(pool, "Speed", parent_id=root)
    await named(pool, "In numbers", parent_id=distance)
    await named(pool, "Dust")
    facts = {
        path: await keep(pool, embedder, f"Moon {n}", topic_path=path)
        for n, path in enumerate(
            (
                "orbit",
                "Orbit/distance",
                "orbit/distance/else",
                "orbit/speed",
                "x/in numbers",
                "basics",
                "dust",
            )
        )
    }
    own = {facts["Orbit/distance"], facts["orbit/distance/else"]}

    async def around(node_id: str, **fields: Any) -> set[str]:
        return {fact["id"] for fact in await ask(pool, embedder, "moon", node_id=node_id, **fields)}

    assert await around(distance) == own
    assert await around(distance, neighbours=True) == set(facts.values()) - {facts["dust"]}
    assert await around(root) == {facts["orbit"]}
    await keep(pool, embedder, "Moon of Mars", topic_path="distance", subject_id="mars")
    assert await around(distance, subject_id="Moon") == own
    with pytest.raises(ToolValidationError, match="node_id: 'Distance' is a node of 'moon', not of 'mars'"):
        await around(distance, subject_id="mars")


async def test_a_node_finds_the_facts_that_the_coverage_of_a_report_counts_for_it(
    pool: Pool, embedder: Embedder
) -> None:
    titles = ("Data-Model (SQL)", "Große Frage", "Arctic", "Antarctic", "İce")
    nodes = {title: await named(pool, title) for title in titles}
    for above in ("Arctic", "Antarctic"):
        nodes[f"{above} summer"] = await named(pool, "Summer", parent_id=nodes[above])
    paths = (
        "python/data model sql", "Data-Model (SQL)/else", "data_model sql", "grosse FRAGE", "arctic/summer",
        "Antarctic/far/Summer", "summer", "i\u0307ce/thin", "nowhere",
    )  # fmt: skip
    for n, path in enumerate(paths):
        await keep(pool, embedder, f"Moon {n}", topic_path=path)
    tops, _ = await Nodes(Session(pool)).tree("moon")
    lines, unmapped = cover(tops, dict.fromkeys(paths, 1))
    counted = {line.node_id: line.facts for line in lines}
    found = {
        node_id: len(await ask(pool, embedder, "moon", node_id=node_id, limit=20))
        for node_id in nodes.values()
    }
    assert found == counted
    assert [counted[node_id] for node_id in nodes.values()] == [3, 1, 0, 0, 1, 2, 2]
    assert unmapped == 1


@pytest.mark.parametrize(
    ("filters", "problem"),
    [
        ({"since": "yesterday"}, "since: must be a date such as 2026-03-01"),
        ({"topic_path": "/ /"}, "topic_path: must be a path"),
        ({"source": " "}, "source: must not be empty"),
        ({"node_id": "x"}, "node_id: must be an id"),
        ({"node_id": "0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa"}, "node_id: no node has the id"),
        ({"neighbours": True}, "neighbours: needs the node_id"),
        ({"min_confidence": 1.5}, "min_confidence: must be between 0 and 1"),
    ],
)
async def test_a_filter_that_makes_no_sense_is_refused_by_its_name(
    pool: Pool, embedder: Embedder, filters: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ToolValidationError, match=problem):
        await ask(pool, embedder, "moon", **filters)


async def test_the_nearest_facts_of_a_subject_are_nominated_with_candidates_and_without_withdrawn_ones(
    pool: Pool, embedder: Embedder
) -> None:
    words = "The Moon is round."
    near = await keep(pool, embedder, words, status="candidate", confidence=0.2)
    await keep(pool, embedder, "The Moon is as round as can be.", status="withdrawn")
    far = await keep(pool, embedder, "Basalt fills the maria.")
    await keep(pool, embedder, words, subject_id="sky")
    [vector] = await embedder.embed([words])
    search = Search(Session(pool), embedder)
    found = await search.nearest(vector, "moon", limit=5)
    assert [fact["id"] for fact in found] == [near, far]
    assert found[0] == {
        "id": near,
        "content": words,
        "status": "candidate",
        "cosine": pytest.approx(1, abs=1e-3),
        "is_same_text": False,
    }
    assert len(await search.nearest(vector, "moon", limit=1)) == 1
    assert await search.nearest(vector, "mars", limit=5) == []
