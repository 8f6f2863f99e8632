import asyncio
from collections.abc import Iterable

from redis.asyncio import Redis
from redis.asyncio.connection import (
    AbstractConnection,
    Connection,
    SSLConnection,
    UnixDomainSocketConnection,
)
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, BusyLoadingError, RedisError, ResponseError
from redis.exceptions import ConnectionError as RedisConnectionError

from chiron_workers.errors import ConfigurationError

WRITTEN_KEY = "chiron:written"  # written to find out whether Redis accepts writes
WRITTEN_FOR_S = 60
CONNECT_S = 2.0
ANSWER_S = 5.0


class _Writes(AbstractConnection):
    """A connection whose broken transport is a ConnectionError on each event loop.

    redis-py converts the OSError with which asyncio refuses to write. uvloop refuses with a RuntimeError.
    """

    async def send_packed_command(
        self, command: bytes | str | Iterable[bytes], check_health: bool = True
    ) -> None:
        try:
            await super().send_packed_command(command, check_health)
        except RuntimeError as error:
            raise RedisConnectionError(f"Error while writing to socket. {error}") from error


class _TcpConnection(_Writes, Connection):
    pass


class _TlsConnection(_Writes, SSLConnection):
    pass


class _UnixConnection(_Writes, UnixDomainSocketConnection):
    pass


CONNECTIONS: dict[type[AbstractConnection], type[AbstractConnection]] = {
    Connection: _TcpConnection,
    SSLConnection: _TlsConnection,
    UnixDomainSocketConnection: _UnixConnection,
}


def redis_client(redis_url: str) -> Redis:
    """A client that waits seconds at most and tries nothing again by itself. Raises ConfigurationError for a wrong URL."""
    try:
        client = Redis.from_url(
            redis_url,
            retry=Retry(NoBackoff(), 0),  # The loops that publish and listen wait and try again.
            socket_connect_timeout=CONNECT_S,
            socket_timeout=ANSWER_S,
            health_check_interval=20,
        )
    except ValueError as error:
        raise ConfigurationError(f"CHIRON_REDIS_URL cannot be used: {error}") from None
    pool = client.connection_pool
    pool.connection_class = CONNECTIONS[pool.connection_class]
    return client


async def write_refusal(redis: Redis) -> str:
    """Why Redis takes no writes now, as a sentence; empty where it takes them."""
    try:
        await redis.set(WRITTEN_KEY, 1, ex=WRITTEN_FOR_S)
    except (ResponseError, AuthenticationError, BusyLoadingError) as error:
        return f"Redis refuses writes ({str(error).strip().rstrip('.')})."
    except (RedisError, OSError):
        return "Redis does not answer."
    except Exception as error:  # noqa: BLE001  # whatever redis-py makes of a garbled reply
        return f"Redis gives no valid answers ({type(error).__name__})."
    return ""


def leave_if_cancelled() -> None:
    """Raise the cancellation of this task that redis-py 8.1 swallows where it meets it while connecting."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
