"""The SDK as a transport: it finds credentials in its own files, and is what ours is compared with."""

import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, cast

import anthropic
import httpx2
from anthropic import AsyncAnthropic, AsyncStream, DefaultAioHttpClient

from chiron_workers.errors import RunFailed
from chiron_workers.model.failures import MEND_KEY, NEVER_SENT
from chiron_workers.model.faults import CannotCall, ConnectionBroken, StatusError, Unsendable
from chiron_workers.model.transport.direct import CONNECT_S, CONNECTIONS_SPARE
from chiron_workers.settings import Settings

# With one of these as its cause a request never left. httpx2's own ConnectError does not tell: the aiohttp
# transport also raises it when the server hangs up on a request that it has.
SDK_NEVER_SENT = (
    *NEVER_SENT,
    httpx2.ConnectTimeout,
    httpx2.LocalProtocolError,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
)


class SdkTransport:
    """Carries requests to one server through the SDK's client."""

    def __init__(self, settings: Settings, *, base_url: str | None, api_key: str | None) -> None:
        connections = settings.concurrency + CONNECTIONS_SPARE
        limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
        timeout = httpx2.Timeout(settings.model_timeout_s, connect=CONNECT_S)
        self._client = AsyncAnthropic(
            base_url=base_url,
            api_key=api_key,
            max_retries=0,  # retries.py decides
            timeout=timeout,
            http_client=DefaultAioHttpClient(limits=limits, timeout=timeout, follow_redirects=False),
        )

    @property
    def base_url(self) -> str:
        """Where the server is."""
        return str(self._client.base_url)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def post(self, path: str, body: Sequence[bytes]) -> "SdkAnswer":
        """Send a request, its body in parts, that is answered by a stream. Raises StatusError for a refusal."""
        with translated_errors():
            # What `messages.create` posts, with a body that is encoded already.
            raw = await self._client.post(
                path,
                content=b"".join(body),
                cast_to=httpx2.Response,
                stream=True,
                stream_cls=AsyncStream[object],
            )
        return SdkAnswer(cast(httpx2.Response, raw))  # what `cast_to` asks for, also of a stream

    async def get(self, path: str, *, timeout_s: float) -> Any:
        """The JSON at a path. Raises StatusError for a refusal, ValueError for what is no JSON."""
        with translated_errors():
            response = await self._client.get(path, cast_to=httpx2.Response, options={"timeout": timeout_s})
        return response.json()


class SdkAnswer:
    """A response whose body is read as it comes."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self._chunks: AsyncIterator[bytes] = response.aiter_bytes()

    @property
    def headers(self) -> Mapping[str, str]:
        """Its headers; names are found in whatever case."""
        return self._response.headers

    async def read(self) -> bytes:
        """The next bytes of the body, decoded; none at its end."""
        with translated_errors():
            return await anext(self._chunks, b"")

    async def close(self) -> None:
        """Give the connection back, or cut it off if the body has not ended."""
        with contextlib.suppress(httpx2.TransportError):
            await self._response.aclose()


@contextlib.contextmanager
def translated_errors() -> Iterator[None]:
    """Raise the errors of the SDK as our own."""
    try:
        yield
    except anthropic.APIStatusError as error:
        raise StatusError(error.status_code, error.response.headers, error.body) from error
    except (anthropic.APIConnectionError, httpx2.HTTPError) as error:
        if isinstance(error.__cause__, ValueError):
            raise Unsendable("The SDK cannot send the request.") from error
        raise ConnectionBroken(type(error).__name__, is_sent=not _was_never_sent(error)) from error
    except anthropic.APIResponseValidationError as error:
        raise ConnectionBroken(type(error).__name__, is_sent=True) from error
    except anthropic.AnthropicError as error:
        raise CannotCall(str(error)) from error
    except TypeError as error:  # how the SDK says that it has no key
        if "authentication" not in str(error):
            raise
        raise RunFailed("credentials", f"There is no key for the model. {MEND_KEY}") from None


def _was_never_sent(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, SDK_NEVER_SENT):
            return True
        error = error.__cause__
    return False
