import asyncio

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, BusyLoadingError, RedisError, ResponseError

from chiron_workers.errors import ConfigurationError

WRITTEN_KEY = "chiron:written"  # written to find out whether Redis accepts writes
WRITTEN_FOR_S = 60
CONNECT_S = 2.0
ANSWER_S = 5.0


def redis_client(redis_url: str) -> Redis:
    """A client that waits seconds at most and tries nothing again by itself. Raises ConfigurationError for a wrong URL."""
    try:
        return Redis.from_url(
            redis_url,
            retry=Retry(NoBackoff(), 0),  # The loops that publish and listen wait and try again.
            socket_connect_timeout=CONNECT_S,
            socket_timeout=ANSWER_S,
            health_check_interval=20,
        )
    except ValueError as error:
        raise ConfigurationError(f"CHIRON_REDIS_URL cannot be used: {error}") from None


async def write_refusal(redis: Redis) -> str:
    """Why Redis takes no writes now, as a sentence; empty where it takes them."""
    try:
        await redis.set(WRITTEN_KEY, 1, ex=WRITTEN_FOR_S)
    except (ResponseError, AuthenticationError, BusyLoadingError) as error:
        return f"Redis refuses writes ({str(error).strip().rstrip('.')})."
    except (RedisError, OSError):
        return "Redis does not answer."
    return ""


def leave_if_cancelled() -> None:
    """Raise the cancellation of this task that redis-py 8.1 swallows where it meets it while connecting."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
