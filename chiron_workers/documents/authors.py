"""The authors that a page or a file names: a list from here on. A name may have its family part first, before a comma."""

import re
from collections.abc import Iterable, Iterator

from chiron_workers.documents.document import one_line
from chiron_workers.evidence.author_names import is_body

NAME_CHARS_MAX = 300
NAMES_MAX = 1_000
LINE_CHARS_MAX = 20_000
SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv"})
PARTICLES = frozenset(
    {"af", "al", "av", "da", "dal", "de", "degli", "dei", "del", "della", "den", "der", "des", "di", "do", "dos", "du", "el"}
    | {"la", "le", "ten", "ter", "tot", "van", "vom", "von", "y", "zu", "zum", "zur"}
)  # fmt: skip
BETWEEN = re.compile(r"\s+(?:and|und|et|y|e|with|mit|&)\s+|\s*&\s+|\s*[·•、，]\s*", re.IGNORECASE)
# "Ortega y Gasset, José" and "José Ortega y Gasset": one word behind the "y" is the rest of a family name.
DOUBLE_NAME = re.compile(r"[^,;&]+\s[ye]\s[^\s,]+(?:,[^,]+)?")
# What stands behind names and is none.
OTHERS = re.compile(
    r"[\s,;]*\b(?:(?:and|&)\s+(?:others|colleagues)|et\.? al|et autres|u\. ?a|y otros)\b\.?\s*$",
    re.IGNORECASE,
)
DEGREE = re.compile(
    r"(?:ph\.? ?d|m\.? ?d|d\.? ?phil|d\.? ?sc|b\.? ?sc|m\.? ?sc|m\.? ?a|b\.? ?a|m\.? ?p\.? ?h|m\.? ?b\.? ?a|r\.? ?n|j\.? ?d"
    r"|ll\.? ?m|d\.? ?v\.? ?m|dr\.?(?: [a-z]+\.)*|prof|esq|cpa|frcp|frs|facp|pharm\.? ?d|ed\.? ?d)\.?",
    re.IGNORECASE,
)
AGENCIES = frozenset(
    {
        "reuters",
        "ap",
        "associated press",
        "afp",
        "dpa",
        "upi",
        "bloomberg",
        "pti",
        "ansa",
        "efe",
        "tass",
        "xinhua",
        "bbc news",
    }
    | {"the guardian", "the new york times", "cnn", "npr", "sda", "apa", "kyodo"}
)
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
    parts = [part.strip(" ,") for part in OTHERS.sub("", words).split(";")]
    has_semicolons = sum(map(bool, parts)) > 1
    return unique_names(name for part in parts for name in _divide(part, at_commas=not has_semicolons))


def stored_names(line: str) -> tuple[str, ...]:
    """The names in a line that a version before has stored, whose readers also parted names at their own commas.

    A name of one word may be a piece of the one before it ("García Márquez; Gabriel"): such a line stays whole, as a body's.
    """
    if not line:  # as of most sources
        return ()
    parts = [part.strip() for part in line.split(";")]
    is_open = len(parts) > 1 and any(" " not in part for part in parts)
    return unique_names([line]) if is_open else names_in(line)


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
    parts = _name_parts(words)
    names = [", ".join(part) for part in parts]
    if len(parts) < 2:
        return names
    first, *others = [part[0] for part in parts]
    if len(parts) % 2 == 0 and all(map(_are_initials, others[::2])):
        return [f"{family}, {initials}" for family, initials in zip(names[::2], names[1::2], strict=True)]
    # "Smith, Jane", "García Márquez, Gabriel" and "da Silva Santos, Ana Maria" are one: a second person would have two names,
    # and the first one's would not begin with a particle.
    is_family = " " not in first or _without_particles(first) != first
    if len(parts) == 2:
        return [", ".join(names)] if is_family or " " not in others[0] else names
    # "Smith, Jane, Jones, Kim" does not tell where a name ends.
    return [words] if is_family or not all(" " in name for name in others) else names


def _name_parts(words: str) -> list[list[str]]:
    """What stands between commas, a suffix with the name before it; without degrees and agencies, which are no names."""
    parts: list[list[str]] = []
    for part in map(str.strip, words.split(",")):
        if parts and is_suffix(part):
            parts[-1].append(part)
        elif part and not (parts and _is_no_name(part, behind=parts[-1][0])):
            parts.append([part])
    return parts


def _is_no_name(words: str, *, behind: str) -> bool:
    """Whether words are a degree or an agency; behind a family name alone, MA may be initials."""
    return words.casefold() in AGENCIES or (" " in behind and bool(DEGREE.fullmatch(words)))


def _are_initials(words: str) -> bool:
    return words == words.upper() and bool(INITIALS.fullmatch(words))


def _without_particles(words: str) -> str:
    return split_particle(words.split())[1]


def split_particle(words: list[str]) -> tuple[str, str]:
    """The particles before a family name ("van der"), and the family name."""
    at = next((n for n, word in enumerate(words) if word not in PARTICLES), 0)
    return " ".join(words[:at]), " ".join(words[at:])
