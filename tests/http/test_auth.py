from pathlib import Path

import httpx2
import pytest
from pydantic import SecretStr

from chiron_api.http.auth import refuse_open_access
from chiron_workers.errors import ConfigurationError
from chiron_workers.settings import Settings


@pytest.fixture
def keyed(settings: Settings) -> Settings:
    return settings.model_copy(update={"api_key": SecretStr("a key of this test")})


def test_listening_beyond_this_machine_needs_a_key(settings: Settings):
    for host in ("0.0.0.0", "::", "192.0.2.7", "chiron.example"):
        with pytest.raises(ConfigurationError, match="CHIRON_API_KEY"):
            refuse_open_access(settings.model_copy(update={"api_host": host}))


def test_loopback_and_a_key_may_listen(settings: Settings, keyed: Settings):
    for host in ("127.0.0.1", "::1", "localhost"):
        refuse_open_access(settings.model_copy(update={"api_host": host}))
    refuse_open_access(keyed.model_copy(update={"api_host": "0.0.0.0"}))


async def test_a_key_is_asked_for_everywhere_but_at_the_health_checks(keyed: Settings, serving):
    async with serving(keyed) as client:
        for headers in (
            {},
            {"Authorization": "Bearer another"},
            {"Authorization": "Basic a key of this test"},
        ):
            answer = await client.get("/v1/subjects", headers=headers)
            assert answer.status_code == 401
            assert answer.headers["WWW-Authenticate"] == "Bearer"
            assert "a key of this test" not in answer.text
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.get("/readyz")).status_code == 200


async def test_the_key_opens_and_a_name_of_any_kind_may_then_be_used(keyed: Settings, serving):
    headers = {"Authorization": "Bearer a key of this test", "Host": "chiron.example"}
    async with serving(keyed) as client:
        assert (await client.get("/v1/subjects", headers=headers)).status_code == 200


async def test_without_a_key_a_foreign_host_name_is_refused(client: httpx2.AsyncClient):
    for host in ["evil.example", "127.0.0.1.evil.example", "evil.example:8700", "169.254.169.254"]:
        assert (await client.get("/v1/subjects", headers={"Host": host})).status_code == 421


async def test_without_a_key_this_machines_names_are_taken(client: httpx2.AsyncClient):
    for host in ["localhost", "localhost:8700", "[::1]:8700", "127.0.0.1"]:
        assert (await client.get("/v1/subjects", headers={"Host": host})).status_code == 200


async def test_without_a_key_a_web_page_cannot_send(client: httpx2.AsyncClient):
    page = {"Origin": "https://evil.example"}
    assert (await client.post("/v1/tools/list_subjects", json={}, headers=page)).status_code == 403
    assert (
        await client.post("/v1/tools/list_subjects", json={}, headers={"Origin": "null"})
    ).status_code == 403
    own = {"Origin": "http://localhost:8700"}
    assert (await client.post("/v1/tools/list_subjects", json={}, headers=own)).status_code == 200


def test_secrets_never_reach_the_log(tmp_path: Path):
    text = repr(Settings(_env_file=None, home=tmp_path, api_key=SecretStr("hidden")))  # type: ignore[call-arg]
    assert "hidden" not in text
