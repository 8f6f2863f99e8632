import asyncio
import hashlib
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import aiohttp
from pydantic import BaseModel, Field, ValidationError

from chiron_workers.embeddings.payments import UNPAID, Payment
from chiron_workers.embeddings.space import Space
from chiron_workers.errors import ChironError, ConfigurationError, ServiceUnavailable

BATCH_MAX = 32
TRIES = 4
TIMEOUT_S = 30.0
WAIT_S_MAX = 10.0
CONNECTIONS = 8
BODY_BYTES_MAX = 16_000_000
REASON_CHARS = 200
DIMENSIONS_MAX = 1024  # what the covering index of the store takes
GATEWAY_FAULTS = (502, 504, 520, 524)  # a gateway answers these for a provider that may be at work
# With one of these a request never left.
NEVER_SENT = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.InvalidURL)


@dataclass(frozen=True, slots=True)
class Provider:
    """What differs between hosted providers: where they are and what a request says."""

    name: str
    url: str
    body: Callable[[Sequence[str], str, int, bool], dict[str, Any]]


def _voyage_body(texts: Sequence[str], model: str, dimensions: int, query: bool) -> dict[str, Any]:
    kind = "query" if query else "document"
    return {"input": list(texts), "model": model, "input_type": kind, "output_dimension": dimensions}


def _openai_body(texts: Sequence[str], model: str, dimensions: int, query: bool) -> dict[str, Any]:
    return {"input": list(texts), "model": model, "dimensions": dimensions, "encoding_format": "float"}


PROVIDERS = {
    "voyage": Provider("voyage", "https://api.voyageai.com/v1", _voyage_body),
    "openai": Provider("openai", "https://api.openai.com/v1", _openai_body),
}


class _Vector(BaseModel):
    index: int
    embedding: list[Annotated[float, Field(allow_inf_nan=False)]]


class _Answer(BaseModel):
    data: list[_Vector]
    usage: Any = None

    @property
    def tokens(self) -> int | None:
        """What the provider counts; None where it does not say, or says no whole number."""
        count = self.usage.get("total_tokens") if isinstance(self.usage, dict) else None
        return count if type(count) is int and count >= 0 else None


class _Busy(Exception):  # a reason to wait, not an error yet
    def __init__(self, reason: str, retry_after: str = "", *, maybe_billed: bool = False) -> None:
        super().__init__(reason)
        self.wait_s = float(retry_after) if retry_after.isdecimal() else None
        self.maybe_billed = maybe_billed


class _TooLong(ChironError):
    """An answer that is not read to its end."""


class Hosted:
    """Embeddings of a provider on the network, Voyage or whoever speaks OpenAI's API.

    Texts go out in batches of 32; what is busy (429), broken (5xx) or cannot be reached is tried four times. The
    key goes into the header and nowhere else.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        url: str,
        model: str,
        key: str,
        dimensions: int,
        first_wait_s: float = 0.5,
    ) -> None:
        identity = hashlib.sha256(f"{provider.name}/{model}".encode()).hexdigest()
        self.space = Space(model, identity, dimensions)
        self._provider = provider
        self._url = (url or provider.url).rstrip("/") + "/embeddings"
        self._key = key
        self._first_wait_s = first_wait_s
        self._http: aiohttp.ClientSession | None = None
        self._names_dimensions = True

    async def embed(
        self, texts: Sequence[str], *, query: bool = False, payment: Payment = UNPAID
    ) -> list[list[float]]:
        """One unit vector for each text.

        Args:
            payment: Of at most `BATCH_MAX` texts, which go out as one call.

        Raises:
            ConfigurationError: The key is refused, or the vectors have other dimensions than the settings say.
            ServiceUnavailable: The provider did not answer in four tries.
            ChironError: It refuses the request, or what answers is no embedding service.
        """
        vectors: list[list[float]] = []
        for start in range(0, len(texts), BATCH_MAX):
            vectors += await self._batch(texts[start : start + BATCH_MAX], query, payment)
        return vectors

    async def close(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.close()
            self._http = None

    async def _batch(self, texts: Sequence[str], query: bool, payment: Payment) -> list[list[float]]:
        body = self._provider.body(texts, self.space.model, self.space.dimensions, query)
        tries = 0
        while True:  # ends: after TRIES
            await payment.reserve()
            try:
                answer = await self._ask(body)
            except _Busy as busy:
                await payment.fail(maybe_billed=busy.maybe_billed)
                tries += 1
                if tries == TRIES:
                    raise ServiceUnavailable(
                        f"{self._url} gave no embeddings in {TRIES} tries: {busy}"
                    ) from None
                wait_s = self._first_wait_s * 2 ** (tries - 1) * random.uniform(0.5, 1)  # noqa: S311
                await asyncio.sleep(min(busy.wait_s or wait_s, WAIT_S_MAX))
            except ChironError as error:
                await payment.fail(maybe_billed=isinstance(error, _TooLong))
                raise
            else:
                payment.count(answer.tokens)
                return self._units(answer, len(texts))

    async def _ask(self, body: dict[str, Any]) -> _Answer:
        if not self._names_dimensions:
            body.pop("dimensions", None)
        status, retry_after, answer = await self._post(body)
        if status == 200:
            return self._parse(answer)
        if status in (401, 403):
            raise ConfigurationError(
                f"{self._url} refused the key ({status}); set CHIRON_EMBEDDING_API_KEY to a valid one."
            )
        reason = answer[:REASON_CHARS].decode(errors="replace").strip()
        reason = f"{status} {reason.replace(self._key, '***') if self._key else reason}"
        if status in (408, 429) or status >= 500:
            raise _Busy(reason, retry_after, maybe_billed=status in GATEWAY_FAULTS)
        if "dimensions" in body and "dimensions" in reason:
            # A server whose model has one size refuses to be asked for any, its own included.
            self._names_dimensions = False
            return await self._ask(body)
        raise ChironError(f"{self._url} refused to embed with {self.space.model}: {reason}")

    async def _post(self, body: dict[str, Any]) -> tuple[int, str, bytes]:
        if self._http is None:
            self._http = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=TIMEOUT_S),
                connector=aiohttp.TCPConnector(limit=CONNECTIONS),
            )
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        try:
            async with self._http.post(
                self._url, json=body, headers=headers, allow_redirects=False
            ) as response:
                answer = bytearray()
                async for part in response.content.iter_chunked(1 << 16):
                    answer += part
                    if len(answer) > BODY_BYTES_MAX:
                        raise _TooLong(f"{self._url} answered with more than {BODY_BYTES_MAX} bytes.")
                return response.status, response.headers.get("Retry-After", ""), bytes(answer)
        except (TimeoutError, aiohttp.ClientError) as error:
            is_late = isinstance(error, TimeoutError)
            reason = f"no answer in {TIMEOUT_S:.0f} s" if is_late else type(error).__name__
            raise _Busy(reason, maybe_billed=not isinstance(error, NEVER_SENT)) from None

    def _parse(self, answer: bytes) -> _Answer:
        try:
            return _Answer.model_validate_json(answer)
        except ValidationError:
            raise ChironError(
                f"{self._url} answered without embeddings; is CHIRON_EMBEDDING_URL right?"
            ) from None

    def _units(self, answer: _Answer, count: int) -> list[list[float]]:
        vectors = {vector.index: vector.embedding for vector in answer.data}
        if sorted(vectors) != list(range(count)):
            raise ChironError(f"{self._url} answered {len(answer.data)} vectors for {count} texts.")
        return [self._unit(vectors[n]) for n in range(count)]

    def _unit(self, vector: list[float]) -> list[float]:
        expected_dimensions, actual_dimensions = self.space.dimensions, len(vector)
        if actual_dimensions != expected_dimensions:
            mend = (
                f"set CHIRON_EMBEDDING_DIMENSIONS={actual_dimensions}"
                if actual_dimensions <= DIMENSIONS_MAX
                else f"choose a model of at most {DIMENSIONS_MAX}"
            )
            raise ConfigurationError(
                f"{self.space.model} gives vectors of {actual_dimensions} dimensions, not {expected_dimensions}; {mend}."
            )
        length = math.hypot(*vector)
        if length == 0:
            raise ChironError(f"{self.space.model} gave a vector of zeros, which is near to nothing.")
        return [value / length for value in vector]
