from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp import web
from support.http_server import served

from chiron_workers.embeddings import open_embedder
from chiron_workers.embeddings.hosted import BATCH_MAX, PROVIDERS, TRIES, Hosted
from chiron_workers.errors import ChironError, ConfigurationError, ServiceUnavailable
from chiron_workers.settings import Settings

KEY = "sk-very-secret"


class Server:
    """A provider that keeps what it was asked and answers from a script, then with vectors."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.script: list[Callable[[dict[str, Any]], web.Response]] = []
        self.dimensions = 3
        self.url = ""

    async def answer(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.asked.append(body)
        self.headers.append(dict(request.headers))
        if self.script:
            return self.script.pop(0)(body)
        vectors = [
            {"index": n, "embedding": [float(len(text)), 4.0] + [0.0] * (self.dimensions - 2)}
            for n, text in enumerate(body["input"])
        ]
        return web.json_response({"data": vectors[::-1]})


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    scripted = Server()
    app = web.Application()
    app.router.add_post("/v1/embeddings", scripted.answer)
    async with served(app) as url:
        scripted.url = f"{url}/v1"
        yield scripted


@pytest.fixture
async def openai(server: Server) -> AsyncIterator[Hosted]:
    opened = hosted("openai", server.url)
    yield opened
    await opened.close()


def hosted(provider: str, url: str) -> Hosted:
    return Hosted(PROVIDERS[provider], url=url, model="m-1", key=KEY, dimensions=3, first_wait_s=0.001)


def fails(status: int, text: str = "", **headers: str) -> Callable[[dict[str, Any]], web.Response]:
    return lambda _: web.Response(status=status, text=text, headers=headers)


async def test_the_key_goes_into_the_header_and_vectors_come_back_in_order(server, openai):
    vectors = await openai.embed(["abc", ""])
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert server.asked == [
        {"input": ["abc", ""], "model": "m-1", "dimensions": 3, "encoding_format": "float"}
    ]
    assert vectors == [pytest.approx([0.6, 0.8, 0.0]), pytest.approx([0.0, 1.0, 0.0])]


async def test_voyage_is_told_queries_from_documents(server):
    voyage = hosted("voyage", server.url + "/")
    await voyage.embed(["a"])
    await voyage.embed(["a"], query=True)
    await voyage.close()
    assert [body["input_type"] for body in server.asked] == ["document", "query"]
    assert server.asked[0]["output_dimension"] == 3


async def test_many_texts_go_out_in_bounded_batches(server, openai):
    assert len(await openai.embed(["x"] * (2 * BATCH_MAX + 1))) == 2 * BATCH_MAX + 1
    assert [len(body["input"]) for body in server.asked] == [BATCH_MAX, BATCH_MAX, 1]


async def test_busy_and_broken_are_tried_again(server, openai):
    server.script = [fails(429), fails(503)]
    assert len(await openai.embed(["a"])) == 1
    assert len(server.asked) == 3


async def test_tries_are_bounded(server, openai):
    server.script = [fails(500, "overloaded")] * 10
    with pytest.raises(ServiceUnavailable, match=f"in {TRIES} tries: 500 overloaded"):
        await openai.embed(["a"])
    assert len(server.asked) == TRIES


async def test_a_server_that_is_not_there_is_said_to_be_unavailable(unused_tcp_port):
    gone = hosted("openai", f"http://127.0.0.1:{unused_tcp_port}/v1")
    with pytest.raises(ServiceUnavailable, match="ClientConnector"):
        await gone.embed(["a"])
    await gone.close()


async def test_a_refused_key_is_one_sentence_that_names_the_setting(server, openai):
    server.script = [fails(401, f"bad key {KEY}")]
    with pytest.raises(ConfigurationError, match="CHIRON_EMBEDDING_API_KEY") as caught:
        await openai.embed(["a"])
    assert len(server.asked) == 1
    assert KEY not in str(caught.value)


async def test_the_key_never_shows_in_an_error(server, openai):
    server.script = [fails(400, f"what is {KEY}?")]
    with pytest.raises(ChironError, match=r"400 what is \*\*\*\?"):
        await openai.embed(["a"])


async def test_other_dimensions_name_the_setting_to_change(server, openai):
    server.dimensions = 5
    with pytest.raises(ConfigurationError, match=r"5 dimensions, not 3; set CHIRON_EMBEDDING_DIMENSIONS=5\."):
        await openai.embed(["a"])
    server.dimensions = 1536
    with pytest.raises(ConfigurationError, match="choose a model of at most 1024"):
        await openai.embed(["a"])


async def test_a_server_that_cannot_choose_dimensions_is_asked_without(server, openai):
    server.script = [fails(400, "m-1 does not support changing output dimensions")]
    await openai.embed(["a"])
    await openai.embed(["b"])
    assert ["dimensions" in body for body in server.asked] == [True, False, False]


@pytest.mark.parametrize(
    "answer", ["<html>", '{"data": [{"index": 0, "embedding": ["a"]}]}', '{"data": []}', "{}"]
)
async def test_what_is_no_embedding_service_is_named(server, openai, answer):
    server.script = [fails(200, answer)]
    with pytest.raises(ChironError, match="/v1/embeddings"):
        await openai.embed(["a"])


async def test_a_redirect_is_not_followed(server, openai):
    server.script = [fails(307, "", Location="http://127.0.0.1:1/")]
    with pytest.raises(ChironError, match="307"):
        await openai.embed(["a"])


def test_spaces_differ_by_provider_and_model():
    spaces = {hosted(provider, "http://h").space for provider in PROVIDERS}
    assert len(spaces) == 2
    assert {space.dimensions for space in spaces} == {3}


def test_what_a_provider_lacks_is_named():
    def opened(**values: object) -> object:
        return open_embedder(Settings(_env_file=None, **values))  # type: ignore[arg-type,call-arg]

    with pytest.raises(ConfigurationError, match="CHIRON_EMBEDDING_MODEL"):
        opened(embedding_provider="voyage", embedding_api_key=KEY)
    with pytest.raises(ConfigurationError, match="CHIRON_EMBEDDING_API_KEY"):
        opened(embedding_provider="voyage", embedding_model="voyage-3.5")
    for url in ("localhost:80", "https://", "http://user:secret@host/v1"):
        with pytest.raises(ConfigurationError, match="CHIRON_EMBEDDING_URL must") as caught:
            opened(embedding_provider="openai", embedding_model="m", embedding_url=url)
        assert "secret" not in str(caught.value)
    assert opened(embedding_provider="openai", embedding_model="m", embedding_url="http://localhost:80")
