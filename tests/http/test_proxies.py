"""Client address and scheme behind a proxy: only trusted proxies can set them by headers."""

import logging
from collections.abc import Sequence

import httpx2
import pytest
from support.api_server import api_client

from chiron_api.http.guesses import GUESSES_MAX
from chiron_api.http.proxies import TrustedProxies
from chiron_api.local_stack.access import api_key
from chiron_workers.access.sessions import create_code
from chiron_workers.db.connect import Pool
from chiron_workers.settings import Settings, read_settings

LOCAL = "127.0.0.1"
CLIENT, OTHER_CLIENT = "203.0.113.7", "203.0.113.8"


@pytest.fixture
def behind_proxy(settings: Settings) -> Settings:
    return settings.model_copy(update={"trusted_proxies": ["127.0.0.0/8"]})


@pytest.mark.parametrize(
    ("peer", "headers", "client"),
    [
        (LOCAL, [], LOCAL),
        (LOCAL, [CLIENT], CLIENT),
        (LOCAL, [f"{OTHER_CLIENT}, {CLIENT}"], CLIENT),  # what the client has claimed stands before
        (LOCAL, [OTHER_CLIENT, CLIENT], CLIENT),
        (LOCAL, [f"{CLIENT}, 10.1.2.3"], CLIENT),
        (LOCAL, [f"{CLIENT}:4711"], CLIENT),
        (LOCAL, ["[2001:db8::1]:4711"], "2001:db8::1"),
        (LOCAL, ["2001:DB8:0::1"], "2001:db8::1"),
        (LOCAL, ["unknown"], LOCAL),
        (LOCAL, ["", " , ", "x" * 5_000], LOCAL),
        (LOCAL, ["10.1.2.3"], "10.1.2.3"),
        ("::ffff:10.1.2.3", [CLIENT], CLIENT),
        (LOCAL, [f"{CLIENT}, ::ffff:10.1.2.3"], CLIENT),
        (LOCAL, [f"::ffff:{CLIENT}"], CLIENT),
        ("192.0.2.1", [CLIENT], "192.0.2.1"),
        ("", [CLIENT], ""),
    ],
)
def test_trusted_proxies_name_the_last_untrusted_address_as_client(
    peer: str, headers: Sequence[str], client: str
):
    assert TrustedProxies.of(["127.0.0.1/32", "10.0.0.0/8"]).client(peer, headers) == client


def test_trusted_proxies_name_the_scheme():
    proxies = TrustedProxies.of(["10.0.0.0/8", "::1/128"])
    for peer, forwarded_proto, scheme in (
        ("10.0.0.1", " HTTPS ", "https"),
        ("::1", "https", "https"),
        ("10.0.0.1", "ftp", "http"),
        ("10.0.0.1", "https, http", "http"),
        (LOCAL, "https", "http"),
    ):
        assert proxies.scheme(peer, "http", forwarded_proto) == scheme


def test_setting_of_trusted_proxies_takes_addresses_and_networks_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv(
        "CHIRON_TRUSTED_PROXIES", "127.0.0.1, 10.1.2.3/8, ::1, ::ffff:192.0.2.1, ::ffff:172.16.0.0/108"
    )
    assert read_settings(_env_file=None).trusted_proxies == [
        "127.0.0.1/32",
        "10.0.0.0/8",
        "::1/128",
        "192.0.2.1/32",
        "172.16.0.0/12",
    ]
    monkeypatch.setenv("CHIRON_TRUSTED_PROXIES", "proxy.example")
    with pytest.raises(
        Exception, match=r"CHIRON_TRUSTED_PROXIES: .*proxy.example.* holds addresses and networks"
    ):
        read_settings(_env_file=None)


async def guess(client: httpx2.AsyncClient, forwarded_for: str) -> list[int]:
    """The statuses of wrong keys, each from another address as the header says, or from the same."""
    return [
        (
            await client.post(
                "/open",
                data={"key": f"wrong{n}"},
                headers={"Accept": "text/html", "X-Forwarded-For": forwarded_for.format(n)},
            )
        ).status_code
        for n in range(GUESSES_MAX + 1)
    ]


async def test_forwarded_headers_are_ignored_by_default(settings: Settings):
    async with api_client(settings) as client:
        assert await guess(client, "203.0.113.{}") == [401] * GUESSES_MAX + [429]


async def test_guesses_count_each_client_of_a_trusted_proxy_alone_and_none_can_choose_its_address(
    behind_proxy: Settings,
):
    async with api_client(behind_proxy) as client:
        assert await guess(client, f"198.51.100.{{}}, {CLIENT}") == [401] * GUESSES_MAX + [429]
        for address, status in ((CLIENT, 429), (OTHER_CLIENT, 200)):
            headers = {"X-Forwarded-For": address, "Authorization": f"Bearer {api_key(behind_proxy)}"}
            assert (await client.get("/v1/subjects", headers=headers)).status_code == status


async def test_sign_in_behind_a_trusted_tls_proxy_sets_a_secure_cookie(
    settings: Settings, behind_proxy: Settings
):
    for values, status in ((settings, 403), (behind_proxy, 303)):
        async with api_client(values) as client:
            answer = await client.post(
                "/open",
                data={"key": api_key(values)},
                headers={
                    "Host": "chiron.example",
                    "Origin": "https://chiron.example",
                    "X-Forwarded-Proto": "https",
                    "X-Forwarded-Host": "evil.example",
                },
            )
            assert answer.status_code == status
            assert ("secure" in answer.headers.get("set-cookie", "").lower()) == (values is behind_proxy)


async def test_access_log_names_the_client_of_a_trusted_proxy_and_no_code_or_query(
    behind_proxy: Settings, pool: Pool, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    codes = [await create_code(pool) for _ in range(5)]
    async with api_client(behind_proxy) as client:
        headers = {"X-Forwarded-For": CLIENT, "Referer": f"{client.base_url}/open?code={codes[0]}"}
        for method, address in (
            ("GET", f"/open?code={codes[0]}"),
            ("HEAD", f"/open?code={codes[1]}"),
            ("GET", f"/open?c%6fde={codes[2]}"),
            ("GET", f"/open%3Fcode={codes[3]}"),
            ("POST", f"/open?code={codes[4]}"),
            ("GET", f"/subjects?q={codes[4]}"),
        ):
            await client.request(method, address, headers=headers)
    lines = [
        record.getMessage() for record in caplog.records if not record.name.startswith("http")
    ]  # our client's
    assert f'{CLIENT}:0 - "GET /open?… HTTP/1.1" 200' in lines
    assert len([line for line in lines if line.startswith(CLIENT)]) == 6
    assert [code for code in codes if code in "\n".join(lines)] == []
