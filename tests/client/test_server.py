"""Which server a client talks to without being told, and which key it sends where."""

from pathlib import Path

import pytest

from chiron_api.client import Chiron, ChironError
from chiron_api.client.server import find_server
from chiron_api.local_stack.access import api_key
from chiron_api.local_stack.ports import web_address
from chiron_workers.settings import Settings

VARIABLES = ("CHIRON_API_URL", "CHIRON_API_KEY", "CHIRON_API_HOST", "CHIRON_API_PORT")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CHIRON_HOME", str(tmp_path))
    return tmp_path


def server(base_url: str | None = None, key: str | None = None):
    return find_server(base_url, key, patience_s=1)


def test_without_a_word_it_is_the_server_of_this_machine_with_the_key_of_its_home(home: Path):
    settings = Settings(_env_file=None, home=home)
    assert server().address == web_address(settings.api_host, settings.api_port)
    assert server().key == ""
    key = api_key(settings)
    assert server().key == key
    assert key not in repr(server())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "::1", "localhost", "127.0.0.1"])
def test_the_address_of_this_machine_is_the_one_that_the_settings_name(
    host: str, home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CHIRON_API_HOST", host)
    monkeypatch.setenv("CHIRON_API_PORT", "9000")
    assert server().address == web_address(host, 9000)
    assert server().is_local


def test_the_key_of_the_home_is_sent_to_no_other_machine(home: Path, monkeypatch: pytest.MonkeyPatch):
    api_key(Settings(_env_file=None, home=home))
    assert server("https://chiron.example.org/").key == ""
    assert server("http://localhost.example.org").key == ""
    monkeypatch.setenv("CHIRON_API_KEY", "mine")
    assert server("https://chiron.example.org/").key == "mine"
    assert server(key="other").key == "other"
    assert server(key="").key == ""


def test_the_environment_names_another_server(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CHIRON_API_URL", "https://chiron.example.org/behind/")
    assert server().address == "https://chiron.example.org/behind"
    assert server("http://127.0.0.1:1").address == "http://127.0.0.1:1"


def test_no_proxy_of_the_environment_is_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with Chiron("http://127.0.0.1:8700", "key") as chiron:
        assert not chiron._http._mounts


@pytest.mark.parametrize("address", ["localhost:8700", "ftp://example.org", "http://", "chiron"])
def test_what_is_no_address_is_refused_with_an_example(address: str):
    with pytest.raises(ChironError, match=r"It looks like http://127\.0\.0\.1:8700"):
        server(address)
