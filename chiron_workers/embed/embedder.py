from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from chiron_workers.settings import Settings


@dataclass(frozen=True, slots=True)
class Space:
    """What makes vectors comparable: the same model, the same file or version, the same dimensions."""

    model: str
    hash: str
    dimensions: int


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
        ConfigurationError: A hosted provider lacks its model or its key.
    """
    raise NotImplementedError
