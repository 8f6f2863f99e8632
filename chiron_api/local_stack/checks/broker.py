"""Redis, the broker, and the workers behind it."""

from urllib.parse import urlsplit

import redis
from kombu.exceptions import KombuError
from redis.exceptions import BusyLoadingError

from chiron_api.local_stack.checks import Check
from chiron_api.local_stack.readiness import ping_workers
from chiron_workers.pubsub.redis import WRITTEN_FOR_S, WRITTEN_KEY
from chiron_workers.settings import Settings

ORDER = 30
PING_WITHIN_S = 2
UNWRITABLE_ADVICE = (
    "Have it take writes: name the primary in CHIRON_REDIS_URL (READONLY), free its disk (MISCONF) or memory (OOM), "
    "or wait until it has loaded (LOADING). Runs under way go on."
)
REFUSED_ADVICE = "Correct the password in CHIRON_REDIS_URL: redis://:PASSWORD@HOST:6379/0."


def checks(settings: Settings) -> list[Check]:
    """What Redis, the broker and the workers say; workers are asked only where a broker answers."""
    results = [_redis(settings)]
    if settings.broker_url:
        results.append(_broker(settings))
    if all(check.ok for check in results):
        results.append(_workers(ping_workers(settings.broker, timeout_s=PING_WITHIN_S)))
    return results


def _redis(settings: Settings) -> Check:
    url = settings.redis_url
    if not url:
        advice = "Start the own one with `chiron up`, or set CHIRON_REDIS_URL."
        return Check("redis", "No Redis is known.", advice)
    where = f"Redis at {_where(url)}"
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=3, socket_timeout=3) as client:
            client.ping()
            client.set(WRITTEN_KEY, 1, ex=WRITTEN_FOR_S)
    except redis.AuthenticationError:
        return Check("redis", f"{where} refuses the password.", REFUSED_ADVICE)
    except (redis.ResponseError, BusyLoadingError) as error:
        is_password = "AUTH" in str(error).upper()
        return Check(
            "redis",
            f"{where} refuses: {str(error).strip().rstrip('.')}.",
            REFUSED_ADVICE if is_password else UNWRITABLE_ADVICE,
        )
    except (redis.ConnectionError, redis.TimeoutError):
        advice = "Start it (`chiron up` for the own one), or correct host and port in CHIRON_REDIS_URL."
        return Check("redis", f"{where} cannot be reached.", advice)
    except ValueError:
        return Check(
            "redis", "CHIRON_REDIS_URL is no Redis URL.", "Write it as redis://:PASSWORD@HOST:6379/0."
        )
    return Check("redis", f"{where} answers.")


def _broker(settings: Settings) -> Check:
    where = f"The broker at {_where(settings.broker)}"
    advice = "Start it, or correct CHIRON_BROKER_URL (user, password, host, port)."
    from chiron_workers.celery import app

    try:
        with app.connection_for_write(url=settings.broker) as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=5)
    except (KombuError, OSError, KeyError) as error:
        return Check("broker", f"{where} cannot be used ({type(error).__name__}).", advice)
    return Check("broker", f"{where} answers.")


def _workers(names: list[str]) -> Check:
    if names:
        return Check("workers", f"{len(names)} alive: {', '.join(sorted(names))}.")
    return Check(
        "workers", "No worker is alive.", "Start workers with `chiron up`, or one with `chiron worker`."
    )


def _where(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname or 'localhost'}{f':{parts.port}' if parts.port else ''}"
