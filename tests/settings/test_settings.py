from pathlib import Path

import pytest

from chiron_workers.celery import app, configuration
from chiron_workers.db.connect import require_url
from chiron_workers.errors import ConfigurationError
from chiron_workers.settings import Settings, fill_in, local_services, read_settings


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("CHIRON_LEASE_S", "soon", "CHIRON_LEASE_S: must be a valid number"),
        ("CHIRON_LEASE_S", "1", "must be at least 2"),
        ("CHIRON_RENEWAL_S", "9", "CHIRON_RENEWAL_S must be at most a third of CHIRON_LEASE_S"),
        ("CHIRON_API_PORT", "70000", "must be at most 65535"),
        ("CHIRON_EMBEDDING_PROVIDER", "word2vec", "'minilm', 'voyage' or 'openai'"),
        ("CHIRON_PRICES", "cheap", "CHIRON_PRICES: must be JSON"),
        ("CHIRON_PRICES", '{"m": {"input": "x"}}', "CHIRON_PRICES"),
        (
            "CHIRON_PRICES",
            '{"m": {"input": 1, "outptu": 2}}',
            "m: a price has input and output, and may have cache_write",
        ),
        (
            "CHIRON_PRICES",
            '{"m": {"input": 1, "output": 2, "cashe_read": 0}}',
            "m: a price has input and output",
        ),
        ("CHIRON_PRICES", '{"m": {"input": -1, "output": 2}}', "m.*input.*at least 0"),
        ("CHIRON_PRICES", '{"m": {"input": NaN, "output": 2}}', "m.*input.*finite number"),
        ("CHIRON_PRICES", '{"m": "free"}', "m.*none"),
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
    local_services.write_addresses(
        tmp_path, local_services.Addresses(database_url="postgresql://own", redis_url="redis://own")
    )
    found = fill_in(Settings(_env_file=None, home=tmp_path, redis_url="redis://theirs"))  # type: ignore[call-arg]
    assert (found.database_url, found.redis_url) == ("postgresql://own", "redis://theirs")
    assert found.broker == "redis://theirs"


def test_secrets_are_not_shown() -> None:
    found = Settings(
        _env_file=None, api_key="hush, it is a secret", flower_password="hush", embedding_api_key="hush"
    )  # type: ignore[call-arg,arg-type]
    assert "hush" not in repr(found)


def test_an_address_that_cannot_be_read_is_named_without_its_password() -> None:
    for wrong in ("postgresql//chiron:s3cret@host/db", "postgresql://chiron:s3cr%tpw@host/db"):
        with pytest.raises(ConfigurationError, match="CHIRON_DATABASE_URL") as told:
            require_url(wrong)
        assert "s3cr" not in str(told.value)


def test_what_redis_needs_is_set_for_redis_and_for_no_other_broker() -> None:
    redis = configuration(Settings(_env_file=None, redis_url="redis://x"))  # type: ignore[call-arg]
    amqp = configuration(Settings(_env_file=None, redis_url="redis://x", broker_url="amqp://y"))  # type: ignore[call-arg]
    assert redis["broker_transport_options"]["socket_keepalive"]
    assert (redis["worker_disable_prefetch"], amqp["worker_disable_prefetch"]) == (True, False)
    assert amqp["broker_transport_options"] == {"write_timeout": 15}
    assert set(redis) <= set(app.conf)


def test_an_empty_home_is_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHIRON_HOME", raising=False)
    usual = read_settings(_env_file=None).home
    monkeypatch.setenv("CHIRON_HOME", "")
    assert read_settings(_env_file=None).home == usual != Path.cwd()
