from pathlib import Path

import pytest

from chiron_workers import embedded
from chiron_workers.errors import ConfigurationError
from chiron_workers.settings import Settings, read_settings


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("CHIRON_LEASE_S", "soon", "CHIRON_LEASE_S: Input should be a valid number"),
        ("CHIRON_LEASE_S", "-1", "greater than 0"),
        ("CHIRON_API_PORT", "70000", "less than or equal to 65535"),
        ("CHIRON_EMBEDDING_PROVIDER", "word2vec", "'minilm', 'voyage' or 'openai'"),
        ("CHIRON_PRICES", "cheap", "CHIRON_PRICES: must be JSON"),
        ("CHIRON_PRICES", '{"m": {"input": "x"}}', "CHIRON_PRICES"),
    ],
)
def test_a_wrong_value_is_named_with_what_would_be_right(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=words):
        read_settings(_env_file=None)


def test_a_dotenv_file_sets_what_the_environment_does_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("CHIRON_MODEL=from-file\nCHIRON_MAX_TURNS=7\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHIRON_MODEL", "from-environment")
    found = read_settings()
    assert (found.model, found.max_turns) == ("from-environment", 7)


def test_embedded_addresses_fill_in_only_what_is_empty(tmp_path: Path) -> None:
    embedded.write_addresses(
        tmp_path, embedded.Addresses(database_url="postgresql://own", redis_url="redis://own")
    )
    found = embedded.fill_in(Settings(_env_file=None, home=tmp_path, redis_url="redis://theirs"))  # type: ignore[call-arg]
    assert (found.database_url, found.redis_url) == ("postgresql://own", "redis://theirs")
    assert found.broker == "redis://theirs"


def test_secrets_are_not_shown() -> None:
    found = Settings(_env_file=None, api_key="hush", flower_password="hush", embedding_api_key="hush")  # type: ignore[call-arg,arg-type]
    assert "hush" not in repr(found)
