"""The page while Redis or Postgres is away: what stands is shown, and what is missing is said in a sentence."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.private_valkey import OwnValkey, own_valkey
from support.proxy import Partition, open_proxy, socket_of
from support.research_rows import Shelf

from chiron_api.local_stack.access import api_key
from chiron_workers.settings import Settings

from ..conftest import Serving


@pytest.fixture
def redis_server(short_dir: Path) -> Iterator[OwnValkey]:
    with own_valkey(short_dir / "valkey-of-outages") as server:
        yield server


def parts_of(line: str) -> dict[str, str]:
    return dict(json.loads(line.removeprefix("data: "))) if line.startswith("data: {") else {}


async def test_without_redis_every_view_shows_what_stands_and_says_that_live_progress_is_away(
    settings: Settings,
    serving: Serving,
    redis_server: OwnValkey,
    shelf: Shelf,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("chiron_workers.pubsub.reconnection.PAUSE_MAX_S", 0.2)
    monkeypatch.setattr("chiron_api.http.page.shared_views.READ_S", 0.1)
    monkeypatch.setattr("chiron_api.http.page.shared_views.IDLE_READ_S", 0.1)
    subject = shelf.subject("towers", "Towers")
    batch = shelf.batch(subject, "Towers of Paris")
    run = shelf.run(subject, batch, "How tall?", state="running", finished_at=None)
    shelf.connection.execute("update batches set open_runs = 1")
    fact = shelf.fact(subject, "It is tall.", "https://example.org/", run_id=run)
    paths = ("/", "/batches", f"/batches/{batch}", f"/runs/{run}", f"/facts/{fact}", "/search", "/submit")
    subject_paths = (
        "/subjects",
        "/subjects/towers",
        "/subjects/towers/sources",
        "/subjects/towers/learn",
        "/subjects/towers/report",
    )
    async with serving(settings.model_copy(update={"redis_url": redis_server.url})) as client:
        client.headers["Authorization"] = f"Bearer {api_key(settings)}"
        async with client.stream("GET", f"/runs/{run}/live") as stream:
            lines = stream.aiter_lines()
            async for line in lines:
                if parts_of(line).get("target") == "head":
                    break
            redis_server.kill()
            async for line in lines:
                if parts_of(line).get("target") == "delay":
                    assert "Live progress is away" in parts_of(line)["html"]
                    break
            for path in (*paths, *subject_paths):
                answer = await client.get(path)
                assert answer.status_code == 200, path
                assert 'id="delay" role="status" hidden' in answer.text, path
            assert "Redis: It does not answer." in (await client.get("/system")).text
            redis_server.start()
            async for line in lines:
                if parts_of(line).get("target") == "delay":
                    assert "hidden" in parts_of(line)["html"]
                    break


async def test_without_postgres_a_view_is_one_page_that_says_what_to_do(
    settings: Settings, serving: Serving, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("chiron_api.http.app.AWAY_S", 0.3)
    monkeypatch.setattr("chiron_api.http.page.system.system.ANSWER_S", 0.3)
    key = api_key(settings)
    async with (
        open_proxy(socket_of(settings.database_url)) as proxy,
        serving(
            settings.model_copy(update={"database_url": proxy.postgres_url(settings.database_url)})
        ) as client,
    ):
        client.headers["Authorization"] = f"Bearer {key}"
        await proxy.cut(Partition.REFUSED)
        answer = await client.get("/batches")
        assert answer.status_code == 503
        assert answer.headers["content-type"].startswith("text/html")
        assert "cannot be reached" in answer.text
        assert "An administrator of the machine can check" in answer.text
        system = await client.get("/system")
        assert system.status_code == 200
        assert "away" in system.text
