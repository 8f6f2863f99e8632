"""The page as a browser gets it: rendered on the server, readable without a script."""

import json
import re
from uuid import UUID

import httpx2
import psycopg
import pytest
from support.research_rows import Shelf

from chiron_workers.settings import Settings

HOSTILE = "<script>alert(1)</script> \"'><img src=x onerror=alert(2)> مرحبا 🙂 \u202eabc\x1b[31m"


async def test_an_empty_home_teaches_the_next_step(client: httpx2.AsyncClient):
    answer = await client.get("/")
    assert answer.status_code == 200
    assert "Nothing was researched here yet" in answer.text
    assert 'action="/submit"' in answer.text
    assert "Next: see what it costs" in answer.text
    main = answer.text[answer.text.index("<main") : answer.text.index("</main>")]
    assert "<code>" not in main, "a view has no shell commands"


async def test_a_form_submits_once_and_leads_to_its_batch(client: httpx2.AsyncClient):
    page = await client.get("/submit")
    key = re.search(r'name="key" value="([^"]+)"', page.text)
    assert key
    form = {"topics": "Closures\nDecorators\n", "subject": "Python", "budget_usd": "2.50", "key": key[1]}
    first = await client.post("/submit", data=form)
    again = await client.post("/submit", data=form)
    assert (first.status_code, again.status_code) == (303, 303)
    assert first.headers["location"] == again.headers["location"]
    batch = await client.get(first.headers["location"])
    assert "Closures" in batch.text
    assert "$2.50" in batch.text


async def test_what_hosted_services_cost_is_a_line_of_its_own(client: httpx2.AsyncClient, shelf: Shelf):
    subject = shelf.subject("moon")
    batch = shelf.batch(subject, "Tides")
    run = shelf.run(subject, batch, "Why?", services_usd=0.25)
    for path in (f"/batches/{batch}", f"/runs/{run}"):
        assert "<dt>Services</dt><dd>$0.2500 of it</dd>" in (await client.get(path)).text, path
    report = (await client.get(f"/runs/{run}/report")).text
    assert "<dt>Embeddings and searches</dt><dd>$0.2500 of it</dd>" in report


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("budget_usd", "much", "budget_usd: "),
        ("topics", "  \n", "Write a topic a line"),
        ("subject", "", "Say which subject"),
        ("max_turns", "-1", "max_turns: "),
    ],
)
async def test_what_is_wrong_in_a_form_is_said_in_it(
    client: httpx2.AsyncClient, field: str, value: str, words: str
):
    form = {"topics": "Closures & more", "subject": "Python"} | {field: value}
    answer = await client.post("/submit", data=form)
    assert answer.status_code == 422
    assert words in answer.text
    assert field == "topics" or "Closures &amp; more" in answer.text


async def test_a_file_of_topics_counts_as_lines(client: httpx2.AsyncClient):
    files = {"file": ("topics.txt", b"Generators\nIterators\n")}
    answer = await client.post("/submit", data={"subject": "Python"}, files=files)
    assert answer.status_code == 303
    page = await client.get(answer.headers["location"])
    assert "0 of 2" in page.text


async def test_topics_of_the_form_are_lines_as_in_a_file(client: httpx2.AsyncClient):
    text = "# comment\r\n#1 cause of wrecks\r\nHow thick\u2028was the ice?\r\n#\r\n#1 Cause of wrecks\r\n"
    answer = await client.post(
        "/submit/estimate", data={"topics": text, "subject": "Sea", "model": "offline"}
    )
    assert "<dd>3</dd>" in answer.text
    assert "Topics 1 and 3 are the same, “#1 cause of wrecks”" in answer.text
    refused = await client.post("/submit/estimate", data={"topics": "Ice\n\u200b", "subject": "Sea"})
    assert "Topic 2: The topic is empty: none of its characters can be seen (U+200B)." in refused.text


async def test_the_estimate_follows_the_form(client: httpx2.AsyncClient):
    answer = await client.post(
        "/submit/estimate", data={"topics": "a\nb\nc", "subject": "Python", "model": "offline"}
    )
    assert answer.status_code == 200
    assert "<dd>3</dd>" in answer.text


async def test_a_batch_is_steered_from_its_page(client: httpx2.AsyncClient):
    submission = await client.post("/submit", data={"topics": "Closures", "subject": "Python"})
    path = submission.headers["location"]
    for name, state in (
        ("pause", "paused"),
        ("resume", "queued"),
        ("cancel", "cancelled"),
        ("retry", "queued"),
    ):
        answer = await client.post(f"{path}/{name}", data={"token": ""})
        assert (answer.status_code, answer.headers["location"]) == (303, path)
        assert f"state {state}" in (await client.get(path)).text


async def test_a_message_is_said_to_a_run(client: httpx2.AsyncClient, settings: Settings):
    submission = await client.post("/v1/batches", json={"topics": ["Closures"], "subject": "Python"})
    [run_id] = submission.json()["run_ids"]
    answer = await client.post(f"/runs/{run_id}/say", data={"text": "Look at nonlocal too."})
    assert answer.status_code == 303
    with psycopg.connect(settings.database_url) as connection:
        assert connection.execute("select text from inbox").fetchone() == ("Look at nonlocal too.",)


def stored_run(shelf: Shelf, words: str) -> tuple[UUID, UUID]:
    subject = shelf.subject("python", title=words)
    batch_id = shelf.batch(subject, name=words)
    return batch_id, shelf.run(subject, batch_id, words, answer=words, error=None)


async def test_nothing_that_strangers_wrote_becomes_markup(
    client: httpx2.AsyncClient, shelf: Shelf, settings: Settings
):
    batch_id, run_id = stored_run(shelf, HOSTILE)
    events = [
        ("run.started", {"worker": HOSTILE}),
        ("model.thought", {"turn": 1, "text": HOSTILE}),
        ("model.replied", {"turn": 1, "text": HOSTILE}),
        ("tool.called", {"call_id": "c1", "name": HOSTILE, "arguments": {HOSTILE: HOSTILE}}),
        ("tool.returned", {"call_id": "c1", "name": HOSTILE, "is_error": True, "ms": 5}),
        ("run.failed", {"kind": HOSTILE, "message": HOSTILE}),
    ]
    shelf.events(run_id, batch_id, events)
    shelf.fact("python", HOSTILE, "https://example.org/" + HOSTILE, run_id=run_id)
    for path in (
        "/",
        "/batches",
        f"/batches/{batch_id}",
        f"/runs/{run_id}",
        "/submit",
        "/subjects",
        "/subjects/python",
    ):
        text = (await client.get(path)).text
        assert "<script>alert" not in text, path
        assert "<img" not in text, path
        assert "\u202e" not in text, path
        assert "\x1b" not in text, path


async def test_every_page_keeps_the_policy(client: httpx2.AsyncClient, shelf: Shelf):
    batch_id, run_id = stored_run(shelf, "Closures")
    fact_id = shelf.fact("python", "A closure keeps its names.", "https://example.org/", run_id=run_id)
    facts = f"/facts/{fact_id}", "/facts/no-id", "/search?q=closure&mode=text", "/search?since=x"
    reports = [f"{path}/report" for path in (f"/batches/{batch_id}", f"/runs/{run_id}", "/subjects/python")]
    for path in (
        "/",
        "/batches",
        f"/batches/{batch_id}",
        f"/runs/{run_id}",
        "/submit",
        "/subjects",
        "/subjects/python",
        "/system",
        "/batches/no-id",
        *facts,
        *reports,
    ):
        answer = await client.get(path)
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert not re.search(r"<script(?! src=)|<style| style=| on[a-z]+=", answer.text), path


async def test_a_wrong_address_is_a_page_that_says_so(client: httpx2.AsyncClient):
    for path in ("/batches/no-id", "/runs/0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa"):
        answer = await client.get(path)
        assert answer.status_code == 404
        assert answer.headers["content-type"].startswith("text/html")


async def test_assets_are_kept_for_ever_and_nothing_else_is_served(client: httpx2.AsyncClient):
    page = await client.get("/")
    style = re.search(r'href="(/assets/[^"]+chiron.css)"', page.text)
    assert style
    answer = await client.get(style[1])
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/css")
    assert (await client.get("/assets/x/..%2Frendering.py")).status_code == 404


async def test_a_fact_that_came_between_the_page_and_its_stream_joins_the_page(
    client: httpx2.AsyncClient, shelf: Shelf
):
    submission = await client.post("/v1/batches", json={"topics": ["Closures"], "subject": "python"})
    batch_id, [run_id] = submission.json()["batch_id"], submission.json()["run_ids"]
    page = await client.get(f"/batches/{batch_id}")
    address = re.search(r'data-live="([^"]+)"', page.text)
    assert address
    shelf.fact("python", "A closure keeps its cells.", "https://example.org/", run_id=UUID(run_id))
    async with client.stream("GET", address[1].replace("&amp;", "&")) as stream:
        async for line in stream.aiter_lines():
            if line.startswith("data:") and "A closure keeps its cells." in line:
                return


async def test_a_long_story_is_told_page_by_page(client: httpx2.AsyncClient, shelf: Shelf):
    batch_id, run_id = stored_run(shelf, "Closures")
    events: list[tuple[str, dict]] = []
    for turn in range(1, 301):
        call = {"call_id": f"c{turn}", "name": "web_search", "arguments": {"query": f"question {turn}"}}
        events += [
            ("model.replied", {"turn": turn, "text": f"words {turn}"}),
            ("tool.called", call),
            ("tool.returned", {"call_id": f"c{turn}", "name": "web_search", "is_error": False, "ms": 5}),
        ]
    shelf.events(run_id, batch_id, events)
    path, turns = f"/runs/{run_id}", []
    while path:
        page = (await client.get(path)).text
        turns = [int(n) for n in re.findall(r">Turn (\d+)<", page)] + turns
        earlier = re.search(r'href="(\?before=\d+)">Earlier', page)
        path = f"/runs/{run_id}{earlier[1]}" if earlier else ""
    assert turns == list(range(1, 301))


async def test_a_story_says_what_its_calls_came_to(client: httpx2.AsyncClient, shelf: Shelf):
    batch_id, run_id = stored_run(shelf, "Closures")
    results = [
        ("web_search", {"query": "cells"}, [{"url": "https://a.org/", "title": "A"}] * 3, "3 sources"),
        ("vector_search", {"query": "cells"}, [{"id": "1", "content": "x" * 5_000}], "1 fact"),
        ("web_fetch", {"url": "https://a.org/cells"}, {"url": "…", "title": 'On "cells"'}, "read On &#34;cells&#34; - a.org"),
        ("store_knowledge", {"content": "A cell"}, {"status": "joined", "fact_id": "f"}, "joined"),
    ]  # fmt: skip
    events: list[tuple[str, dict]] = [("model.replied", {"turn": 1, "text": "Looks."})]
    for n, (name, arguments, value, _) in enumerate(results):
        call = {"call_id": f"c{n}", "name": name}
        events += [("tool.called", call | {"arguments": arguments})]
        events += [("tool.returned", call | {"is_error": False, "ms": 1_500, "chars": 9})]
        body = json.dumps(value, ensure_ascii=False)
        shelf.insert(
            "tool_results",
            run_id=run_id,
            n=3,
            call_id=f"c{n}",
            name=name,
            is_error=False,
            body=body,
            ms=1_500,
        )
    shelf.events(run_id, batch_id, events)
    page = (await client.get(f"/runs/{run_id}")).text
    assert [words for *_, words in results if words not in page] == []


async def test_what_cannot_be_steered_leads_back_to_where_one_came_from(client: httpx2.AsyncClient):
    submission = await client.post("/submit", data={"topics": "Closures", "subject": "Python"})
    path = submission.headers["location"]
    await client.post(f"{path}/pause", data={"token": ""})
    headers = {"Referer": f"{client.base_url}{path}", "Host": client.base_url.netloc.decode()}
    answer = await client.post(f"{path}/pause", data={"token": ""}, headers=headers)
    assert answer.status_code == 409
    assert f'<a href="{path}">Back</a>' in answer.text
    foreign = await client.post(
        f"{path}/pause", data={"token": ""}, headers={"Referer": "https://evil.org/x"}
    )
    assert "Back" not in foreign.text


async def test_an_address_with_nothing_there_is_a_page_for_people_and_a_problem_for_programs(
    client: httpx2.AsyncClient,
):
    person = await client.get("/nope", headers={"Accept": "text/html"})
    program = await client.get("/nope")
    assert (person.status_code, person.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert (program.status_code, program.headers["content-type"]) == (404, "application/problem+json")


async def test_a_call_that_was_open_when_the_page_was_drawn_ends_in_its_line(
    client: httpx2.AsyncClient, shelf: Shelf
):
    submission = await client.post("/v1/batches", json={"topics": ["Closures"], "subject": "python"})
    batch_id, [run_id] = submission.json()["batch_id"], submission.json()["run_ids"]
    call = {"call_id": "c1", "name": "web_search"}
    seq = shelf.add_event(run_id, batch_id, "tool.called", call | {"arguments": {"query": "cells"}})
    page = (await client.get(f"/runs/{run_id}")).text
    assert re.search(rf'<li id="c{seq}"><code>web_search</code>[^\n]*…</span>', page)
    address = re.search(r'data-live="([^"]+)"', page)
    assert address
    shelf.add_event(run_id, batch_id, "tool.returned", call | {"is_error": False, "ms": 1_500})
    async with client.stream("GET", address[1].replace("&amp;", "&")) as stream:
        async for line in stream.aiter_lines():
            if line.startswith("data:") and f'"c{seq}"' in line:
                part = json.loads(line.removeprefix("data:"))
                break
    assert part["how"] == "replace"
    assert part["html"].startswith(f'<li id="c{seq}">')
    assert "searched “cells”" in part["html"]
    assert "…" not in part["html"]
    assert f"/runs/{run_id}/calls/c1" in part["html"]
