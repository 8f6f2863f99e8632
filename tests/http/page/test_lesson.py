"""Lessons as a browser gets them: each citation opens its fact, what is stale says so, and a button has them written."""

import re

import httpx2
from support.lesson_writing import AGE, CASE, OPEN, Taught, written_lesson
from support.research_rows import Shelf

HOSTILE = "<script>alert(1)</script> \"'><img src=x onerror=alert(2)>"


async def test_each_citation_of_a_lesson_opens_its_fact(
    client: httpx2.AsyncClient, taught: Taught, shelf: Shelf
):
    lesson_id = written_lesson(shelf, taught)
    page = (await client.get(f"/lessons/{lesson_id}")).text
    for words in (OPEN, AGE, CASE, "What is not known", "Nothing is known yet of Snow."):
        assert words in page
    assert f'<a class="cite" href="/facts/{taught.case}" data-panel' in page
    facts = set(re.findall(r'href="(/facts/[^"?]+)', page))
    assert len(facts) == 5
    assert {(await client.get(fact)).status_code for fact in facts} == {200}
    assert "This lesson is stale" not in page
    for link in re.findall(r'href="([^"]+)" download', page):
        answer = await client.get(link)
        assert answer.headers["content-disposition"].startswith("attachment"), link
    assert (await client.get(f"/lessons/{lesson_id}/lesson.pdf")).status_code == 404


async def test_a_node_leads_to_its_lesson_or_has_it_written(
    client: httpx2.AsyncClient, taught: Taught, shelf: Shelf
):
    node = f"/subjects/sea-ice?node={taught.thickness}"
    assert "Have a lesson written" in (await client.get(node)).text
    answer = await client.post("/subjects/sea-ice/lessons", data={"node": str(taught.thickness)})
    assert (answer.status_code, answer.headers["location"][:9]) == (303, "/batches/")
    lesson_id = written_lesson(shelf, taught)
    assert f'<a href="/lessons/{lesson_id}">Read the lesson</a>' in (await client.get(node)).text
    refused = await client.post("/subjects/sea-ice/lessons", data={"node": str(taught.snow)})
    assert refused.status_code == 422
    assert "There is no fact to teach from" in refused.text


async def test_a_stale_lesson_names_the_sentence_and_a_former_version_the_newest(
    client: httpx2.AsyncClient, taught: Taught, shelf: Shelf
):
    former = written_lesson(shelf, taught, handed_in_at="2026-02-01T00:00:00Z")
    newest = written_lesson(shelf, taught)
    shelf.connection.execute("update facts set status = 'withdrawn' where id = %s", (taught.freeboard,))
    page = (await client.get(f"/lessons/{former}")).text
    assert "This lesson is stale" in page
    link = f'<a class="cite" href="/facts/{taught.freeboard}" data-panel>[2]</a>'
    assert f"<bdi>Measuring</bdi>, sentence 1: Fact {link} was withdrawn since." in page
    assert "There is a newer version of this lesson" in page
    assert f'<a href="/lessons/{newest}">newest version</a>' in page


async def test_hostile_words_stay_words(client: httpx2.AsyncClient, taught: Taught, shelf: Shelf):
    lesson_id = written_lesson(
        shelf, taught, title=HOSTILE, not_known=[HOSTILE], depth=HOSTILE, model=HOSTILE
    )
    shelf.connection.execute("update lesson_sentences set text = %s", (HOSTILE,))
    shelf.connection.execute("update lesson_sections set title = %s", (HOSTILE,))
    for path in (f"/lessons/{lesson_id}", f"/v1/lessons/{lesson_id}?format=html"):
        page = (await client.get(path)).text
        assert "<script>alert" not in page
        assert "<img" not in page
