"""The authors of a source, from the one line in which pages and files name them."""

import re
from dataclasses import dataclass

NAMES_MAX = 1_000
SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv"})
PARTICLES = frozenset(
    {"af", "al", "av", "da", "dal", "de", "degli", "dei", "del", "della", "den", "der", "des", "di", "do", "dos", "du", "el"}
    | {"la", "le", "ten", "ter", "tot", "van", "vom", "von", "y", "zu", "zum", "zur"}
)  # fmt: skip
# Words that a person is not called.
BODIES = re.compile(
    r"\b(?:academy|agency|associates|association|authority|authors?|board|bureau|center|centre|college|commission|committee"
    r"|company|consortium|contributors?|corp|council|department|desk|editors?|foundation|gmbh|government|group|inc|institut"
    r"|institute|institution|laboratory|ltd|llc|magazine|ministry|museum|network|news|office|organi[sz]ation|press"
    r"|project|research|review|school|service|society|staff|team|times|union|universit\w+|wikipedia)\b",
    re.IGNORECASE,
)
BETWEEN = re.compile(r"\s+(?:and|und|et|y|&)\s+|\s*&\s+|\s*·\s*|\s*、\s*", re.IGNORECASE)
INITIALS = re.compile(r"(?:[^\W\d_]\.?[\s-]*){1,4}")
PREFIX = re.compile(r"^(?:by|par|por):?\s+", re.IGNORECASE)


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


def split_authors(line: str) -> tuple[Author, ...]:
    """The authors that a line names, in its order; what cannot be told for a person's name stays whole, as a body's."""
    words = PREFIX.sub("", " ".join(line.split()), count=1)
    names = (name for part in words.split(";") for name in _divide(part.strip(" ,")))
    authors = dict.fromkeys(_author(name) for name in names if name)
    return tuple(authors)[:NAMES_MAX]


def _divide(words: str) -> list[str]:
    """The names that "and" and commas part. What may be a body's name is not divided, as those have both."""
    if BODIES.search(words):
        return [words]
    return [name for part in BETWEEN.split(words) for name in _divide_at_commas(part)]


def _divide_at_commas(words: str) -> list[str]:
    """The names between commas: "Smith, J., Jones, K." are two, and so are "Jane Smith, Kim Jones"."""
    parts = [part.strip() for part in words.split(",") if part.strip()]
    if len(parts) < 2:
        return parts
    if _is_suffix(parts[-1]) and len(parts) <= 3:
        return [", ".join(parts)]
    if len(parts) % 2 == 0 and all(map(INITIALS.fullmatch, parts[1::2])):
        return [f"{family}, {initials}" for family, initials in zip(parts[::2], parts[1::2], strict=True)]
    if len(parts) == 2 and not (" " in _without_particles(parts[0]) and " " in parts[1]):
        return [", ".join(parts)] if " " not in _without_particles(parts[0]) else parts
    return parts


def _author(name: str) -> Author:
    if BODIES.search(name) or any(letter.isdigit() or letter in "@/:()|" for letter in name):
        return Author(name)
    family, *others = [part.strip() for part in name.split(",")]
    suffix = others.pop() if others and _is_suffix(others[-1]) else ""
    if len(others) > 1:
        return Author(name)
    if others:
        particle, family = _split_particle(family.split())
        return Author(family, others[0], particle, suffix)
    words = family.split()
    if len(words) > 2 and not suffix and _is_suffix(words[-1]):
        suffix = words.pop()
    at = next((n for n, word in enumerate(words) if n and word in PARTICLES), len(words) - 1)
    if not 2 <= len(words) <= 7 or at == 0:
        return Author(name)
    particle, family = _split_particle(words[at:])
    return Author(family, " ".join(words[:at]), particle, suffix)


def _split_particle(words: list[str]) -> tuple[str, str]:
    at = next((n for n, word in enumerate(words) if word not in PARTICLES), 0)
    return " ".join(words[:at]), " ".join(words[at:])


def _without_particles(words: str) -> str:
    return _split_particle(words.split())[1]


def _is_suffix(word: str) -> bool:
    return word.rstrip(".").casefold() in SUFFIXES
