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
    ):
        answer = await client.get(f"/v1/subjects/{where}/diff", params=params)
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
        assert words in answer.json()["detail"]
