"""Requests over the real API: what comes of them, and what is sent again when a connection fails."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web
from support.api_server import api_client
from support.committed_events import batch_of, happen, work
from support.http_server import served
from support.proxy import Proxy, open_proxy
from support.verified_quotes import quoted

from chiron_api.client import NotFound, RateLimited, Refused, StillOpen, Topic, Unavailable, Unreadable
from chiron_api.client.flows.patience import backoff_s
from chiron_api.local_stack.access import api_key
from chiron_workers.ids import new_id
from chiron_workers.runs.session import Session
from chiron_workers.settings import Settings
from chiron_workers.states import EventKind
from chiron_workers.store import Store

WORDS = "The Moon's crust is 50 km thick on average."


@pytest.fixture
async def proxy(settings: Settings) -> AsyncIterator[Proxy]:
    """A proxy before a server that asks for the key of its home."""
    async with api_client(settings) as api, open_proxy(api.base_url.port or 0) as opened:
        yield opened


@pytest.fixture
def shell(connect, proxy: Proxy, settings: Settings):
    """A client with that key."""
    return connect(proxy.http_url, api_key(settings))


async def rows(pool, query: str, *values: object) -> list[dict]:
    async with pool.connection() as connection:
        return await (await connection.execute(query, values)).fetchall()


async def test_topics_are_submitted_looked_at_and_steered(shell):
    topics = ["Closures", Topic("Decorators", priority=3, budget_usd=0.5)]
    receipt = await shell.call("submit", topics, subject="Python", name="Reading", budget_usd=2, max_turns=7)
    batch = await shell.call("batch", receipt)
    assert (batch.name, batch.state, batch.runs["queued"], batch.budget_usd) == ("Reading", "queued", 2, 2)
    run = await shell.call("run", receipt.run_ids[1])
    assert (run.topic, run.budget_usd, run.batch_id) == ("Decorators", 0.5, receipt.batch_id)
    assert (await shell.call("pause", run=run)).changed == 1
    assert (await shell.call("pause", batch)).changed == 1
    assert (await shell.call("wait", batch)).state == "paused"
    assert (await shell.call("resume", batch)).changed == 2
    assert (await shell.call("say", run, "Compare them.")).run_id == run.id
    assert (await shell.call("cancel", receipt)).changed == 2
    with pytest.raises(Refused, match="cancel") as error:
        await shell.call("cancel", receipt)
    assert error.value.status == 409
    assert [result.state for result in await shell.items("results", batch)] == ["cancelled", "cancelled"]
    assert (await shell.call("delete", run=run)) is None
    with pytest.raises(NotFound, match="There is no run"):
        await shell.call("run", run)


async def test_a_batch_whose_answer_is_lost_is_stored_once(shell, proxy, pool):
    await shell.call("health")
    proxy.answers_to_drop = 2
    receipt = await shell.call("submit", ["Closures"], subject="Python")
    assert proxy.cuts == 2
    assert [row["id"] for row in await rows(pool, "select id from batches")] == [receipt.batch_id]


async def test_what_could_happen_twice_is_not_sent_again(shell, proxy, pool):
    receipt = await shell.call("submit", ["Closures"], subject="Python")
    proxy.answers_to_drop = 1
    with pytest.raises(Unavailable, match=r"Whether POST .* was done is not known"):
        await shell.call("cancel", receipt)
    assert proxy.cuts == 1
    assert (await shell.call("batch", receipt)).state == "cancelled"


async def test_lists_are_read_page_after_page(shell, pool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("chiron_api.client.call.PAGE_ITEMS", 2)
    ids = [(await batch_of(pool, 1))[0] for _ in range(5)]
    assert [batch.id for batch in await shell.items("batches")] == ids[::-1]


async def test_waiting_ends_with_the_batch(shell, pool, chance):
    batch_id, run_ids = await batch_of(pool, 2)
    await happen(pool, run_ids[0], EventKind.RUN_STARTED)
    with pytest.raises(StillOpen, match=r"still (running|queued) after 0\.1 s"):
        await shell.call("wait", batch_id, timeout_s=0.1)
    waiting = asyncio.create_task(shell.call("wait", batch_id, timeout_s=60))
    for run_id in run_ids:
        await work(pool, run_id, chance, events=1)
    assert (await waiting).runs["completed"] == 2
    assert (await shell.call("wait_for_run", run_ids[0])).state == "completed"


async def test_facts_are_searched_shown_and_withdrawn(shell, pool, embedder):
    async with Store(Session(pool), embedder) as store:
        stored = await store.facts.add(await quoted(pool, WORDS))
    items = (await shell.call("search", "How thick is the crust of the Moon?")).items
    assert [fact.content for fact in items] == [WORDS]
    fact = await shell.call("fact", items[0])
    assert (str(fact.id), fact.assertions[0].quote) == (str(stored.fact_id), WORDS)
    assert (await shell.call("withdraw", fact, "misread")).status == "withdrawn"
    assert (await shell.call("search", "crust of the Moon", min_confidence=0.1)).items == []
    assert (await shell.call("reinstate", fact)).status == "accepted"


async def test_reports_come_as_a_model_or_as_a_document(shell, shelf):
    shelf.subject("ice", "Ice")
    batch_id = shelf.batch("ice")
    run_id = shelf.run("ice", batch_id, "Thickness")
    shelf.source("https://example.org/a", WORDS)
    shelf.fact("ice", WORDS, "https://example.org/a", run_id=run_id)
    for target in ({"batch": batch_id}, {"run": run_id}, {"subject": "Ice"}):
        report = await shell.call("report", **target)
        assert [finding.content for section in report.sections for finding in section.findings] == [WORDS]
    page = await shell.call("report_document", batch_id, format="html")
    assert page.startswith(b"<!doctype html>")
    assert (await shell.call("report_document", subject="Ice", format="docx"))[:2] == b"PK"
    assert [subject.title for subject in await shell.call("subjects")] == ["Ice"]
    since = datetime.now(UTC) - timedelta(days=3650)
    assert (await shell.call("difference", "Ice", since=since)).counts["new"] == 1


async def test_a_single_run_is_started_once_and_listed(shell, proxy):
    await shell.call("health")
    proxy.answers_to_drop = 1
    receipt = await shell.call("start", "Closures", subject="Python", budget_usd=1)
    assert [run.id for run in await shell.items("runs", receipt, state="queued")] == [receipt.run_id]
    assert (await shell.call("run", receipt)).topic == "Closures"
    assert [batch.id for batch in await shell.items("batches")] == [receipt.batch_id]


async def test_documents_are_added_to_a_subject(shell):
    content = b"# Ice\n\nThe ice is 2 m thick at the pole in March, and 1 m thick at its edge."
    receipt = await shell.call("add_document", "Sea ice", "notes/ice.md", content)
    assert (receipt.state, receipt.title) == ("new", "Ice")
    assert (await shell.call("add_document", "Sea ice", "notes/ice.md", content)).state == "unchanged"
    assert [document.url for document in await shell.call("documents", "Sea ice")] == [receipt.url]
    subject = await shell.call("subject", "Sea ice")
    assert (subject.title, subject.documents) == ("Sea ice", 1)
    assert await shell.items("subject_facts", "Sea ice") == []


async def test_keys_are_made_used_and_revoked(shell, connect, proxy):
    made = await shell.call("create_key", "reader", "read", requests_per_minute=600)
    reader = connect(proxy.http_url, made.key)
    assert await reader.call("subjects") == []
    with pytest.raises(Refused, match="may read; this needs one that may submit") as error:
        await reader.call("submit", ["Closures"], subject="Python")
    assert error.value.status == 403
    assert "reader" in [key.name for key in await shell.call("keys")]
    await shell.call("revoke_key", "reader")
    assert "reader" not in [key.name for key in await shell.call("keys")]
    assert "keys.create" in [entry.action for entry in await shell.items("audit_trail")]


async def test_tools_are_listed_and_called(shell):
    names = [tool.name for tool in await shell.call("tools")]
    assert "list_subjects" in names
    assert await shell.call("call_tool", "list_subjects", {}) is not None
    with pytest.raises(NotFound):
        await shell.call("call_tool", "no_such_tool", {})
    assert (await shell.call("readiness")).status == "ready"
    assert isinstance(await shell.call("skills"), list)


async def test_a_refusal_says_what_is_wrong_and_where(shell, connect, proxy):
    with pytest.raises(Refused, match="greater than 0") as error:
        await shell.call("submit", ["Closures"], subject="Python", budget_usd=-1)
    assert [entry.field for entry in error.value.problem.errors] == ["budget_usd"]
    with pytest.raises(NotFound, match="There is no batch"):
        await shell.call("batch", new_id())
    with pytest.raises(Refused) as error:
        await connect(proxy.http_url, "wrong").call("subjects")
    assert error.value.status == 401


async def test_where_nothing_answers_one_sentence_says_so_at_once(connect):
    with pytest.raises(Unavailable) as error:
        await connect("http://127.0.0.1:1", "key").call("submit", ["Closures"], subject="Python")
    assert str(error.value).startswith("Nothing answers at http://127.0.0.1:1 (")
    assert "`chiron up` starts everything" in str(error.value)


async def test_a_server_that_is_started_again_is_waited_for(connect, settings):
    async with open_proxy(0) as proxy:
        async with api_client(settings) as api:
            proxy.upstream = api.base_url.port or 0
            shell = connect(proxy.http_url, api_key(settings))
            await shell.call("health")
        proxy.upstream = 1
        submitting = asyncio.create_task(shell.call("submit", ["Closures"], subject="Python"))
        async with asyncio.timeout(60):
            while proxy.connections < 3:  # it has tried in vain
                await asyncio.sleep(0.01)
        async with api_client(settings) as api:
            proxy.upstream = api.base_url.port or 0
            assert (await submitting).batch_id


def scripted(*answers: web.Response) -> web.Application:
    """Answers each request with the next."""
    rest = list(answers)

    async def answer(_: web.Request) -> web.Response:
        return rest.pop(0)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    return app


def refusal(status: int, detail: str, **headers: str) -> web.Response:
    body = {"type": "about:blank", "title": "No", "status": status, "detail": detail}
    return web.json_response(body, status=status, headers=headers, content_type="application/problem+json")


async def test_whoever_sends_too_much_waits_as_long_as_the_server_says(connect):
    answers = [refusal(429, "Too many.", **{"Retry-After": "1"}), web.json_response({"status": "ok"})]
    async with served(scripted(*answers)) as address:
        started = asyncio.get_running_loop().time()
        assert (await connect(address, "key").call("health")).status == "ok"
        assert asyncio.get_running_loop().time() - started >= 1


async def test_a_wait_longer_than_the_patience_is_left_to_the_caller(connect):
    async with served(scripted(refusal(429, "Too many.", **{"Retry-After": "3600"}))) as address:
        with pytest.raises(RateLimited, match="Too many") as error:
            await connect(address, "key").call("say", new_id(), "Go on.")
    assert error.value.retry_after_s == 3600


async def test_a_server_that_cannot_do_it_now_is_asked_again_where_that_is_safe(connect):
    busy = [refusal(503, "Later."), refusal(503, "Later."), web.json_response({"status": "ready"})]
    async with served(scripted(*busy)) as address:
        assert (await connect(address, "key").call("readiness")).status == "ready"
    async with served(scripted(refusal(503, "Later."))) as address:
        with pytest.raises(Unavailable, match="Later"):
            await connect(address, "key").call("say", new_id(), "Go on.")


async def test_what_is_not_the_api_of_chiron_is_told_as_such(connect):
    pages = [web.Response(text="<h1>Welcome</h1>"), web.Response(text="<h1>Not here</h1>", status=404)]
    async with served(scripted(*pages)) as address:
        shell = connect(address, "key")
        with pytest.raises(Unreadable, match="another version"):
            await shell.call("subjects")
        with pytest.raises(NotFound, match="Is that the HTTP API of Chiron"):
            await shell.call("subjects")


def test_delays_grow_to_ten_seconds():
    for attempt in range(40):
        longest = min(10, 0.25 * 2**attempt)
        assert longest / 2 <= backoff_s(attempt) <= longest
