from pathlib import Path

import pytest
from pydantic import SecretStr

from chiron_workers.settings import Settings


@pytest.fixture
def keyed(settings: Settings) -> Settings:
    return settings.model_copy(update={"api_key": SecretStr("a long key of this test")})


async def test_a_key_is_asked_for_everywhere_but_at_the_health_checks(keyed: Settings, serving):
    async with serving(keyed) as client:
        for headers in (
            {},
            {"Authorization": "Bearer another"},
            {"Authorization": "Basic a long key of this test"},
        ):
            answer = await client.get("/v1/subjects", headers=headers)
            assert answer.status_code == 401
            assert answer.headers["WWW-Authenticate"] == "Bearer"
            assert "a long key of this test" not in answer.text
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.get("/readyz")).status_code == 200


async def test_the_key_opens_and_a_name_of_any_kind_may_then_be_used(keyed: Settings, serving):
    headers = {"Authorization": "Bearer a long key of this test", "Host": "chiron.example"}
    async with serving(keyed) as client:
        assert (await client.get("/v1/subjects", headers=headers)).status_code == 200


async def test_a_server_that_nobody_configured_asks_for_the_key_that_its_home_keeps(
    settings: Settings, serving
):
    async with serving(settings) as client:
        assert (await client.get("/v1/subjects")).status_code == 401
        assert (await client.post("/v1/tools/list_subjects", json={})).status_code == 401
        key = (settings.home / "api.key").read_text().strip()
        headers = {"Authorization": f"Bearer {key}"}
        assert (await client.get("/v1/subjects", headers=headers)).status_code == 200


async def test_without_a_key_a_foreign_host_name_is_refused(keyless: Settings, serving):
    async with serving(keyless) as client:
        for host in ["evil.example", "127.0.0.1.evil.example", "evil.example:8700", "169.254.169.254"]:
            assert (await client.get("/v1/subjects", headers={"Host": host})).status_code == 421


async def test_without_a_key_this_machines_names_are_taken(keyless: Settings, serving):
    async with serving(keyless) as client:
        for host in ["localhost", "localhost:8700", "[::1]:8700", "127.0.0.1"]:
            assert (await client.get("/v1/subjects", headers={"Host": host})).status_code == 200


async def test_without_a_key_an_origin_is_compared_by_scheme_host_and_port(keyless: Settings, serving):
    async with serving(keyless) as client:
        own = str(client.base_url).rstrip("/")
        secure, other_port = own.replace("http:", "https:"), own.rpartition(":")[0] + ":1"
        other_name = own.replace("127.0.0.1", "localhost")
        foreign = [
            "https://evil.example",
            "null",
            "",
            secure,
            other_port,
            other_name,
            f"{own}.evil.example",
            f"{own}/",
        ]
        for origin in foreign:
            answer = await client.post("/v1/tools/list_subjects", json={}, headers={"Origin": origin})
            assert answer.status_code == 403, origin
        answer = await client.post("/v1/tools/list_subjects", json={}, headers={"Origin": own})
        assert answer.status_code == 200


async def test_without_a_key_every_origin_header_is_looked_at(keyless: Settings, serving):
    async with serving(keyless) as client:
        own, foreign = ("Origin", str(client.base_url).rstrip("/")), ("Origin", "https://evil.example")
        for headers, status in (([own, foreign], 403), ([foreign, own], 403), ([own, own], 200)):
            answer = await client.get("/v1/subjects", headers=headers)
            assert answer.status_code == status


def test_secrets_never_reach_the_log(tmp_path: Path):
    text = repr(Settings(_env_file=None, home=tmp_path, api_key=SecretStr("hidden from everybody")))  # type: ignore[call-arg]
    assert "hidden" not in text
