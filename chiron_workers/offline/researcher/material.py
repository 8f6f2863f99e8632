"""What tools brought: sources that a search named, and documents that were fetched from them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chiron_workers.offline.researcher.sentences import Sentence, sentences
from chiron_workers.offline.researcher.vocabulary import VOCABULARY
from chiron_workers.offline.researcher.words import parts

ADDRESS_WORDS = VOCABULARY["address"]
_TITLE_WORDS = VOCABULARY["title"]
_TRUST_WORDS = VOCABULARY["standing"]
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:[^\s\"'<>]{2,2000}")
_URL_IN_TEXT = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>)\]}]+")


@dataclass(frozen=True, slots=True)
class Source:
    """A search result. `quality` is what the search says of the source's standing, 0 to 1, if it says anything."""

    url: str
    title: str
    snippet: str
    quality: float | None = None


@dataclass(frozen=True)
class Document:
    """A fetched source and its texts as they came."""

    url: str
    title: str
    texts: tuple[str, ...]
    quality: float | None = None

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Its prose sentences, in order."""
        return tuple(sentence for text in self.texts for sentence in sentences(text))


def sources(pieces: Iterable[Any], address_key: str) -> list[Source]:
    """The sources in a search's results, best first as the search ordered them.

    Args:
        pieces: Parsed JSON, or plain text, whose URLs are taken.
        address_key: What the fetching tool calls an address; a result often calls it the same.
    """
    found: dict[str, Source] = {}
    for piece in pieces:
        for source in _in_text(piece) if isinstance(piece, str) else _in_json(piece, address_key):
            found.setdefault(source.url, source)
    return list(found.values())


def document(pieces: Sequence[Any], source: Source) -> Document:
    """What was fetched from a source: the longest string of the result, and what stands under the same name."""
    found = [string for piece in pieces for string in _strings(piece)]
    key = max(found, key=lambda string: len(string[1]), default=("", ""))[0]
    texts = [text for name, text in found if name == key]
    title = source.title or next((_title(piece) for piece in pieces if isinstance(piece, dict)), "")
    quality = next((_quality(piece) for piece in pieces if isinstance(piece, dict)), None)
    return Document(
        source.url, title, tuple(dict.fromkeys(texts)), source.quality if quality is None else quality
    )


def joined(parts: Sequence[Document]) -> Document:
    """The parts of one document as one."""
    texts = tuple(dict.fromkeys(text for part in parts for text in part.texts))
    return Document(parts[0].url, parts[0].title, texts, parts[0].quality)


def next_position(pieces: Sequence[Any], position_key: str) -> int | None:
    """Where a text goes on, as a fetch tells it: a number under a name such as `next_` and the tool's own word."""
    asked = set(parts(position_key))
    for piece in pieces:
        for key, value in piece.items() if isinstance(piece, dict) else ():
            named = set(parts(key))
            if asked <= named and "next" in named and isinstance(value, int) and value > 0:
                return value
    return None


def address(pieces: Sequence[Any], address_key: str, *, asked: str) -> str:
    """Where a fetch says that its text stands, after redirects; the address asked for if it says nothing."""
    told = [piece[address_key] for piece in pieces if isinstance(piece, dict) and address_key in piece]
    return told[0] if told and isinstance(told[0], str) and told[0] else asked


def _in_text(text: str) -> Iterator[Source]:
    for match in _URL_IN_TEXT.finditer(text):
        yield Source(match[0].rstrip(".,;:"), "", "")


def _in_json(value: Any, address_key: str) -> Iterator[Source]:
    if isinstance(value, list):
        for item in value:
            yield from _in_json(item, address_key)
    elif isinstance(value, dict):
        below = [
            source
            for item in value.values()
            if isinstance(item, dict | list)
            for source in _in_json(item, address_key)
        ]
        yield from below
        if not below and (url := _address(value, address_key)):
            texts = [text for _, text in _strings(value) if text not in (url, _title(value))]
            yield Source(url, _title(value), max(texts, key=len, default=""), _quality(value))


def _address(found: dict[str, Any], address_key: str) -> str:
    """The value that is most likely to be the address, empty if none is."""

    def likelihood(key: str, value: str) -> int:
        named = 4 if key == address_key else 2 if ADDRESS_WORDS & set(parts(key)) else 0
        return named + (3 if _ADDRESS.fullmatch(value) else 0)

    candidates = [
        (likelihood(key, value), value)
        for key, value in found.items()
        if isinstance(value, str) and value and len(value) < 2_000 and "\n" not in value
    ]
    best = max(candidates, key=lambda candidate: candidate[0], default=(0, ""))
    return best[1] if best[0] else ""


def _title(found: dict[str, Any]) -> str:
    return next(
        (value for key, value in found.items() if isinstance(value, str) and _TITLE_WORDS & set(parts(key))),
        "",
    )


def _quality(found: dict[str, Any]) -> float | None:
    for key, value in found.items():
        named = set(parts(key))
        says = named & _TRUST_WORDS or {"source", "score"} <= named
        if says and isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1:
            return float(value)
    return None


def _strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every string in a piece of JSON with the key it stands under."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, key)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _strings(item, name)
