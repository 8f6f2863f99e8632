"""Facts that nobody wrote, the same for the same seed: subjects of very different sizes, words as common as in real text."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from fact_rows import FactRow, Vectors
from numpy.typing import NDArray

from chiron_workers.embeddings import Space
from chiron_workers.ids import new_id

CLUSTERS = 1_000
DIMENSIONS = 384
SPACE = Space("synthetic", "1", DIMENSIONS)
VOCABULARY = 50_000
WORDS_OF_A_FACT = 22
WORDS_OF_A_QUESTION = 8
# Zipf's law after Mandelbrot: without stop words, the most common word stands in one fact of five.
COMMONEST = 10


def sizes(facts: int, subjects: int) -> list[int]:
    """Facts of each subject by Zipf's law, largest first: of 1,000,000 in 200 subjects 170,000 down to 850."""
    shares = 1 / np.arange(1, subjects + 1)
    return [int(size) for size in np.maximum(1, np.round(facts * shares / shares.sum()))]


def subject(n: int) -> str:
    return f"subject-{n:03}"


@dataclass(slots=True)
class Questions:
    """An embedder whose texts were made with their vectors."""

    space: Space = SPACE
    vectors: dict[str, list[float]] = field(default_factory=dict)

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        return [self.vectors[text] for text in texts]

    async def close(self) -> None:
        self.vectors.clear()


class World:
    """Draws facts and questions."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.centres = _units(self.random.standard_normal((CLUSTERS, DIMENSIONS), dtype=np.float32))
        self.words = _words(self.random)
        shares = 1 / (np.arange(VOCABULARY) + COMMONEST)
        self.shares = np.cumsum(shares / shares.sum())

    def facts(self, subjects: NDArray[np.int64]) -> tuple[list[FactRow], Vectors]:
        """A fact with its vector for each subject, given by number."""
        texts = self.texts(len(subjects), WORDS_OF_A_FACT)
        rows = [FactRow(new_id(), subject(n), text) for n, text in zip(subjects, texts, strict=True)]
        return rows, self.vectors(len(subjects))

    def questions(self, embedder: Questions, count: int) -> list[str]:
        """Questions that the embedder knows from now on."""
        return self._known(embedder, count, WORDS_OF_A_QUESTION)

    def contents(self, embedder: Questions, count: int) -> list[str]:
        """Contents of facts that the embedder knows from now on."""
        return self._known(embedder, count, WORDS_OF_A_FACT)

    def texts(self, count: int, words: int) -> list[str]:
        drawn = np.searchsorted(self.shares, self.random.random((count, words)))
        return [" ".join(row) for row in self.words[drawn]]

    def words_between(self, low: int, high: int, count: int) -> list[str]:
        """Words that are between these ranks of the vocabulary, each as often as among facts."""
        start = self.shares[low - 1] if low else 0.0
        drawn = np.searchsorted(self.shares, self.random.uniform(start, self.shares[high - 1], count))
        return [str(word) for word in self.words[drawn]]

    def vectors(self, count: int) -> Vectors:
        """Unit vectors around random centres, at a cosine of 0.7 to them."""
        noise = self.random.standard_normal((count, DIMENSIONS), dtype=np.float32) / np.sqrt(DIMENSIONS)
        centres = self.centres[self.random.integers(CLUSTERS, size=count)]
        return _units(centres + noise.astype(np.float32)).astype(np.float16)

    def _known(self, embedder: Questions, count: int, words: int) -> list[str]:
        texts = self.texts(count, words)
        vectors = self.vectors(count).astype(np.float32).tolist()
        embedder.vectors |= dict(zip(texts, vectors, strict=True))
        return texts


def _units(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths: NDArray[np.float32] = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / lengths


def _words(random: np.random.Generator) -> NDArray[np.str_]:
    consonants, vowels = "bdfgklmnprstvz", "aeiou"
    syllables = np.array([one + two for one in consonants for two in vowels])
    drawn = random.choice(len(syllables) ** 3, VOCABULARY, replace=False)
    parts = [syllables[drawn // len(syllables) ** place % len(syllables)] for place in range(3)]
    return np.array(["".join(part) for part in zip(*parts, strict=True)])
