"""Which providers are on, and what is said of those that are not."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.worker_processes import chiron

from chiron_workers.errors import ConfigurationError, ToolError
from chiron_workers.search_providers import providers, select_providers
from chiron_workers.search_providers.merge import search_all
from chiron_workers.search_providers.services import service_of
from chiron_workers.settings import Settings, read_settings
from chiron_workers.store import Store

OWN = """
from chiron_workers.errors import ToolError

async def search(store, *, query, subject_id, limit):
    if query == "nothing":
        raise KeyError("secret-of-the-intranet")
    return [{"url": "https://intranet.test/a", "title": query, "snippet": "", "score": 0.5, "source_type": "intranet"}]
"""


def on(search: str, **values: object) -> list[str]:
    return [
        provider.name for provider in select_providers(Settings(_env_file=None, search=search, **values))[0]
    ]  # type: ignore[call-arg]


def off(search: str, **values: object) -> dict[str, str]:
    return select_providers(Settings(_env_file=None, search=search, **values))[1]  # type: ignore[call-arg]


def test_by_default_those_are_asked_that_have_what_they_need() -> None:
    assert on("auto") == ["claude", "corpus"]
    assert on("auto", search_keys={"exa": "k"}, search_urls={"searxng": "http://localhost:1"}) == [
        "claude",
        "corpus",
        "exa",
        "searxng",
    ]
    assert on("auto", claude_search=False) == ["corpus"]
    assert on("corpus, duckduckgo") == ["corpus", "duckduckgo"]
    assert on("auto,duckduckgo,corpus") == ["claude", "corpus", "duckduckgo"]


def test_one_that_is_named_and_cannot_be_asked_says_why() -> None:
    assert off("auto") == {}
    assert off("brave,tavily,exa").keys() == {"brave", "tavily", "exa"}
    assert 'Put its key into CHIRON_SEARCH_KEYS, for example {"brave": "..."}' in off("brave")["brave"]
    assert "CHIRON_SEARCH_URLS" in off("searxng")["searxng"]
    assert "There are brave, claude, corpus" in off("gogle")["gogle"]


async def test_a_file_or_module_of_ones_own_is_a_provider_without_another_edit(
    store: Store, setting: Callable[[str, str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "intranet.py").write_text(OWN)
    (tmp_path / "intranet_as_module").mkdir()
    (tmp_path / "intranet_as_module" / "web.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    for name in (str(tmp_path / "intranet.py"), "intranet_as_module.web"):
        setting("SEARCH", name)
        [hit] = await search_all(store, query="tides", subject_id="physics", limit=5)
        assert (hit["url"], hit["title"]) == ("https://intranet.test/a", "tides")
        with pytest.raises(ToolError, match=f"{name} failed: KeyError.") as failure:
            await search_all(store, query="nothing", subject_id="physics", limit=5)
        assert "secret" not in str(failure.value)
    sys.modules.pop("intranet_as_module.web")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 / 0", "It cannot be loaded: ZeroDivisionError"),
        ("import sys; sys.exit(2)", "It cannot be loaded: SystemExit"),
        ("def search(:", "It cannot be loaded: SyntaxError"),
        ("x = 1", "It has no function `search`"),
        (None, "It cannot be loaded: FileNotFoundError"),
    ],
)
def test_a_broken_one_is_told_and_skipped(tmp_path: Path, text: str | None, words: str) -> None:
    file = tmp_path / f"broken{abs(hash(text))}.py"
    if text is not None:
        file.write_text(text)
    assert on(f"{file},corpus") == ["corpus"]
    assert words in off(f"{file},corpus")[str(file)]


def test_the_doctor_says_who_is_asked_and_what_is_missing(settings: Settings) -> None:
    process = chiron(
        settings,
        "doctor",
        CHIRON_MODEL="claude-opus-5-5",
        CHIRON_SEARCH="auto,brave",
        CHIRON_SEARCH_KEYS='{"exa": "k-e-y"}',
    ).stdout
    assert "Asked for sources: claude, corpus, exa." in process
    assert "brave is off. It has no key." in process
    assert "k-e-y" not in process


def test_a_key_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ('{"brave": ["k-e-y"]}', '"k-e-y"', "k-e-y"):
        monkeypatch.setenv("CHIRON_SEARCH_KEYS", value)
        with pytest.raises(ConfigurationError, match="CHIRON_SEARCH_KEYS") as failure:
            read_settings(_env_file=None)
        assert "k-e-y" not in str(failure.value)
    monkeypatch.setenv("CHIRON_SEARCH_KEYS", '{"brave": "k-e-y"}')
    assert "k-e-y" not in repr(read_settings(_env_file=None))


def test_hosted_providers_and_those_of_users_that_do_not_say_they_are_free_charge_for_a_call(
    tmp_path: Path,
) -> None:
    settings = Settings(_env_file=None, service_prices={"exa": 0.007})  # type: ignore[call-arg]
    assert {name for name, provider in providers().items() if service_of(provider, settings)} == {
        "brave",
        "tavily",
        "exa",
    }
    (tmp_path / "intranet.py").write_text(OWN)
    (tmp_path / "free.py").write_text(f"IS_FREE = True\n{OWN}")
    services = {}
    for name in ("intranet", "free"):
        [provider] = select_providers(
            Settings(_env_file=None, search=str(tmp_path / f"{name}.py"))  # type: ignore[call-arg]
        )[0]
        services[name] = service_of(provider, settings)
    assert services["free"] is None
    assert services["intranet"] is not None
    assert services["intranet"].is_unknown
