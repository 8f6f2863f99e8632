"""Words of a text as they are compared: lower case, stemmed, without the words that every sentence has."""

import re
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise

# Words that nearly every sentence or request has; they carry no topic.
COMMON_WORDS = frozenset(files(__package__).joinpath("common_words.txt").read_text("utf-8").split())

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NO_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # scripts that write words without gaps


def words(text: str) -> list[str]:
    """Every word of a text in lower case; text without spaces between words comes as pairs of characters."""
    split: list[str] = []
    for word in _WORD.findall(text.lower()):
        if _NO_SPACES.search(word) and len(word) > 1:
            split += [word[i : i + 2] for i in range(len(word) - 1)]
        else:
            split.append(word)
    return split


def terms(text: str) -> list[str]:
    """The stems that carry a text's meaning, in order, repetitions kept."""
    return [stem(word) for word in words(text) if word not in COMMON_WORDS]


def pairs(text: str) -> frozenset[tuple[str, str]]:
    """Neighbouring stems, common words among them: what "for loop" has and "for the sake of a loop" has not."""
    neighbours = pairwise(words(text))
    return frozenset(
        (stem(first), stem(second)) for first, second in neighbours if not {first, second} <= COMMON_WORDS
    )


def topic_terms(text: str) -> tuple[str, ...]:
    """The different stems of a topic, in order; all of its words where it has none but common ones."""
    return tuple(dict.fromkeys(terms(text) or [stem(word) for word in words(text)]))


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A word without its commonest English endings, so that "raised" meets "raising"."""
    word = word.replace("’", "'").removesuffix("'s").replace("'", "")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for suffix in ("ing", "ed"):
        root = word.removesuffix(suffix)
        if root != word and len(root) > 2 and re.search("[aeiouy]", root):
            word = root[:-1] if root[-1] == root[-2] and root[-1] not in "lsz" else root
            break
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


def slug(text: str) -> str:
    """A text as an identifier: lower case words joined by hyphens."""
    return "-".join(words(text))[:80]
