"""Words of a text as they are compared: lower case, stemmed, without the words that every sentence has."""

import re
from functools import lru_cache
from itertools import pairwise

from chiron_workers.offline.researcher.vocabulary import VOCABULARY

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NO_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")  # scripts that write words without gaps
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

STOPWORDS = VOCABULARY["common"]


def words(text: str) -> list[str]:
    """Every word of a text in lower case; text without spaces between words comes as pairs of characters."""
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        if _NO_SPACES.search(word) and len(word) > 1:
            found += [word[i : i + 2] for i in range(len(word) - 1)]
        else:
            found.append(word)
    return found


def terms(text: str) -> list[str]:
    """The stems that carry a text's meaning, in order, repetitions kept."""
    return [stem(word) for word in words(text) if word not in STOPWORDS]


def pairs(text: str) -> frozenset[tuple[str, str]]:
    """Neighbouring stems, common words among them: what "for loop" has and "for the sake of a loop" has not."""
    stems = [(stem(word), word in STOPWORDS) for word in words(text)]
    return frozenset(
        (one, other) for (one, common), (other, also) in pairwise(stems) if not (common and also)
    )


def topic_terms(text: str) -> tuple[str, ...]:
    """The different stems of a topic, in order; all of its words where it has none but common ones."""
    return tuple(dict.fromkeys(terms(text) or [stem(word) for word in words(text)]))


def parts(name: str) -> list[str]:
    """The words of an identifier: `sourceUrl` and `source_url` give source, url."""
    return words(_CAMEL.sub(" ", name).replace("_", " "))


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A word without its commonest English endings, so that "raised" meets "raising"."""
    word = word.replace("’", "'").removesuffix("'s").replace("'", "")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) > 2 and re.search("[aeiouy]", rest):
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest
            break
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


def slug(text: str) -> str:
    """A text as an identifier: lower case words joined by hyphens."""
    return "-".join(words(text))[:80]
