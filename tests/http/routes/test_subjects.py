import httpx2
from support.backdated_facts import Dated, day

from chiron_workers.db.connect import Pool


async def test_what_has_become_of_a_subject_is_told_between_two_moments(
    client: httpx2.AsyncClient, pool: Pool
):
    dated = await Dated(pool).begin()
    await dated.fact("Before.", at=1)
    await dated.fact("In between.", at=11)
    window = {"since": day(10).isoformat(), "until": day(20).isoformat()}
    found = (await client.get("/v1/subjects/ice/diff", params=window)).json()
    assert ([fact["content"] for fact in found["new"]], found["is_empty"]) == (["In between."], False)
    open_end = (await client.get("/v1/subjects/ice/diff", params={"since": "2025-03-02T00:00:00Z"})).json()
    assert open_end["counts"]["new"] == 1


async def test_a_difference_that_cannot_be_told_is_a_problem_that_says_why(
    client: httpx2.AsyncClient, pool: Pool
):
    await Dated(pool).begin()
    for where, params, status, words in (
        ("sea", {"since": "2025-03-02T00:00:00Z"}, 404, "There is no subject 'sea'"),
        ("ice", {}, 422, "since"),
        ("ice", {"since": "2025-03-02T00:00:00"}, 422, "timezone"),
        ("ice", {"since": "2099-03-02T00:00:00Z"}, 422, "has no length"),
        ("ice", {"since": "2025-03-02T00:00:00Z", "limit": 0}, 422, "limit"),
        ("ice", {"since": "0.5"}, 422, "a time is text such as"),
    ):
        answer = await client.get(f"/v1/subjects/{where}/diff", params=params)
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
        assert words in answer.json()["detail"]


async def test_a_subject_shows_its_coverage_and_how_many_facts_it_has(client: httpx2.AsyncClient, pool: Pool):
    dated = await Dated(pool).begin()
    await dated.fact("It shrinks.", at=1)
    await dated.fact("It sings.", at=1, status="candidate")
    for title in ("Ice", "Penguins"):
        node = {"subject_id": "ice", "title": title, "description": title, "is_goal_critical": True}
        assert (await client.post("/v1/tools/save_knowledge_node", json=node)).status_code == 200
    subject = (await client.get("/v1/subjects/Ice")).json()
    assert (subject["subject_id"], subject["facts"]["accepted"], subject["facts"]["candidate"]) == (
        "ice",
        1,
        1,
    )
    facts = {node["title"]: node["facts"] for node in subject["coverage"]["nodes"]}
    assert facts == {"Ice": 1, "Penguins": 0}
    assert len(subject["coverage"]["missing"]) == 1
    assert (await client.get("/v1/subjects/fire")).status_code == 404


async def test_the_facts_of_a_subject_come_in_pages_newest_first(client: httpx2.AsyncClient, pool: Pool):
    dated = await Dated(pool).begin()
    fact_ids = [await dated.fact(f"It shrinks by {n}.", at=n) for n in range(3)]
    candidate = await dated.fact("It sings.", at=4, status="candidate")
    first = (await client.get("/v1/subjects/ice/facts", params={"limit": 2})).json()
    rest = (await client.get("/v1/subjects/ice/facts", params={"limit": 2, "after": first["next"]})).json()
    assert [fact["id"] for fact in first["items"] + rest["items"]] == fact_ids[::-1]
    assert rest["next"] is None
    [listed] = (await client.get("/v1/subjects/ice/facts", params={"status": "candidate"})).json()["items"]
    assert (listed["id"], listed["content"]) == (candidate, "It sings.")
    assert (await client.get("/v1/subjects/fire/facts")).status_code == 404


async def test_a_subject_is_made_with_its_goal_and_keeps_its_title(client: httpx2.AsyncClient):
    new = {"title": "Sea ice", "purpose_statement": "Predict it.", "target_depth": "expert"}
    answer = await client.post("/v1/subjects", json=new)
    assert (answer.status_code, answer.headers["location"]) == (201, "/v1/subjects/sea-ice")
    assert answer.json() == new | {"subject_id": "sea-ice"}
    again = await client.post("/v1/subjects", json={"title": "Sea Ice"})
    assert (again.status_code, again.json()) == (200, answer.json())
    other = await client.post("/v1/subjects", json={"title": "SEA ICE", "purpose_statement": "Sail it."})
    goal = {"purpose_statement": "Sail it.", "target_depth": "practical"}
    assert (other.status_code, other.json()) == (200, answer.json() | goal)


async def test_a_subject_that_cannot_be_made_is_refused_with_the_field(client: httpx2.AsyncClient):
    for body, words in (
        ({"title": "?!"}, "letters or digits"),
        ({"title": "x" * 301}, "title"),
        ({"title": "Ice", "purpose_statement": "x" * 4_001}, "purpose_statement"),
        ({"title": "Ice", "target_depth": ""}, "target_depth"),
        ({"title": "Ice", "target_depth": "expert"}, "target_depth: goes with a purpose_statement"),
    ):
        answer = await client.post("/v1/subjects", json=body)
        assert (answer.status_code, words in answer.json()["detail"]) == (422, True), answer.text
    assert (await client.get("/v1/subjects")).json()["items"] == []


async def test_the_goal_of_a_subject_is_said_anew_and_its_depth_stays(client: httpx2.AsyncClient, pool: Pool):
    await Dated(pool).begin()
    first = {"purpose_statement": "Sail it.", "target_depth": "expert"}
    assert (await client.post("/v1/subjects/Ice/goal", json=first)).json()["target_depth"] == "expert"
    second = await client.post("/v1/subjects/ice/goal", json={"purpose_statement": "Skate on it."})
    assert second.status_code == 200
    assert second.json()["purpose_statement"] == "Skate on it."
    assert second.json()["target_depth"] == "expert"
    assert (await client.post("/v1/subjects/fire/goal", json=first)).status_code == 404
    assert (await client.post("/v1/subjects/ice/goal", json={"purpose_statement": " "})).status_code == 422
