"""Whether a part answers, asked the way its users ask it."""

import urllib.error
import urllib.request

import psycopg

from chiron_api.local_stack import postgres, valkey
from chiron_api.local_stack.home import Home
from chiron_api.local_stack.programs import Kind
from chiron_workers.settings import Settings


def answers(kind: Kind, *, home: Home, address: str, worker: str, settings: Settings) -> bool:
    """Whether the part of this kind does its work.

    Args:
        address: Where the API or Flower listens.
        worker: The worker's name in Celery.
        settings: With the URLs of the services filled in.
    """
    match kind:
        case Kind.POSTGRES:
            return _postgres(home)
        case Kind.REDIS:
            return _valkey(home)
        case Kind.WORKER:
            return worker in workers_that_answer(settings.broker)
        case Kind.API | Kind.FLOWER:
            return web_answers(kind, address)


def workers_that_answer(broker_url: str, *, timeout_s: float = 1, expected: int | None = None) -> list[str]:
    """The Celery names of the workers that answer a ping; with `expected`, returns as soon as so many did."""
    from celery import Celery

    from chiron_workers.celery import transport_options

    # An app of its own: the project's app may be bound to another broker than the one asked about here.
    with Celery("chiron-probe", broker=broker_url, set_as_current=False) as app:
        app.conf.broker_transport_options = transport_options(broker_url)
        replies = app.control.broadcast("ping", reply=True, timeout=timeout_s, limit=expected)
    return [name for reply in replies or [] for name in reply]


def _postgres(home: Home) -> bool:
    try:
        postgres.create_database(home)
    except psycopg.OperationalError:
        return False
    return True


def _valkey(home: Home) -> bool:
    import redis

    with redis.Redis.from_url(valkey.url(home), socket_timeout=2) as client:
        try:
            return bool(client.ping())
        except (redis.ConnectionError, redis.TimeoutError):
            return False


def web_answers(kind: Kind, address: str) -> bool:
    """Whether the API or Flower answers at its address."""
    page = {Kind.API: "healthz", Kind.FLOWER: "healthcheck"}[kind]
    try:
        with urllib.request.urlopen(f"{address}/{page}", timeout=2) as reply:  # noqa: S310  # our own address
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False
