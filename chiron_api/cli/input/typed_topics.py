"""Checks of topics typed on the command line, since a typing slip would be researched and paid for."""

import re
from collections.abc import Sequence
from pathlib import Path

from chiron_workers.errors import UsageError

# Editors and web pages put one long dash in place of two hyphens.
FILE_NAME = re.compile(r".+\.(?:txt|csv|jsonl?|ya?ml)", re.IGNORECASE)
LONG_DASH = re.compile(r"[\u2010-\u2015\u2212]-?([A-Za-z][\w-]*)(=.*)?", re.DOTALL)
CURLY_QUOTES = ("\u201c", "\u201d", "\u201e")
# Words of a question that cannot be a topic alone.
FUNCTION_WORDS = frozenset(
    {"an", "and", "are", "does", "how", "in", "is", "it", "of", "on"}
    | {"the", "to", "was", "what", "when", "where", "which", "who", "why", "with"}
)
WORDS_MIN = 3  # of a question that lost its quotes


def check_typed_topics(topics: Sequence[str]) -> None:
    """Raises UsageError for an option with a long dash, a file of topics, and a question without quotes around it."""
    for topic in topics:
        if FILE_NAME.fullmatch(topic) and Path(topic).is_file():
            raise UsageError(f"{topic[:200]} is a file. Put --file before it to read topics from it.")
        if option := LONG_DASH.fullmatch(topic):
            raise UsageError(
                f"{topic[:60]} begins with a long dash. An option begins with hyphens: "
                f"{'-' if len(option[1]) == 1 else '--'}{option[1][:60]}."
            )
    if len(topics) >= WORDS_MIN and all(" " not in topic for topic in topics) and any(map(_is_part, topics)):
        words = " ".join(topic.strip("".join(CURLY_QUOTES)) for topic in topics)
        raise UsageError(
            f"{len(topics)} topics of one word each look like a question without quotes. "
            f'Put straight quotes around it: "{words[:200]}".'
        )


def _is_part(word: str) -> bool:
    return word.lower() in FUNCTION_WORDS or word.endswith("?") or word.startswith(CURLY_QUOTES)
