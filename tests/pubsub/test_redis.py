"""Ways to Redis: TLS is used and checked, Sentinel is refused."""

import asyncio
import uuid
from collections.abc import Iterator
from contextlib import aclosing
from urllib.parse import urlsplit

import pytest
from redis.exceptions import RedisError
from support.certificates import Certificate, make_certificate
from support.proxy import threaded_proxy

from chiron_workers.celery import app, configuration
from chiron_workers.errors import ConfigurationError
from chiron_workers.pubsub.redis import redis_client
from chiron_workers.pubsub.signals import notify, signals
from chiron_workers.settings import Settings, read_settings


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def over_tls(valkey: str, certificate: Certificate) -> Iterator[str]:
    """Valkey behind TLS; the address does not say whom to trust."""
    port = urlsplit(valkey).port
    assert port is not None
    with threaded_proxy(port, certificate=certificate) as proxy:
        yield f"rediss://localhost:{proxy.port}/0"


async def test_signals_travel_over_tls(over_tls: str, certificate: Certificate) -> None:
    url, target = f"{over_tls}?ssl_ca_certs={certificate.file}", uuid.uuid4()
    async with aclosing(signals(url)) as listened, asyncio.timeout(60):
        following = asyncio.ensure_future(anext(listened))
        while not following.done():  # until the listener has subscribed
            await notify(url, target)
            await asyncio.wait({following}, timeout=0.1)
        assert following.result() == target


async def test_a_redis_that_does_not_prove_its_name_is_not_used(over_tls: str) -> None:
    async with redis_client(over_tls) as redis:
        with pytest.raises(RedisError, match="CERTIFICATE_VERIFY_FAILED"):
            await redis.ping()


def test_a_broker_over_tls_must_prove_its_name(
    over_tls: str, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(url: str) -> None:
        settings = Settings(_env_file=None, broker_url=url)  # type: ignore[call-arg]
        options = configuration(settings)
        with app.connection_for_write(url=url, ssl=options["broker_use_ssl"]) as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=5)
            connection.default_channel.client.ping()

    with pytest.raises(Exception, match="CERTIFICATE_VERIFY_FAILED"):
        connect(over_tls)
    connect(f"{over_tls}?ssl_ca_certs={certificate.file}")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.file))
    connect(over_tls)


@pytest.mark.parametrize("name", ["redis_url", "broker_url"])
def test_sentinel_is_refused_with_what_to_do_instead(name: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        read_settings(_env_file=None, **{name: "sentinel://:secret@one:26379;two:26379/0"})
    assert str(refusal.value).startswith(
        f"CHIRON_{name.upper()}: Redis Sentinel is not supported: give one address"
    )
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("url", ["amqps://:secret@one//;amqps://two//", "amqp://one//;amqps://:secret@two//"])
def test_a_list_of_brokers_over_tls_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"CHIRON_BROKER_URL: a list of brokers") as refusal:
        read_settings(_env_file=None, broker_url=url)
    assert "secret" not in str(refusal.value)
