"""Whether a part answers, tested the way its users call it."""

import urllib.error
import urllib.request

import psycopg

from chiron_api.local_stack import postgres, valkey
from chiron_api.local_stack.home import Home
from chiron_api.local_stack.programs import Kind
from chiron_api.local_stack.supervision import Part
from chiron_workers.settings import Settings


def is_ready(part: Part, home: Home, settings: Settings) -> bool:
    """Whether a part does its work; `settings` name the services."""
    match part.kind:
        case Kind.POSTGRES:
            return _is_postgres_ready(home)
        case Kind.REDIS:
            return _is_valkey_ready(home)
        case Kind.WORKER:
            return part.address in ping_workers(settings.broker)
        case Kind.API | Kind.FLOWER:
            return answers_http(part)


def ping_workers(broker_url: str, *, timeout_s: float = 1, replies_max: int | None = None) -> list[str]:
    """The Celery names of the workers that answer a ping; returns as soon as `replies_max` of them did."""
    from celery import Celery

    from chiron_workers.celery import tls_options, transport_options

    # The project's app may be bound to another broker.
    with Celery("chiron-probe", broker=broker_url, set_as_current=False) as app:
        app.conf.broker_transport_options = transport_options(broker_url)
        app.conf.broker_use_ssl = tls_options(broker_url)
        replies = app.control.broadcast("ping", reply=True, timeout=timeout_s, limit=replies_max)
    return [name for reply in replies or [] for name in reply]


def _is_postgres_ready(home: Home) -> bool:
    try:
        postgres.create_database(home)
    except psycopg.OperationalError:
        return False
    return True


def _is_valkey_ready(home: Home) -> bool:
    import redis

    with redis.Redis.from_url(valkey.url(home), socket_timeout=2) as client:
        try:
            return bool(client.ping())
        except (redis.ConnectionError, redis.TimeoutError):
            return False


def answers_http(part: Part) -> bool:
    """Whether the API or Flower answers at its address."""
    return answers_health_check(part.kind, part.address)


def answers_health_check(kind: Kind, address: str) -> bool:
    """Whether the API or Flower answers at an address."""
    page = {Kind.API: "healthz", Kind.FLOWER: "healthcheck"}[kind]
    try:
        with urllib.request.urlopen(f"{address}/{page}", timeout=2) as reply:  # noqa: S310  # our own address
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False
