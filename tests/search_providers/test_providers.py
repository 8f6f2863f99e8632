"""Each search service answers over real HTTP in the shape its documentation shows, and fails in the ways it documents."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from support.http_server import served

from chiron_workers.errors import ToolError
from chiron_workers.knowledge.corpus import Corpus
from chiron_workers.runs.session import Caller, Session
from chiron_workers.search_providers import providers
from chiron_workers.search_providers.merge import search_all
from chiron_workers.store import Store

SECRET = "key-that-nobody-may-see"
BRAVE = {
    "type": "search",
    "query": {"original": "tides"},
    "web": {
        "type": "search",
        "results": [
            {"title": "Tides", "url": "https://example.org/tides", "description": "The moon <b>pulls</b>."},
            {"title": "Moon", "url": "https://example.org/moon", "description": "", "extra_snippets": ["x"]},
        ],
    },
}
TAVILY = {
    "query": "tides",
    "answer": None,
    "images": [],
    "results": [
        {
            "title": "T",
            "url": "https://a.test/t",
            "content": "Twice a day.",
            "score": 0.81,
            "raw_content": None,
        }
    ],
    "response_time": "1.67",
    "request_id": "123e4567",
}
EXA = {
    "requestId": "b5947044c4b78efa9552a7c89b306d95",
    "results": [
        {
            "title": "T",
            "url": "https://a.test/e",
            "publishedDate": "2023-11-16T01:36:32.547Z",
            "author": None,
            "id": "https://a.test/e",
            "highlights": ["One.", "Two."],
            "highlightScores": [0.46, 0.2],
        }
    ],
    "costDollars": {"total": 0.005},
}
SEARXNG = {
    "query": "tides",
    "number_of_results": 0,
    "results": [
        {
            "url": "https://a.test/s",
            "title": "T",
            "content": "Seen.",
            "engine": "mojeek",
            "score": 1.0,
            "category": "general",
        }
    ],
    "answers": [],
    "suggestions": [],
    "unresponsive_engines": [["brave", "too many requests"]],
}
DUCKDUCKGO = """<html><body><div class="serp__results"><div class="result results_links web-result">
<div class="links_main links_deep result__body"><h2 class="result__title"><a href="https://a.test/d">Tides</a></h2>
<a class="result__snippet" href="https://a.test/d">Twice a <b>day</b>.</a></div></div></div></body></html>"""


@dataclass
class Service:
    """A search service on loopback and what it was asked."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    answer: Callable[[web.Request], web.StreamResponse] = field(
        default=lambda request: web.Response(status=500)
    )

    def says(self, data: Any, status: int = 200, **headers: str) -> None:
        self.answer = lambda request: web.json_response(data, status=status, headers=headers)


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    service_state = Service()

    async def handle(request: web.Request) -> web.StreamResponse:
        body = await request.text()
        service_state.asked.append(
            {
                "method": request.method,
                "path": request.path,
                "headers": request.headers,
                "query": dict(request.query),
                "body": body,
            }
        )
        return service_state.answer(request)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    async with served(app) as service_state.url:
        yield service_state


@pytest.fixture
def ask(store: Store, service: Service, setting: Callable[[str, str], None]) -> Callable[..., Any]:
    """`await ask("brave")`: what this provider alone finds."""
    names = ("brave", "tavily", "exa", "searxng", "duckduckgo")

    async def search(*on: str, limit: int = 5) -> Any:
        setting("SEARCH", ",".join(on))
        setting("SEARCH_KEYS", json.dumps(dict.fromkeys(names, SECRET)))
        setting("SEARCH_URLS", json.dumps(dict.fromkeys(names, service.url)))
        return await search_all(store, query="tides", subject_id="physics", limit=limit)

    return search


async def test_brave_is_asked_as_it_documents(service: Service, ask: Callable[..., Any]) -> None:
    service.says(BRAVE)
    hits = await ask("brave", limit=2)
    assert [(hit["url"], hit["title"]) for hit in hits] == [
        ("https://example.org/tides", "Tides"),
        ("https://example.org/moon", "Moon"),
    ]
    assert hits[0]["score"] > hits[1]["score"] > 0
    [asked] = service.asked
    assert (asked["method"], asked["path"]) == ("GET", "/res/v1/web/search")
    assert asked["query"] == {"q": "tides", "count": "2", "text_decorations": "false"}
    assert asked["headers"]["X-Subscription-Token"] == SECRET


async def test_tavily_is_asked_as_it_documents(service: Service, ask: Callable[..., Any]) -> None:
    service.says(TAVILY)
    [hit] = await ask("tavily")
    assert (hit["url"], hit["title"], hit["snippet"]) == ("https://a.test/t", "T", "Twice a day.")
    [asked] = service.asked
    assert (asked["method"], asked["path"]) == ("POST", "/search")
    assert json.loads(asked["body"]) == {"query": "tides", "max_results": 5, "search_depth": "basic"}
    assert asked["headers"]["Authorization"] == f"Bearer {SECRET}"


async def test_exa_is_asked_as_it_documents(service: Service, ask: Callable[..., Any]) -> None:
    service.says(EXA)
    [hit] = await ask("exa")
    assert (hit["url"], hit["snippet"]) == ("https://a.test/e", "One. … Two.")
    [asked] = service.asked
    assert (asked["method"], asked["path"]) == ("POST", "/search")
    assert json.loads(asked["body"])["contents"] == {"highlights": True}
    assert asked["headers"]["x-api-key"] == SECRET


async def test_searxng_is_asked_as_it_documents(service: Service, ask: Callable[..., Any]) -> None:
    service.says(SEARXNG)
    [hit] = await ask("searxng")
    assert (hit["url"], hit["snippet"]) == ("https://a.test/s", "Seen.")
    assert service.asked[0]["query"] == {"q": "tides", "format": "json"}
    service.says({**SEARXNG, "results": []})
    with pytest.raises(ToolError, match="its engines do not answer: brave"):
        await ask("searxng")


async def test_duckduckgo_is_read_from_its_page(service: Service, ask: Callable[..., Any]) -> None:
    service.answer = lambda request: web.Response(text=DUCKDUCKGO, content_type="text/html")
    [hit] = await ask("duckduckgo")
    assert (hit["url"], hit["title"], hit["snippet"]) == ("https://a.test/d", "Tides", "Twice a day.")
    assert (service.asked[0]["method"], service.asked[0]["path"]) == ("POST", "/html/")
    service.answer = lambda request: web.Response(text="<html>prove that you are human</html>", status=202)
    with pytest.raises(ToolError, match="duckduckgo turns searches from here away"):
        await ask("duckduckgo")


@pytest.mark.parametrize("name", ["brave", "tavily", "exa", "searxng"])
@pytest.mark.parametrize(
    ("status", "headers", "words"),
    [
        (401, {}, r"refuses access \(401\): the key in CHIRON_SEARCH_KEYS is wrong"),
        (403, {}, r"refuses access \(403\)"),
        (422, {}, r"refused the search \(422\)"),
        (429, {"Retry-After": "7"}, r"asked too often \(429\); wait 7 s"),
        (429, {}, r"asked too often \(429\); wait a while"),
        (432, {}, r"plan is used up \(432\)"),
        (500, {}, r"trouble of its own \(500\)"),
        (302, {"Location": "http://127.0.0.1:9/"}, r"refused the search \(302\)"),
    ],
)
async def test_what_a_service_refuses_is_one_sentence_that_names_it_and_hides_the_key(
    service: Service, ask: Callable[..., Any], name: str, status: int, headers: dict[str, str], words: str
) -> None:
    service.says({"detail": {"error": f"Unauthorized: {SECRET} is no key."}}, status=status, **headers)
    with pytest.raises(ToolError, match=f"The search provider {name} .*{words}") as failure:
        await ask(name)
    assert SECRET not in str(failure.value)
    assert "\n" not in str(failure.value)
    assert len(service.asked) == 1


@pytest.mark.parametrize("name", ["brave", "tavily", "exa", "searxng"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<html>", "no JSON object"),
        ("[1]", "no JSON object"),
        ("[" * 100_000, "no JSON object"),
        ('{"results": "x", "web": {"results": 3}}', "form that is not known"),
        ("x" * 2_000_001, "more than 2,000,000 bytes"),
    ],
)
async def test_an_answer_in_another_form_is_said(
    service: Service, ask: Callable[..., Any], name: str, text: str, words: str
) -> None:
    service.answer = lambda request: web.Response(text=text)
    with pytest.raises(ToolError, match=f"{name} .*{words}"):
        await ask(name)


@pytest.mark.parametrize("name", ["brave", "tavily", "exa", "searxng"])
async def test_results_of_odd_kinds_are_left_out_rather_than_shown(
    service: Service, ask: Callable[..., Any], name: str
) -> None:
    entries = [None, 3, {}, {"url": None}, {"url": 7}, {"url": "https://a.test/\n x", "title": ["no"]}]
    service.says({"results": entries, "web": {"results": entries}})
    assert [(hit["url"], hit["title"]) for hit in await ask(name)] == [
        ("https://a.test/ x", "https://a.test/ x")
    ]
    service.says({"web": {}})
    assert await ask(name) == []


async def test_no_provider_follows_a_redirect_with_the_words_of_a_query(
    service: Service, ask: Callable[..., Any]
) -> None:
    service.answer = lambda request: web.Response(
        status=302, headers={"Location": f"{service.url}/elsewhere?q=tides"}
    )
    for name in ("brave", "tavily", "exa", "searxng", "duckduckgo"):
        with pytest.raises(ToolError, match=name):
            await ask(name)
    assert all(asked["path"] != "/elsewhere" for asked in service.asked)
    assert len(service.asked) == 5


async def test_a_dead_or_slow_service_is_named_and_the_others_answer(
    service: Service, ask: Callable[..., Any], setting: Callable[[str, str], None], unused_tcp_port: int
) -> None:
    silence = asyncio.Event()

    def by_name(request: web.Request) -> web.StreamResponse:
        if "x-api-key" in request.headers:
            return Slow(silence)
        return web.json_response(TAVILY)

    service.answer = by_name
    setting("SEARCH_TIMEOUT_S", "4")  # in which the others answer on a busy machine, too
    assert [hit["url"] for hit in await ask("exa", "tavily")] == ["https://a.test/t"]
    setting("SEARCH_TIMEOUT_S", "0.3")
    with pytest.raises(ToolError, match=r"exa did not answer within 0.3 s"):
        await ask("exa")
    setting("SEARCH_TIMEOUT_S", "60")
    service.url = f"http://127.0.0.1:{unused_tcp_port}"
    with pytest.raises(
        ToolError, match=r"brave cannot be reached.* tavily cannot be reached.* duckduckgo cannot"
    ):
        await ask("brave", "tavily", "duckduckgo")


class Slow(web.Response):
    """A response that never begins."""

    def __init__(self, silence: asyncio.Event) -> None:
        super().__init__()
        self.silence = silence

    async def prepare(self, request: web.BaseRequest) -> Any:
        await self.silence.wait()


async def test_an_address_that_two_services_find_comes_once_and_the_best_come_first(
    service: Service, ask: Callable[..., Any]
) -> None:
    both = {"title": "Both", "url": "https://A.test:443/t#x", "description": "b", "content": "c"}
    mine = {"title": "Mine", "url": "https://a.test/mine", "description": "m"}
    service.says({"web": {"results": [both, mine]}, "results": TAVILY["results"]})
    hits = await ask("brave", "tavily")
    assert [hit["title"] for hit in hits] == ["Both", "Mine"]
    assert [hit["title"] for hit in await ask("brave", "tavily", limit=1)] == ["Both"]


async def test_the_offline_researcher_asks_the_corpus_only(
    store: Store, service: Service, ask: Callable[..., Any], setting: Callable[[str, str], None]
) -> None:
    await Corpus(store.session).add_texts("Physics", [("tides.txt", "Tides", "The tides come and go.")])
    service.says(BRAVE)
    setting("MODEL", "offline")
    assert [hit["source_type"] for hit in await ask("auto")] == ["own document"]
    assert [hit["source_type"] for hit in await ask("corpus", "brave")] == ["own document"]
    with pytest.raises(ToolError, match="No search provider is on"):
        await ask("brave")
    assert service.asked == []
    setting("MODEL", "claude-opus-5-5")
    setting("SEARCH", "auto")
    offline = Store(Session(store.session.pool, Caller(model="offline")), store.embedder)
    await search_all(offline, query="tides", subject_id="physics", limit=5)
    assert service.asked == []
    entries = await ask("auto")
    assert {hit["source_type"] for hit in entries} == {"own document", "web page"}


def test_every_file_beside_the_others_is_a_provider() -> None:
    assert list(providers()) == ["brave", "claude", "corpus", "duckduckgo", "exa", "searxng", "tavily"]
