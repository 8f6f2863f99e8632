"""A hosted embedding model whose calls somebody pays for."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chiron_workers.billing.services import Meter, Service, embedding_service
from chiron_workers.embeddings import Embedder, Payment, Space
from chiron_workers.settings import Settings

if TYPE_CHECKING:
    from chiron_workers.embeddings.hosted import Hosted

FRAME_TOKENS = 32  # that a provider adds to a text, such as its own words about queries


@dataclass(frozen=True, slots=True)
class MeteredEmbedder:
    """Embeds as the hosted model does, in calls that a meter has paid for."""

    embedder: "Hosted"
    service: Service
    meter: Meter

    @property
    def space(self) -> Space:
        """That of the hosted model."""
        return self.embedder.space

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """One unit vector for each text. Raises what the meter and the hosted model raise."""
        from chiron_workers.embeddings.hosted import BATCH_MAX

        vectors: list[list[float]] = []
        for start in range(0, len(texts), BATCH_MAX):
            vectors += await self._batch(texts[start : start + BATCH_MAX], query=query)
        return vectors

    async def close(self) -> None:
        """Nothing to let go of: the hosted model belongs to its process."""

    async def _batch(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        async def call(payment: Payment) -> list[list[float]]:
            return await self.embedder.embed(texts, query=query, payment=payment)

        # A token has at least one byte.
        tokens_max = sum(len(text.encode()) + FRAME_TOKENS for text in texts)
        question = json.dumps([query, *texts])
        vectors: list[list[float]] = await self.meter.ask(self.service, question, call, tokens_max=tokens_max)
        return vectors


def metered(embedder: Embedder, settings: Settings, meter: Meter) -> Embedder:
    """The embedder with calls that a meter has paid for; itself where it costs nothing."""
    service = embedding_service(settings)
    if service is None or service.is_free:
        return embedder
    from chiron_workers.embeddings.hosted import Hosted

    return MeteredEmbedder(embedder, service, meter) if isinstance(embedder, Hosted) else embedder
