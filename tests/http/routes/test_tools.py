import httpx2
from support.verified_quotes import page_read

from chiron_workers.db.connect import Pool
from chiron_workers.tools import registry

FACT = {
    "content": "A list comprehension has a scope of its own.",
    "subject_id": "python",
    "source_url": "https://docs.example/comprehensions",
    "source_score": "0.9",  # as models and shells send it
    "topic_path": "python/comprehensions",
    "confidence": 0.9,
    "quote": "A list comprehension has a scope of its own.",
}


async def test_the_tools_are_those_that_agents_are_offered(client: httpx2.AsyncClient):
    assert (await client.get("/v1/tools")).json()["items"] == registry().definitions()


async def test_a_fact_stored_over_http_is_found_over_http(client: httpx2.AsyncClient, pool: Pool):
    await page_read(pool, FACT["source_url"], FACT["quote"])
    goal = {"subject_id": "Python", "purpose_statement": "To read other people's code."}
    assert (await client.post("/v1/tools/save_learning_goal", json=goal)).status_code == 200
    stored = (await client.post("/v1/tools/store_knowledge", json=FACT)).json()

    search = {"query": "Which scope does a comprehension have?", "subject_id": "python"}
    found = (await client.post("/v1/knowledge/search", json=search)).json()

    assert [fact["id"] for fact in found["items"]] == [stored["result"]["fact_id"]]
    assert found["items"][0]["content"] == FACT["content"]
    assert found["items"][0]["source_url"] == FACT["source_url"]


async def test_a_wrong_argument_is_a_problem_that_names_it_and_writes_nothing(client: httpx2.AsyncClient):
    answer = await client.post("/v1/tools/store_knowledge", json=FACT | {"confidence": "very"})
    document = answer.json()
    assert answer.status_code == 422
    assert document["errors"][0]["field"] == "confidence"
    assert (await client.get("/v1/subjects")).json()["items"] == []


async def test_subjects_are_listed_with_their_goals(client: httpx2.AsyncClient):
    goal = {"subject_id": "Rust", "purpose_statement": "To write a driver.", "target_depth": "expert"}
    await client.post("/v1/tools/save_learning_goal", json=goal)
    [subject] = (await client.get("/v1/subjects")).json()["items"]
    assert subject == {
        "subject_id": "rust",
        "title": "Rust",
        "purpose_statement": "To write a driver.",
        "target_depth": "expert",
    }
