import asyncio
import json
from urllib.parse import urlsplit

import pytest
from support.api_server import api_client

from chiron_workers.settings import Settings


async def test_open_prints_a_link_that_signs_in_once(
    chiron, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    async with api_client(settings) as client:
        monkeypatch.setenv("CHIRON_API_PORT", str(client.base_url.port))
        outcome = await asyncio.to_thread(chiron, "open", "--json")
        assert outcome.exit_code == 0, outcome.output
        document = json.loads(outcome.stdout)
        assert document["address"] == f"{str(client.base_url).rstrip('/')}/"
        assert (await client.get("/v1/subjects")).status_code == 401
        link = urlsplit(document["link"])
        assert (await client.get(f"{link.path}?{link.query}")).status_code == 200
        assert (await client.get("/v1/subjects")).status_code == 200
        assert (await client.get(f"{link.path}?{link.query}")).status_code == 401


def test_open_says_where_no_api_answers(chiron, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CHIRON_API_PORT", "1")
    outcome = chiron("open", "--print")
    assert outcome.exit_code == 1
    assert "No HTTP API answers at http://127.0.0.1:1" in outcome.stderr


async def test_without_a_key_open_needs_no_link(chiron, keyless_settings, monkeypatch: pytest.MonkeyPatch):
    async with api_client(keyless_settings) as client:
        monkeypatch.setenv("CHIRON_API_PORT", str(client.base_url.port))
        monkeypatch.setenv("CHIRON_API_WITHOUT_KEY", "true")
        outcome = await asyncio.to_thread(chiron, "open", "--print")
        assert outcome.stdout.strip() == f"{str(client.base_url).rstrip('/')}/"


@pytest.fixture
def keyless_settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"api_without_key": True})
