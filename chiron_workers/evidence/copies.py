"""Which texts are copies of one another, though each page puts its own words around them."""

import re
from collections.abc import Iterator, Sequence

PERMUTATIONS = 128
WORDS_OF_A_SHINGLE = 5
TEXT_CHARS_MAX = 300_000  # a copy agrees from its beginning
# Independent texts share hardly a run of five words; a copy with as much again around it has a half.
COPY_FROM = 0.5
WORD = re.compile(r"\w+")


def minhash(text: str) -> bytes:
    """The MinHash of a text's runs of five words, 512 bytes; texts without words have equal ones.

    MinHash: A. Broder, On the resemblance and containment of documents, 1997.
    """
    import numpy as np
    from rensa import RMinHash

    hashes = RMinHash(num_perm=PERMUTATIONS, seed=1)
    hashes.update(list(_shingles(text[:TEXT_CHARS_MAX])))
    return np.array(hashes.digest(), dtype="<u4").tobytes()


def copy_pairs(signatures: Sequence[bytes]) -> list[tuple[int, int]]:
    """The pairs, by their places, of signatures of texts that share at least half of their runs of words."""
    if len(signatures) < 2:
        return []
    import numpy as np

    matrix = np.array([np.frombuffer(signature, "<u4") for signature in signatures])
    pairs = []
    for n in range(1, len(matrix)):
        resemblances = (matrix[:n] == matrix[n]).mean(axis=1)  # estimated Jaccard similarities
        places = np.flatnonzero(resemblances >= COPY_FROM)
        pairs += [(n, int(place)) for place in places]
    return pairs


def _shingles(text: str) -> Iterator[str]:
    words = WORD.findall(text.casefold())
    for n in range(max(1, len(words) - WORDS_OF_A_SHINGLE + 1)):
        yield " ".join(words[n : n + WORDS_OF_A_SHINGLE])
