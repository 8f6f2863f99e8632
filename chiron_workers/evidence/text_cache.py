"""A cache of what functions make of texts, bounded in memory: long texts are not kept."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

Value = TypeVar("Value")
OfText = Callable[[str], Value]


def cache_short_texts(*, texts_max: int, chars_max: int) -> Callable[[OfText[Value]], OfText[Value]]:
    """Decorate a function of a text, so that what it returns is kept and shared: let it be immutable.

    Args:
        texts_max: How many texts are kept, the latest ones.
        chars_max: Of a text that is kept; a longer one is worked through each time.
    """

    def decorate(function: OfText[Value]) -> OfText[Value]:
        cached = lru_cache(maxsize=texts_max)(function)

        @wraps(function)
        def look_up(text: str) -> Value:
            return cached(text) if len(text) <= chars_max else function(text)

        return look_up

    return decorate
