import json
from typing import Any

import pytest

from chiron_workers.errors import ToolError, ToolValidationError
from chiron_workers.knowledge.corpus import Corpus
from chiron_workers.sources.sources import Page
from chiron_workers.store import Store
from chiron_workers.tools import registry
from chiron_workers.tools.curriculum import save_knowledge_node
from chiron_workers.tools.knowledge import store_knowledge
from chiron_workers.tools.knowledge_base import knowledge_base

URL = "https://example.org/moon"


async def learn(store: Store, content: str, **fields: Any) -> str:
    given = {
        "subject_id": "Moon",
        "source_url": f"https://example.org/{len(content)}",
        "quote": content,
        "source_score": 0.9,
        "topic_path": "orbit",
        "confidence": 0.9,
    }
    given |= fields
    if given["source_url"] != URL:
        await store.sources.save(Page(given["source_url"], given["quote"], "text/html"))
    return (await store_knowledge(store, content=content, **given))["fact_id"]


@pytest.fixture
async def moon(store: Store) -> dict[str, str]:
    """A subject with two facts that contradict each other, a candidate, a document and a map; another subject beside it."""
    await store.sources.save(Page(URL, "The Moon orbits at 384,400 km.", "text/html", title="About the Moon"))
    ids = {}
    saved = await save_knowledge_node(
        store, subject_id="Moon", title="Orbit", description="How the Moon moves."
    )
    ids["orbit"] = saved["node_id"]
    saved = await save_knowledge_node(
        store, subject_id="Moon", title="Distance", description="How far away.", parent_id=ids["orbit"]
    )
    ids["distance"] = saved["node_id"]
    await save_knowledge_node(
        store, subject_id="Moon", title="Dust", description="What the ground is made of."
    )
    ids["far"] = await learn(
        store, "The Moon orbits the Earth at a distance of 384,400 km.", topic_path="Orbit/distance",
        quote="The Moon orbits at 384,400 km.", source_url=URL,
    )  # fmt: skip
    ids["near"] = await learn(
        store,
        "The distance of the Moon is 300,000 km.",
        topic_path="orbit/other",
        contradictions=[ids["far"]],
    )
    ids["unsure"] = await learn(
        store, "The distance of the Moon grows by 4 cm a year.", source_score=0.4, topic_path="x"
    )
    ids["mars"] = await learn(store, "Phobos is at a distance of 9,400 km from Mars.", subject_id="Mars")
    corpus = Corpus(store.session)
    await corpus.add_texts(
        "Moon", [("laser.txt", "Laser ranging", "Lasers measure the distance of the Moon.")]
    )
    await corpus.add_texts("Mars", [("phobos.txt", "Phobos", "The distance of Phobos is small.")])
    return ids


async def test_one_question_brings_facts_documents_and_the_map(store: Store, moon: dict[str, str]) -> None:
    found = await knowledge_base(store, question="What is the distance of the Moon?", subject_id="moon")
    facts = {fact["id"]: fact for fact in found["facts"]}
    assert facts.keys() == {moon["far"], moon["near"], moon["unsure"]}
    far = facts[moon["far"]]
    assert (far["quote"], far["source_url"], far["source_title"], far["is_candidate"]) == (
        "The Moon orbits at 384,400 km.",
        URL,
        "About the Moon",
        False,
    )
    assert facts[moon["unsure"]]["is_candidate"]
    assert [one["url"] for one in found["documents"]] == ["corpus://moon/laser.txt"]
    assert "note" not in found
    assert json.loads(json.dumps(found)) == found


async def test_a_fact_belongs_to_the_node_that_its_path_names_deepest(
    store: Store, moon: dict[str, str]
) -> None:
    found = await knowledge_base(store, question="What is the distance of the Moon?", subject_id="moon")
    nodes = {fact["id"]: fact["node_id"] for fact in found["facts"]}
    assert nodes == {moon["far"]: moon["distance"], moon["near"]: moon["orbit"], moon["unsure"]: None}
    assert [(node["title"], node["facts"]) for node in found["nodes"]] == [("Distance", 1), ("Orbit", 1)]


async def test_titles_and_paths_are_compared_as_people_compare_them(
    store: Store, moon: dict[str, str]
) -> None:
    saved = await save_knowledge_node(store, subject_id="moon", title="Far-Side (Maria)", description="x")
    fact_id = await learn(store, "Few maria lie on the far side.", topic_path="geology/far side maria")
    found = await knowledge_base(store, question="How many maria lie on the far side?", subject_id="moon")
    assert {fact["id"]: fact["node_id"] for fact in found["facts"]}[fact_id] == saved["node_id"]


async def test_a_contradiction_is_seen_from_both_sides(store: Store, moon: dict[str, str]) -> None:
    found = await knowledge_base(store, question="What is the distance of the Moon?", subject_id="moon")
    against = {fact["id"]: fact["contradictions"] for fact in found["facts"]}
    assert against == {moon["far"]: [moon["near"]], moon["near"]: [moon["far"]], moon["unsure"]: []}


async def test_a_node_that_fits_the_question_is_shown_even_without_facts(
    store: Store, moon: dict[str, str]
) -> None:
    found = await knowledge_base(store, question="dusty ground", subject_id="moon", top_k=1)
    assert ("Dust", 0) in [(node["title"], node["facts"]) for node in found["nodes"]]


async def test_without_a_subject_all_of_them_are_asked(store: Store, moon: dict[str, str]) -> None:
    found = await knowledge_base(store, question="What is the distance?")
    assert {fact["subject_id"] for fact in found["facts"]} == {"moon", "mars"}
    assert {one["url"] for one in found["documents"]} == {
        "corpus://moon/laser.txt",
        "corpus://mars/phobos.txt",
    }
    assert {node["subject_id"] for node in found["nodes"]} == {"moon"}
    assert len((await knowledge_base(store, question="What is the distance?", top_k=1))["facts"]) == 1


async def test_nothing_found_says_so_and_a_subject_that_is_not_there_is_named(store: Store) -> None:
    assert await knowledge_base(store, question="Is there anything?") == {
        "facts": [],
        "documents": [],
        "nodes": [],
        "note": "Nothing that is stored fits; web_search finds sources.",
    }
    with pytest.raises(ToolError, match="no subject is called 'moons'"):
        await knowledge_base(store, question="Is there anything?", subject_id="moons")
    assert (await knowledge_base(store, question="the of and"))["facts"] == []
    for question in ("", "  ", "x" * 4_001):
        with pytest.raises(ToolValidationError, match=r"^question: must"):
            await knowledge_base(store, question=question)


async def test_it_is_offered_to_agents(store: Store, moon: dict[str, str]) -> None:
    arguments = {"question": "distance", "subject_id": "Moon", "top_k": "2"}
    assert len((await registry().execute("knowledge_base", store, arguments))["facts"]) == 2
