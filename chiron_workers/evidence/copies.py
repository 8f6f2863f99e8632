"""Which texts are copies of one another, or hold one another, though each page puts its own words around them."""

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WORDS_OF_A_SHINGLE = 5
TEXT_CHARS_MAX = 300_000  # a copy agrees from its beginning
# Independent texts share hardly a run of five words.
COPY_FROM = 0.5
# Two authors hardly write as many runs in the same order: they stand in passages of 20 words and more.
SHARED_RUNS_MIN = 16
SAMPLES_MIN = 3  # of shared runs, where only a sample of them is kept
PASSAGE_CHARS = 200  # before and behind a quote: what is farther may be a banner or a reference
NEAREST_RUNS = 8  # before and behind a quote, of all runs; of a sample fewer
NEAREST_SAMPLES_MIN = 3
PAIRWISE_MAX = 8  # texts that are compared pair by pair
PLACE_CHARS = 16  # to which a run's place is rounded
# A writing that puts no blanks between words: a sign counts as one.
_DENSE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(rf"[{_DENSE}]|[^\W{_DENSE}]+")
_BITS = 1 << 32
# Of so many runs of words all are kept, of more a half, a quarter, an eighth.
_SCALES = ((512, 1), (2_048, 2), (8_192, 4))
_SCALE_MAX = 8


@dataclass(frozen=True, slots=True)
class Sketch:
    """A sample of a text's runs of five words by their hashes, in order of these, and where in the text each stands.

    It holds each hash below 2**32 / `scale`, so that of two texts the same runs are kept, and what one has of the other is
    seen whichever is longer.
    """

    scale: int
    hashes: "NDArray[np.uint32]"
    places: "NDArray[np.uint16]"

    @classmethod
    def of(cls, data: bytes) -> "Sketch":
        """The sketch that `sketch` wrote."""
        import numpy as np

        count = (len(data) - 1) // 6
        hashes = np.frombuffer(data, "<u4", count, offset=1)
        return cls(data[0], hashes, np.frombuffer(data, "<u2", count, offset=1 + 4 * count))

    def around(self, start: int, end: int) -> "Sketch":
        """Of the passage around some characters."""
        first, last = (start - PASSAGE_CHARS) // PLACE_CHARS, (end + PASSAGE_CHARS) // PLACE_CHARS
        near = (self.places >= first) & (self.places <= last)
        return Sketch(self.scale, self.hashes[near], self.places[near])

    def nearest(self, start: int, end: int, scale: int) -> "NDArray[np.uint32]":
        """The runs of some characters, and the nearest ones before and behind them, of those that a scale keeps."""
        import numpy as np

        is_sampled = self.hashes < _BITS // scale
        order = np.argsort(self.places[is_sampled], kind="stable")
        hashes, places = self.hashes[is_sampled][order], self.places[is_sampled][order]
        first = int(np.searchsorted(places, start // PLACE_CHARS))
        last = int(np.searchsorted(places, end // PLACE_CHARS, "right"))
        count = max(NEAREST_SAMPLES_MIN, NEAREST_RUNS // scale)
        return np.sort(hashes[max(0, first - count) : last + count])


def sketch(text: str) -> bytes:
    """A sample of the text's runs of five words: a byte for the scale, then hashes and places.

    FracMinHash: L. Irber et al., Lightweight compositional analysis of metagenomes with FracMinHash and minimum metagenome
    covers, 2022. Unlike a MinHash of fixed size it tells that a short text stands within a long one.
    """
    import numpy as np

    words, starts = [], []
    for match in WORD.finditer(text[:TEXT_CHARS_MAX]):
        words.append(match[0].casefold())
        starts.append(match.start())
    values = np.fromiter((zlib.crc32(word.encode("utf-8", "replace")) for word in words), "u8", len(words))
    count = max(0, len(values) - WORDS_OF_A_SHINGLE + 1)
    mixture = np.zeros(count, "u8")
    for n in range(WORDS_OF_A_SHINGLE):
        mixture = mixture * np.uint64(0x9E3779B97F4A7C15) + values[n : n + count]
    mixture ^= mixture >> np.uint64(31)  # the finaliser of SplitMix64, whose upper half is even
    mixture *= np.uint64(0xBF58476D1CE4E5B9)
    mixture ^= mixture >> np.uint64(27)
    mixture *= np.uint64(0x94D049BB133111EB)
    hashes = (mixture >> np.uint64(32)).astype("<u4")
    scale = next((scale for runs_max, scale in _SCALES if count <= runs_max), _SCALE_MAX)
    places = (np.array(starts[:count], "u8") // PLACE_CHARS).astype("<u2")
    hashes, first = np.unique(hashes, return_index=True)
    is_sampled = hashes < _BITS // scale
    return bytes([scale]) + hashes[is_sampled].tobytes() + places[first][is_sampled].tobytes()


def copy_pairs(
    sketches: Sequence[Sketch | None], places: Sequence[tuple[int, int] | None] | None = None
) -> list[tuple[int, int]]:
    """The pairs, by their places, of texts of which one has half of the other's runs of words or more.

    A text of few words within a longer one is a chance; it has to be a passage, or the longer one hardly longer. `places` are
    those of a quote in each text: two are a pair too where the passages around these have so much in common that one was
    taken from the other. Where both are known, what stands at one of the quotes has to be in the other text: a banner makes
    two short pages no copies.
    """
    places = places or [None] * len(sketches)

    @cache
    def nearest(number: int, scale: int) -> "NDArray[np.uint32]":
        text, place = sketches[number], places[number]
        assert text and place
        return text.nearest(*place, scale)

    def is_at_quote(n: int, m: int, scale: int) -> bool:
        text, near = sketches[m], nearest(n, scale)
        return text is not None and 0 < len(near) <= 2 * _common_count(text.hashes, near)

    pairs = []
    for overlap in _overlaps(sketches):
        n, m = overlap.places
        is_copy = overlap.runs >= COPY_FROM * overlap.smaller and (
            overlap.is_passage
            or overlap.runs >= COPY_FROM * (overlap.smaller + overlap.larger - overlap.runs)
        )
        if not (is_copy or overlap.is_passage):
            continue
        if not (_is_sketched(places[n]) and _is_sketched(places[m])):
            is_pair = is_copy
        elif is_at_quote(n, m, overlap.scale) or is_at_quote(m, n, overlap.scale):
            is_pair = is_copy or _have_passage(sketches, n, m, places)
        else:
            is_pair = False
        if is_pair:
            pairs.append((n, m))
    return pairs


def _is_sketched(place: tuple[int, int] | None) -> bool:
    """Whether a quote's place is known, and stands in what a sketch is made of."""
    return place is not None and place[0] < TEXT_CHARS_MAX


def _have_passage(
    sketches: Sequence[Sketch | None], n: int, m: int, places: Sequence[tuple[int, int] | None]
) -> bool:
    """Whether the passages around two quotes are one."""
    near = [
        text.around(*place)
        for text, place in ((sketches[n], places[n]), (sketches[m], places[m]))
        if text and place
    ]
    return len(near) == 2 and any(overlap.is_passage for overlap in _overlaps(near))


@dataclass(frozen=True, slots=True)
class _Overlap:
    """How many runs two texts have in common, and how many the smaller and the larger one has, of those that both keep."""

    places: tuple[int, int]
    runs: int
    smaller: int
    larger: int
    scale: int

    @property
    def is_passage(self) -> bool:
        return self.runs * self.scale >= SHARED_RUNS_MIN and self.runs >= SAMPLES_MIN


def _overlaps(sketches: Sequence[Sketch | None]) -> Iterator[_Overlap]:
    """The pairs that have any run in common."""
    import numpy as np

    present = [(n, text) for n, text in enumerate(sketches) if text and len(text.hashes)]
    texts = [text for _, text in present]
    if len(texts) < 2:
        return
    counts = _common_counts(texts) if len(texts) > PAIRWISE_MAX else None

    @cache
    def count_at(number: int, scale: int) -> int:
        return int(np.searchsorted(texts[number].hashes, _BITS // scale))

    for row, (n, text) in enumerate(present):
        for column, (m, other_text) in enumerate(present[:row]):
            runs = (
                _common_count(text.hashes, other_text.hashes) if counts is None else int(counts[row, column])
            )
            if runs:
                scale = max(text.scale, other_text.scale)
                sizes = sorted((count_at(row, scale), count_at(column, scale)))
                yield _Overlap((n, m), runs, sizes[0], sizes[1], scale)


def _common_count(hashes: "NDArray[np.uint32]", other_hashes: "NDArray[np.uint32]") -> int:
    import numpy as np

    places = np.searchsorted(hashes, other_hashes)
    places[places == len(hashes)] = 0
    return int((hashes[places] == other_hashes).sum())


def _common_counts(texts: Sequence[Sketch]) -> "NDArray[np.float32]":
    """The same for all pairs of many texts, as a product of matrices."""
    import numpy as np

    hashes, counts = np.unique(np.concatenate([text.hashes for text in texts]), return_counts=True)
    common = hashes[counts > 1]  # a sketch has each of its hashes once
    incidence = np.array([np.isin(common, text.hashes, assume_unique=True) for text in texts], "f4")
    counts_of_pairs: NDArray[np.float32] = np.rint(incidence @ incidence.T)
    return counts_of_pairs
