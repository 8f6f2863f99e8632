import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from urllib.parse import quote

import structlog

from chiron_workers.billing.tariffs import Tariff
from chiron_workers.errors import RunFailed
from chiron_workers.instruments import timed_model_call
from chiron_workers.model.admission import Admission
from chiron_workers.model.bounds import ReplyBounds
from chiron_workers.model.context_sizes import ContextSizes
from chiron_workers.model.descriptions import Description, ModelDescriptions
from chiron_workers.model.failures import CALL_FAULTS, Failure
from chiron_workers.model.faults import StatusError
from chiron_workers.model.rate_limits import Estimate
from chiron_workers.model.replies import reply_of
from chiron_workers.model.request import Request, body_parts
from chiron_workers.model.responses import CALL_MAX_S, Responses
from chiron_workers.model.retries import BeforeTry, OnFailure, with_retries
from chiron_workers.model.stream import Accumulation, Wire
from chiron_workers.model.thinking import ThinkingParameters
from chiron_workers.model.transport import SEGMENT_CHARS, Transport, open_transport
from chiron_workers.model.words import Words
from chiron_workers.runs.entries import Block, Reply
from chiron_workers.settings import Settings
from chiron_workers.states import ThinkingMode
from chiron_workers.telemetry import spans

log = structlog.get_logger()

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
        self._transport: Transport | None = None
        self._responses = Responses(
            first_s=settings.model_timeout_s,
            idle_s=settings.model_idle_s,
            progress_s=settings.model_progress_s,
        )
        descriptions = ModelDescriptions(self._fetch_description)
        self._contexts = ContextSizes(settings.context_tokens, descriptions)
        self._thinking = ThinkingParameters(descriptions)

    async def close(self) -> None:
        """Close the connections."""
        await self._responses.close()
        if self._transport is not None:
            await self._transport.close()

    async def reply(
        self,
        request: Request,
        *,
        on_text: Callable[[str], None] | None,
        is_heard: Callable[[], bool] = lambda: True,
        tariff: Tariff | None = None,
        tokens_max: int | None = None,
        before_try: BeforeTry | None = None,
        on_failure: OnFailure | None = None,
    ) -> Reply:
        """The model's next complete reply; `on_text` gets its words as they arrive, None: nobody wants them.

        Args:
            is_heard: Whether somebody wants them at this moment.
            tariff: What it costs; None: what the model costs today.
            tokens_max: What it can take: more is not believed.
            before_try: Awaited before each try, when nothing but the model is left to wait for.
            on_failure: Awaited after each try that failed, or was not made after all.

        Raises:
            WindowExceeded: The request does not fit the model's context window.
            RunFailed: The call can never succeed as it stands.
            KeyRefused: The model's server refuses the key.
            ModelHeld: The model will not be there for a while, for nobody.
            ModelUnavailable: The model cannot answer now.
        """
        attributes = (request.model, request.max_tokens, request.system, request.messages)
        began = time.monotonic()
        with (
            timed_model_call(request.model),
            spans.chat(*attributes, history=request.history.count, server=self._server) as span,
        ):
            tariff = tariff or Tariff.of_model(request.model, self._settings.prices)
            words = None if on_text is None else Words(on_text, is_heard)
            reply, tries = await self._reply_with_retries(
                request, words, tariff, tokens_max, before_try, on_failure
            )
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
        words: Words | None,
        tariff: Tariff,
        tokens_max: int | None,
        before_try: BeforeTry | None,
        on_failure: OnFailure | None,
    ) -> tuple[Reply, int]:
        """The reply, and how many tries it took."""
        estimate: Estimate | None = None
        tries = 0
        began = begun_try = time.monotonic()

        async def begin() -> None:
            nonlocal estimate, tries, begun_try
            tries += 1
            while True:  # ends: a cool-down that goes on raises
                estimate = await self._admission.admit(request)
                if before_try is not None:
                    await before_try()
                if not self._admission.is_cooling(request.model):
                    begun_try = time.monotonic()
                    return
                await record(Failure("A cool-down began in the meantime."))

        async def record(failure: Failure) -> None:
            self._admission.record_failure(request.model, failure)
            if on_failure is not None:
                await on_failure(failure)

        call = partial(self._stream, request, words)
        message, problem, request_id = await with_retries(
            call, tries=self._settings.model_tries, before_try=begin, on_failure=record
        )
        # From here on the reply is paid for: nothing may raise before it is committed.
        reply = reply_of(message, problem=problem, model=request.model, request_id=request_id, tariff=tariff)
        if reply.problem:
            log.warning("model.reply_malformed", model=reply.model, problem=reply.problem)
        is_excessive = tokens_max is not None and reply.usage.tokens > tokens_max
        if reply.problem or reply.is_usage_unknown or is_excessive:
            estimate = None  # a limiter learns nothing from counts that cannot be
        self._admission.record_reply(request.model, estimate, reply.usage)
        return replace(reply, waited_ms=round((begun_try - began) * 1000)), tries

    def _server(self) -> str:
        return self._open().base_url

    def may_wait(self, model: str) -> bool:
        """Whether a call of a model may have to wait before it is made."""
        return self._admission.may_wait(model)

    async def context_tokens(self, model: str) -> int:
        """Tokens that a request to a model and its reply may have together."""
        return await self._contexts.of(model)

    async def tells_context(self, model: str) -> bool:
        """Whether the model's server says how large its window is."""
        return await self._contexts.told_by_server(model) is not None

    def shrink_context(self, model: str, tokens: int) -> None:
        """Assume at most so many tokens for a model's context window, since its server refused more."""
        self._contexts.shrink(model, tokens)

    async def thinking(self, model: str, mode: ThinkingMode, *, budget_tokens: int) -> Block | None:
        """What requests to a model say of thinking; None: nothing. `budget_tokens` is for the mode that needs one."""
        return await self._thinking.of(model, mode, budget_tokens=budget_tokens)

    async def _fetch_description(self, model: str) -> Description | None:
        path = f"/v1/models/{quote(model, safe=SEGMENT_CHARS)}"
        try:
            description = await self._open().get(path, timeout_s=DESCRIPTION_S)
        except StatusError as error:
            if error.status in (400, 404, 405):  # not every server of this API has the endpoint
                return None
            raise OSError(str(error)) from error
        except (RunFailed, *CALL_FAULTS) as error:
            raise OSError(str(error)) from error
        return description if isinstance(description, dict) else None

    async def _stream(self, request: Request, words: Words | None) -> tuple[Wire, str, str]:
        """A complete message, what is wrong with its stream, and the id of its request."""
        accumulation = Accumulation()
        async with asyncio.timeout(CALL_MAX_S):
            answer = await self._open().post(
                "/v1/messages", list(body_parts(request, ttl=self._settings.cache_ttl))
            )
        await self._responses.read(answer, accumulation, words, ReplyBounds.of(request.max_tokens))
        if words is not None:
            words.flush()
        message = accumulation.message()
        return message, accumulation.problem, answer.headers.get("request-id", "")

    def _open(self) -> Transport:
        if self._transport is None:
            self._transport = open_transport(self._settings, base_url=self._base_url, api_key=self._api_key)
        return self._transport
