"""What a reader makes of a generated document: which elements are neither in the text nor in the list of what was left out."""

import importlib
import pkgutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from chiron_workers.documents.document import Document

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Probe:
    """An element of a generated document. `words` stand in it and nowhere else; `before` and `behind` touch it on both sides."""

    element: str
    words: str

    @property
    def before(self) -> str:
        """The word right before it, without a space."""
        return f"left{self.words}"

    @property
    def behind(self) -> str:
        """The word right behind it, without a space."""
        return f"right{self.words}"


@dataclass(frozen=True, slots=True)
class Format:
    """A format: the elements that its table says have something to say, how a document of them is built, and how it is read.

    `unknown` makes the name of an element that no table has. `kind_of` says under which kind an element is listed that is not
    in the text; empty for any kind that no other element has.
    """

    name: str
    elements: tuple[str, ...]
    build: Callable[[Sequence[Probe], Random], bytes]
    read: Callable[[bytes], Document]
    unknown: Callable[[Random], str]
    kind_of: Callable[[str], str]


def formats() -> list[Format]:
    """All formats, by the names of their modules."""
    folder = Path(__file__).parent
    names = sorted(module.name for module in pkgutil.iter_modules([str(folder)]))
    modules = [importlib.import_module(f"{__package__}.{name}") for name in names]
    return [module.FORMAT for module in modules if hasattr(module, "FORMAT")]


def probes_of(elements: Sequence[str], chance: Random) -> list[Probe]:
    """A probe for each element, in any order, with words that nothing else has."""
    words = set[str]()
    while len(words) < len(elements):
        words.add("".join(chance.choices(LETTERS, k=12)))
    shuffled = list(elements)
    chance.shuffle(shuffled)
    return [Probe(element, word) for element, word in zip(shuffled, sorted(words), strict=True)]


def unaccounted(file_format: Format, probes: Sequence[Probe], document: Document) -> list[str]:
    """The elements whose words are not in the text, and that are not listed either; as many as there are too few entries."""
    missing = [probe.element for probe in probes if probe.words not in document.text]
    listed = Counter({omission.kind: omission.count for omission in document.left_out})
    own_kinds = {file_format.kind_of(probe.element) for probe in probes} - {""}
    other = sum(count for kind, count in listed.items() if kind not in own_kinds)
    unlisted = list[str]()
    for element in missing:
        kind = file_format.kind_of(element)
        if kind and listed[kind] > 0:
            listed[kind] -= 1
        elif not kind and other > 0:
            other -= 1
        else:
            unlisted.append(element)
    return unlisted


def joined(probes: Sequence[Probe], document: Document) -> Iterator[str]:
    """The elements whose words stand in the text without a separator from those around them, or that are gone between them."""
    for probe in probes:
        wrong_words = (probe.before + probe.words, probe.words + probe.behind, probe.before + probe.behind)
        if any(words in document.text for words in wrong_words):
            yield probe.element
