import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import cast

import anthropic
import httpx2
import structlog
from anthropic import AsyncAnthropic, AsyncStream, DefaultAioHttpClient
from anthropic.types import ModelInfo

from chiron_workers.billing.tariffs import Tariff
from chiron_workers.errors import RunFailed
from chiron_workers.instruments import timed_model_call
from chiron_workers.model.admission import Admission
from chiron_workers.model.context_sizes import ContextSizes
from chiron_workers.model.descriptions import ModelDescriptions
from chiron_workers.model.failures import MEND_KEY, STREAM_FAULTS, Failure
from chiron_workers.model.rate_limits import Estimate
from chiron_workers.model.replies import reply_of
from chiron_workers.model.request import Request, body
from chiron_workers.model.responses import CALL_MAX_S, Responses
from chiron_workers.model.retries import BeforeTry, OnFailure, with_retries
from chiron_workers.model.stream import Accumulation, Wire
from chiron_workers.model.thinking import ThinkingParameters
from chiron_workers.runs.entries import Block, Reply
from chiron_workers.settings import Settings
from chiron_workers.states import ThinkingMode
from chiron_workers.telemetry import spans

log = structlog.get_logger()

TEXT_EVERY_S = 0.2  # text deltas are gathered, so that 200 runs do not publish every syllable
CONNECTIONS_SPARE = 20
DESCRIPTION_S = 10.0  # for what a server says of a model


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
        self._responses = Responses()
        descriptions = ModelDescriptions(self._fetch_description)
        self._contexts = ContextSizes(settings.context_tokens, descriptions)
        self._thinking = ThinkingParameters(descriptions)

    async def close(self) -> None:
        """Close the connections."""
        await self._responses.close()
        if self._client is not None:
            await self._client.close()

    async def reply(
        self,
        request: Request,
        *,
        on_text: Callable[[str], None],
        tariff: Tariff | None = None,
        before_try: BeforeTry | None = None,
        on_failure: OnFailure | None = None,
    ) -> Reply:
        """The model's next complete reply; `on_text` gets its words as they arrive.

        Args:
            tariff: What it costs; None: what the model costs today.
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
        with timed_model_call(request.model), spans.chat(*attributes, server=self._server) as span:
            tariff = tariff or Tariff.of_model(request.model, self._settings.prices)
            reply, tries = await self._reply_with_retries(request, on_text, tariff, before_try, on_failure)
            span.replied(reply, tries=tries)
        log.debug(
            "model.replied",
            model=reply.model,
            stop=reply.stop,
            input_tokens=reply.usage.input_tokens,
            cache_write_tokens=reply.usage.written_tokens,
            cache_read_tokens=reply.usage.cache_read_tokens,
            output_tokens=reply.usage.output_tokens,
            tries=tries,
            ms=round((time.monotonic() - began) * 1000),
        )
        return reply

    async def _reply_with_retries(
        self,
        request: Request,
        on_text: Callable[[str], None],
        tariff: Tariff,
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
        message, problem, request_id = await with_retries(
            call, tries=self._settings.model_tries, before_try=begin, on_failure=record
        )
        # From here on the reply is paid for: nothing may raise before it is committed.
        reply = reply_of(message, problem=problem, model=request.model, request_id=request_id, tariff=tariff)
        if reply.problem:
            log.warning("model.reply_malformed", model=reply.model, problem=reply.problem)
            estimate = None  # a limiter learns nothing from counts that cannot be
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

    async def thinking(self, model: str, mode: ThinkingMode, *, budget_tokens: int) -> Block | None:
        """What requests to a model say of thinking; None: nothing. `budget_tokens` is for the mode that needs one."""
        return await self._thinking.of(model, mode, budget_tokens=budget_tokens)

    async def _fetch_description(self, model: str) -> ModelInfo | None:
        try:
            return await self._open().models.retrieve(model, timeout=DESCRIPTION_S)
        except anthropic.APIStatusError as error:
            if error.status_code in (400, 404, 405):  # not every server of this API has the endpoint
                return None
            raise OSError(str(error)) from error
        except (anthropic.AnthropicError, *STREAM_FAULTS, TypeError) as error:
            raise OSError(str(error)) from error

    async def _stream(self, request: Request, on_text: Callable[[str], None]) -> tuple[Wire, str, str]:
        """A complete message, what is wrong with its stream, and the id of its request."""
        words, accumulation = _TextBatcher(on_text), Accumulation()
        async with asyncio.timeout(CALL_MAX_S):
            response = await self._post(request)
        await self._responses.read(response, accumulation, words.add)
        words.flush()
        message = accumulation.message()
        return message, accumulation.problem, response.headers.get("request-id", "")

    async def _post(self, request: Request) -> httpx2.Response:
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
        return cast(httpx2.Response, raw)  # what `cast_to` asks for, also of a stream

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
