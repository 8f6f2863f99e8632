"""The authors that a page or a file names: a list from here on. A name may have its family part first, before a comma."""

import re
from collections.abc import Iterable, Iterator

from chiron_workers.documents.document import one_line

NAME_CHARS_MAX = 300
NAMES_MAX = 1_000
LINE_CHARS_MAX = 20_000
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
# "Ortega y Gasset, José" and "José Ortega y Gasset": one word behind the "y" is the rest of a family name.
DOUBLE_NAME = re.compile(r"[^,;&]+\sy\s[^\s,]+(?:,[^,]+)?")
INITIALS = re.compile(r"(?:[^\W\d_]\.?[\s-]*){1,4}")
PREFIX = re.compile(r"^(?:by|par|por|von):?\s+(?=\S+\s)", re.IGNORECASE)
ADDRESS = re.compile(r"https?://", re.IGNORECASE)


def author_names(value: object) -> tuple[str, ...]:
    """The authors that a field states. An item of a list is one author; a text may name several.

    An author may be a mapping with a name, or with its parts (`family`, `given`), as YAML, CSL and schema.org have them.
    """
    items = value if isinstance(value, list) else None
    names = names_in(value) if isinstance(value, str) else map(_name, [value] if items is None else items)
    return unique_names(names)


def unique_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names without white space around them, each once; addresses are no names."""
    lines = (one_line(name[: 4 * NAME_CHARS_MAX]).strip(" ,;")[:NAME_CHARS_MAX] for name in names)
    return tuple(dict.fromkeys(name for name in lines if name and not ADDRESS.match(name)))[:NAMES_MAX]


def names_in(line: str) -> tuple[str, ...]:
    """The names in a line that may have several; what cannot be told for names of persons stays whole, as a body's."""
    words = PREFIX.sub("", one_line(line[:LINE_CHARS_MAX]), count=1)
    parts = [part.strip(" ,") for part in words.split(";")]
    has_semicolons = sum(map(bool, parts)) > 1
    return unique_names(name for part in parts for name in _divide(part, at_commas=not has_semicolons))


def is_body(name: str) -> bool:
    """Whether a name is that of an organization, as far as its words tell."""
    return bool(BODIES.search(name))


def is_suffix(word: str) -> bool:
    """Whether a word stands behind a name: Jr., III."""
    return word.rstrip(".").casefold() in SUFFIXES


def _name(item: object) -> str:
    if isinstance(item, str):
        return item
    if not isinstance(item, dict):
        return ""
    family = next((item[key] for key in ("family", "familyName", "family-names") if key in item), "")
    given = next((item[key] for key in ("given", "givenName", "given-names") if key in item), "")
    if isinstance(family, str) and isinstance(given, str) and family.strip() and given.strip():
        return f"{family}, {given}"
    name = item.get("name") or item.get("literal") or family
    return name if isinstance(name, str) else ""


def _divide(words: str, *, at_commas: bool) -> Iterator[str]:
    """The names that "and" and commas part. What may be a body's name is not divided, as those have both."""
    if is_body(words) or DOUBLE_NAME.fullmatch(words):
        yield words
        return
    for part in BETWEEN.split(words):
        yield from _divide_at_commas(part) if at_commas else [part]


def _divide_at_commas(words: str) -> list[str]:
    """The names between commas: "Smith, J., Jones, K." are two, and so are "Jane Smith, Kim Jones"."""
    parts = [part.strip() for part in words.split(",") if part.strip()]
    if len(parts) < 2:
        return parts
    if is_suffix(parts[-1]) and len(parts) <= 3:
        return [", ".join(parts)]
    if len(parts) % 2 == 0 and all(map(_are_initials, parts[1::2])):
        return [f"{family}, {initials}" for family, initials in zip(parts[::2], parts[1::2], strict=True)]
    # "Smith, Jane", "García Márquez, Gabriel" and "da Silva Santos, Ana Maria" are one: a second person would have two names,
    # and the first one's would not begin with a particle.
    family = _without_particles(parts[0])
    if len(parts) == 2 and (" " not in family or family != parts[0] or " " not in parts[1]):
        return [", ".join(parts)]
    return parts


def _are_initials(words: str) -> bool:
    return words == words.upper() and bool(INITIALS.fullmatch(words))


def _without_particles(words: str) -> str:
    return split_particle(words.split())[1]


def split_particle(words: list[str]) -> tuple[str, str]:
    """The particles before a family name ("van der"), and the family name."""
    at = next((n for n, word in enumerate(words) if word not in PARTICLES), 0)
    return " ".join(words[:at]), " ".join(words[at:])
