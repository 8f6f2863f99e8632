import re
from collections.abc import Sequence
from typing import Protocol

from chiron_workers.embeddings.space import Space
from chiron_workers.errors import ConfigurationError
from chiron_workers.settings import Settings

URL = re.compile(r"https?://[^\s/@?#]+(/[^\s?#]*)?")


class Embedder(Protocol):
    """Turns texts into unit vectors of one space, without holding up the event loop."""

    @property
    def space(self) -> Space:
        """The space of every vector this embedder makes."""

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        """One vector of `space.dimensions` floats for each text, length 1. `query` for what is searched with."""

    async def close(self) -> None:
        """Let go of threads and connections."""


def open_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name.

    Raises:
        ConfigurationError: A hosted provider lacks its model or its key, or its URL is none.
    """
    # Imported here: most processes use one of them, and some none.
    if settings.embedding_provider == "minilm":
        from chiron_workers.embeddings.minilm import MiniLM

        return MiniLM()
    from chiron_workers.embeddings.hosted import PROVIDERS, Hosted

    provider = PROVIDERS[settings.embedding_provider]
    key = settings.embedding_api_key.get_secret_value()
    if not settings.embedding_model:
        raise ConfigurationError(
            f"CHIRON_EMBEDDING_PROVIDER={provider.name} needs CHIRON_EMBEDDING_MODEL, the model's name there."
        )
    if not key and not settings.embedding_url:  # a server of one's own may do without
        raise ConfigurationError(f"CHIRON_EMBEDDING_PROVIDER={provider.name} needs CHIRON_EMBEDDING_API_KEY.")
    if settings.embedding_url and not URL.fullmatch(settings.embedding_url):
        raise ConfigurationError(
            "CHIRON_EMBEDDING_URL must be an http:// or https:// address without user and password; "
            "the key goes into CHIRON_EMBEDDING_API_KEY."
        )
    return Hosted(
        provider,
        url=settings.embedding_url,
        model=settings.embedding_model,
        key=key,
        dimensions=settings.embedding_dimensions,
    )
