"""The parts of an author's name, as bibliographies have them. A name is one author, whatever stands in it."""

from dataclasses import dataclass

from chiron_workers.documents.authors import PARTICLES, is_suffix, split_particle
from chiron_workers.evidence.author_names import is_body

AND = "y"  # between the two parts of a Spanish family name


@dataclass(frozen=True, slots=True)
class Author:
    """A person, or a body that has no `given` name; `particle` stands before the family name ("van der")."""

    family: str
    given: str = ""
    particle: str = ""
    suffix: str = ""

    @property
    def is_person(self) -> bool:
        """Whether it is known which part of the name is the family's."""
        return bool(self.given)

    @property
    def inverted(self) -> str:
        """The family name first: "van der Berg, Jan, Jr."."""
        family = f"{self.particle} {self.family}".strip()
        return ", ".join(part for part in (family, self.given, self.suffix) if part)


def author_of(name: str) -> Author:
    """The parts of a name; what cannot be told for a person's name stays whole, as a body's.

    Before a comma stands the family name, of as many words as it has. Without one it is the last word, with its particles.
    """
    if is_body(name) or any(letter.isdigit() or letter in "@/:;()|" for letter in name):
        return Author(name)
    family, *parts = [part.strip() for part in name.split(",")]
    suffix = parts.pop() if parts and is_suffix(parts[-1]) else ""
    if len(parts) > 1:
        return Author(name)
    if parts:
        particle, family = split_particle(family.split())
        return Author(family, parts[0], particle, suffix)
    return _in_reading_order(name, family.split(), suffix)


def _in_reading_order(name: str, words: list[str], suffix: str) -> Author:
    if len(words) > 2 and not suffix and is_suffix(words[-1]):
        suffix = words.pop()
    at = next((n for n, word in enumerate(words) if n and word in PARTICLES), len(words) - 1)
    if at > 1 and words[at] == AND:
        at -= 1
    if not 2 <= len(words) <= 7 or at == 0:
        return Author(name)
    particle, family = split_particle(words[at:])
    return Author(family, " ".join(words[:at]), particle, suffix)
