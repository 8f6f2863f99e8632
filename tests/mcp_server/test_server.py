import httpx2
import pytest
from mcp_server.conftest import KEY, Serving
from support.worker_processes import chiron

from chiron_workers.settings import Settings

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": VERSION,
    "Mcp-Method": "tools/list",
}


@pytest.fixture(scope="module")
def http():
    with httpx2.Client(headers=HEADERS, timeout=60, trust_env=False) as client:
        yield client


def test_without_a_key_only_programs_of_this_machine_come_in(serving: Serving, http: httpx2.Client):
    with serving() as url:
        assert http.post(url, json=LIST).status_code == 200
        for host in ("evil.example", "127.0.0.1.evil.example", "169.254.169.254"):
            assert http.post(url, json=LIST, headers={"Host": host}).status_code == 421
        for origin in ("https://evil.example", "null"):
            assert http.post(url, json=LIST, headers={"Origin": origin}).status_code == 403
        own = url.removesuffix("/mcp")
        assert http.post(url, json=LIST, headers={"Origin": f"{own}1"}).status_code == 403
        assert http.post(url, json=LIST, headers={"Origin": own}).status_code == 200


def test_mcp_over_http_asks_for_the_key_that_the_home_keeps(
    serving: Serving, settings: Settings, http: httpx2.Client
):
    with serving(CHIRON_API_WITHOUT_KEY="false") as url:
        assert http.post(url, json=LIST).status_code == 401
        key = chiron(settings, "key").stdout.strip()
        assert key == (settings.home / "api.key").read_text().strip()
        assert http.post(url, json=LIST, headers={"Authorization": f"Bearer {key}"}).status_code == 200


def test_with_a_key_nobody_comes_in_without_it(serving: Serving, http: httpx2.Client):
    with serving(CHIRON_API_KEY=KEY) as url:
        for authorization in ("", "Bearer another", f"Basic {KEY}"):
            answer = http.post(url, json=LIST, headers={"Authorization": authorization})
            assert answer.status_code == 401
            assert answer.headers["WWW-Authenticate"] == "Bearer"
            assert KEY not in answer.text
        assert http.post(url, json=LIST, headers={"Authorization": f"Bearer {KEY}"}).status_code == 200
        own = {"Authorization": f"Bearer {KEY}", "Host": "evil.example"}
        assert http.post(url, json=LIST, headers=own).status_code == 421


def test_wrong_keys_over_mcp_are_counted_by_the_address_that_a_trusted_proxy_names(
    serving: Serving, http: httpx2.Client
):
    with serving(CHIRON_API_KEY=KEY, CHIRON_TRUSTED_PROXIES="127.0.0.1") as url:

        def status(key: str, address: str) -> int:
            headers = {"Authorization": f"Bearer {key}", "X-Forwarded-For": address}
            return http.post(url, json=LIST, headers=headers).status_code

        assert [status(f"wrong{n}", "203.0.113.7") for n in range(11)] == [401] * 10 + [429]
        assert [status(KEY, address) for address in ("203.0.113.7", "203.0.113.8")] == [429, 200]


def test_a_body_that_is_too_large_is_refused(serving: Serving, http: httpx2.Client):
    with serving() as url:
        body = LIST | {"padding": "x" * 5_000_000}
        assert http.post(url, json=body).status_code == 413
        assert http.post(url, content=b"{" * 1_000).status_code == 400
        assert http.post(url, json=LIST).status_code == 200


def test_listening_beyond_this_machine_needs_a_key(settings: Settings):
    done = chiron(settings, "mcp", "--http", "0", "--host", "0.0.0.0", CHIRON_API_WITHOUT_KEY="true")
    assert done.returncode == 2
    assert "CHIRON_API_WITHOUT_KEY" in done.stderr
    assert "Traceback" not in done.stderr
