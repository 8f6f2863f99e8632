"""Lessons over HTTP: asked for, listed, read in three formats."""

import re

from support.lesson_writing import AGE, CASE, OPEN, written_lesson

UNKNOWN = "0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa"


async def test_a_lesson_is_ordered_once_for_the_same_facts(client, taught):
    first = await client.post(
        "/v1/subjects/sea-ice/lessons", json={"node": "thickness", "model": "claude-opus-5-5"}
    )
    assert first.status_code == 202
    body = first.json()
    assert first.headers["location"] == f"/v1/batches/{body['batch_id']}"
    assert body["is_new"]
    order = {"node": str(taught.thickness), "model": "claude-opus-5-5"}
    assert (await client.post("/v1/subjects/sea-ice/lessons", json=order)).json() == body | {"is_new": False}
    again = await client.post("/v1/subjects/sea-ice/lessons", json=order | {"again": True})
    assert again.json()["batch_id"] != body["batch_id"]
    drafts = (await client.get("/v1/subjects/sea-ice/lessons?drafts=true")).json()["items"]
    assert [draft["state"] for draft in drafts] == ["draft", "draft"]
    assert (await client.get("/v1/subjects/sea-ice/lessons")).json() == {"items": []}
    draft = await client.get(f"/v1/lessons/{drafts[0]['id']}?format=md")
    assert "This lesson is being written" in draft.text


async def test_a_lesson_is_read_with_its_facts_in_three_formats(client, taught, shelf):
    lesson_id = written_lesson(shelf, taught)
    lesson = (await client.get(f"/v1/lessons/{lesson_id}")).json()
    assert (lesson["title"], lesson["version"], lesson["is_stale"]) == ("Thickness", 1, False)
    assert [fact["fact_id"] for fact in lesson["facts"]] == [
        str(taught.age), str(taught.freeboard), str(taught.mean), str(taught.opposite), str(taught.case),
    ]  # fmt: skip
    assert lesson["facts"][0] | {"sources": ["https://example.org/thickness/age"]} == lesson["facts"][0]
    for fact in lesson["facts"]:
        assert (await client.get(f"/v1/facts/{fact['fact_id']}")).status_code == 200
    markdown = await client.get(f"/v1/lessons/{lesson_id}?format=md")
    assert markdown.headers["content-type"].startswith("text/markdown")
    assert f"{OPEN} \\[2\\]" in markdown.text
    assert "## What is not known\n\n- Nothing is known yet of Snow." in markdown.text
    html = await client.get(f"/v1/lessons/{lesson_id}?format=html")
    assert f'<bdi>{CASE}</bdi>&nbsp;<a class="cite" href="#f5"' in html.text
    assert set(re.findall(r'href="#(f\d)"', html.text)) == set(re.findall(r'id="(f\d)"', html.text))
    assert "default-src 'none'" in html.headers["content-security-policy"]


async def test_a_stale_lesson_says_which_sentence_and_why(client, taught, shelf):
    lesson_id = written_lesson(shelf, taught)
    shelf.connection.execute("update facts set status = 'withdrawn' where id = %s", (taught.age,))
    lesson = (await client.get(f"/v1/lessons/{lesson_id}")).json()
    reason = f"Fact {taught.age} was withdrawn since."
    assert lesson["stale_sentences"] == [{"section": "What this lesson says", "number": 1, "reason": reason}]
    markdown = (await client.get(f"/v1/lessons/{lesson_id}?format=md")).text
    assert "This lesson is stale" in markdown
    mark = "in its fact's words, meaning unchecked"
    assert f"{AGE} \\[1\\] *({mark})* *({reason})*" in markdown
    html = (await client.get(f"/v1/lessons/{lesson_id}?format=html")).text
    link = '<a class="cite" href="#f1">[1]</a>'
    assert f'<span class="mark">(Fact {link} was withdrawn since.)</span>' in html


async def test_a_lesson_says_that_a_fact_was_so_until_a_day_that_is_over(client, taught, shelf):
    lesson_id = written_lesson(shelf, taught)
    shelf.connection.execute("update facts set valid_until = '2019-05' where id = %s", (taught.age,))
    lesson = (await client.get(f"/v1/lessons/{lesson_id}")).json()
    reason = f"Fact {taught.age} was so until 2019-05 and no longer is."
    assert [sentence["reason"] for sentence in lesson["stale_sentences"]] == [reason]


async def test_former_versions_stay_and_name_the_newest(client, taught, shelf):
    former = written_lesson(shelf, taught, handed_in_at="2026-02-01T00:00:00Z")
    newest = written_lesson(shelf, taught)
    lesson = (await client.get(f"/v1/lessons/{former}")).json()
    assert (lesson["version"], lesson["latest_id"], lesson["versions"]) == (
        1,
        str(newest),
        [str(former), str(newest)],
    )
    assert (
        f"There is a newer version: lesson {newest}."
        in (await client.get(f"/v1/lessons/{former}?format=md")).text
    )
    lessons = (await client.get("/v1/subjects/sea-ice/lessons?node=Thickness")).json()["items"]
    assert [item["id"] for item in lessons] == [str(newest), str(former)]


async def test_what_is_not_there_or_cannot_be_taught_is_refused(client, taught):
    refused = await client.post("/v1/subjects/sea-ice/lessons", json={"node": "Snow"})
    assert refused.status_code == 422
    assert "There is no fact to teach from" in refused.text
    assert (await client.get("/v1/subjects/sea-ice/lessons?node=x")).status_code == 404
    assert (await client.get(f"/v1/lessons/{UNKNOWN}?format=pdf")).status_code == 422
