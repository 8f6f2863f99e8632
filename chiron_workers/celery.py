"""The Celery app, so that `celery -A chiron_workers worker` works, and the messages that dispatch runs."""

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from amqp.exceptions import AMQPError
from celery import Celery
from kombu.exceptions import KombuError
from redis.exceptions import RedisError, ResponseError

from chiron_workers.errors import ConfigurationError, ServiceUnavailable
from chiron_workers.settings import Settings, settings

TASK = "chiron.run"
BATCH = 100  # messages of one pipelined publish
SHOWN_CHARS = 200  # of a topic or a subject in Flower's list


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A message to the workers: which run may start, and what Flower shows of it."""

    id: UUID
    role: str
    subject: str
    topic: str


def configuration(values: Settings) -> dict[str, Any]:
    """Celery's settings for runs of many hours.

    Messages are acknowledged early: with late acknowledgement Redis delivers a run again when it outlives the
    visibility timeout. What early acknowledgement loses, the lease and the rescue bring back.
    """
    return {
        "broker_url": values.broker,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        # A refusal (READONLY, MISCONF, OOM) passes as an outage does, and ends no worker.
        "broker_channel_error_retry": True,
        "broker_connection_timeout": 5,
        "broker_transport_options": transport_options(values.broker),
        "broker_use_ssl": tls_options(values.broker),
        "imports": ("chiron_workers.tasks",),
        "task_default_queue": "chiron",
        "task_acks_late": False,
        "task_ignore_result": True,
        "task_track_started": True,
        "task_send_sent_event": True,
        "task_serializer": "json",
        "accept_content": ["json"],
        "worker_send_task_events": True,
        "worker_pool": "threads",
        "worker_consumer": "chiron_workers.worker.consumer:Consumer",
        "worker_concurrency": values.concurrency,
        "worker_disable_prefetch": _is_redis(values.broker),
        "worker_prefetch_multiplier": 1,
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
    }


def _is_redis(broker: str) -> bool:
    return broker.startswith(("redis", "valkey"))


def transport_options(broker: str) -> dict[str, Any]:
    """Options of the broker's transport, which bound each of its waits."""
    if broker.startswith("amqp"):
        return {"write_timeout": 15}  # a broker that is short of memory reads nothing from those who publish
    if not _is_redis(broker):
        return {}
    # retry_on_timeout stays unset: with it, a batch is sent message by message.
    return {
        "visibility_timeout": 3600,
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
        "socket_keepalive": True,
        "socket_connect_timeout": 5,
        "socket_timeout": 15,
        "health_check_interval": 25,
    }


def tls_options(broker: str) -> dict[str, Any] | None:
    """How a broker behind TLS proves who it is; what the query of a rediss:// address says goes before.

    Without these, kombu takes any certificate for Redis, and one of any host for AMQP. Authorities are those of the machine,
    or of the file that SSL_CERT_FILE names.
    """
    if broker.startswith("rediss://"):
        return {"ssl_cert_reqs": ssl.CERT_REQUIRED, "ssl_check_hostname": True}
    if broker.startswith("amqps://"):
        return {"cert_reqs": ssl.CERT_REQUIRED, "server_hostname": urlsplit(broker).hostname}
    return None


def _defaults() -> dict[str, Any]:
    try:
        return configuration(settings())
    except ConfigurationError as error:  # `celery -A chiron_workers worker` would show a traceback
        raise SystemExit(f"chiron: {error}") from None


app = Celery("chiron")
app.add_defaults(_defaults)


def dispatch(runs: Sequence[QueuedRun]) -> None:
    """Tell the workers that these runs may start; a message may be lost or doubled without harm.

    Raises:
        ServiceUnavailable: The broker cannot be reached. The runs are safe: a worker dispatches them later.
    """
    require_broker()
    try:
        with app.producer_or_acquire() as producer, producer.batch(BATCH):
            for run in runs:
                _send(run, producer)
    except (KombuError, RedisError, AMQPError, OSError) as error:
        problem = (
            f"refuses ({error})"
            if isinstance(error, ResponseError)
            else f"cannot be reached ({type(error).__name__})"
        )
        raise ServiceUnavailable(
            f"The broker {problem}; the runs wait in Postgres until a worker rings them."
        ) from None


def require_broker() -> None:
    """Raises ConfigurationError where no broker is known, saying how to get one."""
    if not settings().broker:
        raise ConfigurationError(
            "No broker is known. Start the embedded services with `chiron up`, or set CHIRON_REDIS_URL."
        )


def _send(run: QueuedRun, producer: Any) -> None:
    app.send_task(
        TASK,
        kwargs={
            "role": run.role,
            "subject": run.subject[:SHOWN_CHARS],
            "topic": run.topic[:SHOWN_CHARS],
        },
        task_id=str(run.id),
        producer=producer,
        retry=False,
    )
