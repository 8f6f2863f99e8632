import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from decimal import Decimal
from functools import partial
from typing import cast

import anthropic
import httpx2
import structlog
from anthropic import AsyncAnthropic, AsyncStream, DefaultAioHttpClient

from chiron_workers.billing.prices import cost_usd
from chiron_workers.errors import RunFailed
from chiron_workers.model.admission import Admission
from chiron_workers.model.context_sizes import ContextSizes
from chiron_workers.model.failures import MEND_KEY, STREAM_FAULTS, Failure
from chiron_workers.model.rate_limits import Estimate
from chiron_workers.model.request import Request, body
from chiron_workers.model.retries import BeforeTry, OnFailure, with_retries
from chiron_workers.model.stream import Accumulation, Wire
from chiron_workers.runs.entries import Reply, Usage
from chiron_workers.settings import Settings
from chiron_workers.telemetry import spans

log = structlog.get_logger()

TEXT_EVERY_S = 0.2  # text deltas are gathered, so that 200 runs do not publish every syllable
CONNECTIONS_SPARE = 20
CONTEXT_S = 10.0  # for the size of a model's window
ERROR_CHARS = 1_000
CALL_MAX_S = 3600.0  # also for a stream that goes on sending pings


class Model:
    """The Messages API, one client for all runs of a worker.

    Args:
        admission: Admits the calls of all clients of this worker.
        base_url: Where the API is; None leaves it to ANTHROPIC_BASE_URL.
        api_key: None leaves it to the SDK's own variables.
    """

    def __init__(
        self,
        settings: Settings,
        admission: Admission,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
    ) -> None:
        self._settings = settings
        self._admission = admission
        self._base_url = base_url
        self._api_key = api_key
        self._client: AsyncAnthropic | None = None
        self._contexts = ContextSizes(settings.context_tokens, self._fetch_context_tokens)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()

    async def reply(
        self,
        request: Request,
        *,
        on_text: Callable[[str], None],
        before_try: BeforeTry | None = None,
        on_failure: OnFailure | None = None,
    ) -> Reply:
        """The model's next complete reply; `on_text` gets its words as they arrive.

        Args:
            before_try: Awaited before each try, when nothing but the model is left to wait for.
            on_failure: Awaited after each try that failed, or was not made after all.

        Raises:
            WindowExceeded: The request does not fit the model's context window.
            RunFailed: The call can never succeed as it stands.
            ModelHeld: The model will not be there for a while, for nobody.
            ModelUnavailable: The model cannot answer now.
        """
        attributes = (request.model, request.max_tokens, request.system, request.messages)
        began = time.monotonic()
        with spans.chat(*attributes, server=self._server) as span:
            reply, tries = await self._reply_with_retries(request, on_text, before_try, on_failure)
            span.replied(reply, tries=tries)
        log.debug(
            "model.replied",
            model=reply.model,
            stop=reply.stop,
            input_tokens=reply.usage.tokens - reply.usage.output_tokens,
            output_tokens=reply.usage.output_tokens,
            tries=tries,
            ms=round((time.monotonic() - began) * 1000),
        )
        return reply

    async def _reply_with_retries(
        self,
        request: Request,
        on_text: Callable[[str], None],
        before_try: BeforeTry | None,
        on_failure: OnFailure | None,
    ) -> tuple[Reply, int]:
        """The reply, and how many tries it took."""
        estimate: Estimate | None = None
        tries = 0

        async def begin() -> None:
            nonlocal estimate, tries
            tries += 1
            while True:  # ends: a cool-down that goes on raises
                estimate = await self._admission.admit(request)
                if before_try is not None:
                    await before_try()
                if not self._admission.is_cooling(request.model):
                    return
                await record(Failure("A cool-down began in the meantime."))

        async def record(failure: Failure) -> None:
            self._admission.record_failure(request.model, failure)
            if on_failure is not None:
                await on_failure(failure)

        call = partial(self._stream, request, on_text)
        reply = await with_retries(
            call, tries=self._settings.model_tries, before_try=begin, on_failure=record
        )
        self._admission.record_reply(request.model, estimate, reply.usage)
        return reply, tries

    def _server(self) -> str:
        return str(self._open().base_url)

    async def context_tokens(self, model: str) -> int:
        """Tokens that a request to a model and its reply may have together."""
        return await self._contexts.of(model)

    def shrink_context(self, model: str, tokens: int) -> None:
        """Assume at most so many tokens for a model's context window, since its server refused more."""
        self._contexts.shrink(model, tokens)

    async def _fetch_context_tokens(self, model: str) -> int | None:
        try:
            return (await self._open().models.retrieve(model, timeout=CONTEXT_S)).max_input_tokens
        except anthropic.APIStatusError as error:
            if error.status_code in (400, 404, 405):  # not every server of this API has the endpoint
                return None
            raise OSError(str(error)) from error
        except (anthropic.AnthropicError, *STREAM_FAULTS, TypeError) as error:
            raise OSError(str(error)) from error

    async def _stream(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        words, accumulation = _TextBatcher(on_text), Accumulation()
        async with asyncio.timeout(CALL_MAX_S), self._streaming(request) as response:
            async for event in AsyncStream.raw_events(response):
                if event.event == "error":
                    raise _stream_error(response, event.data)
                if event.data and event.event != "ping":
                    words.add(accumulation.add(event.json()))
        words.flush()
        return self._reply(request.model, accumulation.message(), response.headers.get("request-id", ""))

    @asynccontextmanager
    async def _streaming(self, request: Request) -> AsyncIterator[httpx2.Response]:
        try:
            # What `messages.create` posts, with a body that is encoded already.
            raw = await self._open().post(
                "/v1/messages",
                content=body(request, ttl=self._settings.cache_ttl),
                cast_to=httpx2.Response,
                stream=True,
                stream_cls=AsyncStream[object],
            )
        except TypeError as error:  # how the SDK says that it has no key
            if "authentication" not in str(error):
                raise
            raise RunFailed("credentials", f"There is no key for the model. {MEND_KEY}") from None
        response = cast(httpx2.Response, raw)  # what `cast_to` asks for, also of a stream
        try:
            yield response
        finally:
            await response.aclose()

    def _open(self) -> AsyncAnthropic:
        if self._client is None:
            connections = self._settings.concurrency + CONNECTIONS_SPARE
            limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
            timeout = httpx2.Timeout(self._settings.model_timeout_s, connect=10)
            self._client = AsyncAnthropic(
                base_url=self._base_url,
                api_key=self._api_key,
                max_retries=0,  # retries.py decides
                timeout=timeout,
                http_client=DefaultAioHttpClient(limits=limits, timeout=timeout),
            )
        return self._client

    def _reply(self, model: str, message: Wire, request_id: str) -> Reply:
        usage_json = message.get("usage") or {}
        cache_write_1h_tokens = (usage_json.get("cache_creation") or {}).get("ephemeral_1h_input_tokens") or 0
        usage = Usage(
            input_tokens=usage_json.get("input_tokens") or 0,
            output_tokens=usage_json.get("output_tokens") or 0,
            cache_write_tokens=(usage_json.get("cache_creation_input_tokens") or 0) - cache_write_1h_tokens,
            cache_write_1h_tokens=cache_write_1h_tokens,
            cache_read_tokens=usage_json.get("cache_read_input_tokens") or 0,
            web_searches=(usage_json.get("server_tool_use") or {}).get("web_search_requests") or 0,
        )
        answering_model = str(message.get("model") or model)
        return Reply(
            content=tuple(message["content"]),
            stop=str(message["stop_reason"]),
            usage=usage,
            cost_usd=self._cost_usd(model, answering_model, usage),
            model=answering_model,
            request_id=request_id,
        )

    def _cost_usd(self, model: str, answering_model: str, usage: Usage) -> Decimal | None:
        # A server may answer under a longer name than it was asked by.
        prices = self._settings.prices
        if model in prices:
            return cost_usd(model, usage, prices)
        cost = cost_usd(answering_model, usage, prices)
        return cost_usd(model, usage, prices) if cost is None else cost


def _stream_error(response: httpx2.Response, data: str) -> anthropic.APIStatusError:
    # With the status of the stream, as the SDK raises it: only its type says what it is.
    try:
        body = json.loads(data)
    except ValueError:
        body = data
    return anthropic.APIStatusError(str(body)[:ERROR_CHARS], response=response, body=body)


class _TextBatcher:
    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._parts: list[str] = []
        self._since = time.monotonic()

    def add(self, text: str) -> None:
        if text:
            self._parts.append(text)
        if time.monotonic() - self._since >= TEXT_EVERY_S:
            self.flush()

    def flush(self) -> None:
        if self._parts:
            self._on_text("".join(self._parts))
        self._parts.clear()
        self._since = time.monotonic()
