"""Whether two names are of one author: a person by family and given name, an office by its whole name."""

import re
from dataclasses import dataclass
from itertools import product
from unicodedata import combining, normalize

from chiron_workers.evidence.study_names import surname_of

# Words that a person is not called.
BODIES = re.compile(
    r"\b(?:academy|agency|associates|association|authority|authors?|board|bureau|center|centre|college|commission|committee"
    r"|company|consortium|contributors?|corp|council|department|desk|editors?|foundation|gmbh|government|group|inc|institut"
    r"|institute|institution|laboratory|ltd|llc|magazine|ministry|museum|network|news|office|organi[sz]ation|press"
    r"|project|research|review|school|service|society|staff|team|times|union|universit\w+|wikipedia)\b",
    re.IGNORECASE,
)
_HONORIFICS = frozenset({"dr", "prof", "professor", "mr", "ms", "mrs", "sir", "dame"})
_ARTICLES = frozenset({"the", "our"})
# Of these alone every office may call itself.
_OF_ANY_OFFICE = frozenset(
    {
        "staff",
        "team",
        "editor",
        "editors",
        "editorial",
        "press",
        "news",
        "web",
        "online",
        "office",
        "desk",
        "board",
    }
    | {"author", "authors", "contributor", "contributors"}
)


@dataclass(frozen=True, slots=True)
class AuthorName:
    """An author's family name, or an office's whole name, in small letters.

    Where the order of a name's parts cannot be told it has several given names.
    """

    surname: str
    given_names: frozenset[str] = frozenset()

    def is_like(self, author: "AuthorName") -> bool:
        """Whether both may be one author: an initial may be any name that begins with it."""
        if self.surname != author.surname:
            return False
        pairs = product(self.given_names, author.given_names)
        return (
            not self.given_names
            or not author.given_names
            or any(name.startswith(match) or match.startswith(name) for name, match in pairs)
        )


def is_body(name: str) -> bool:
    """Whether a name is that of an organization, as far as its words tell."""
    return bool(BODIES.search(name))


def author_name(name: str) -> AuthorName | None:
    """A name to compare it by; None where any office may have it."""
    words = [word for word in re.findall(r"[\w'’]+", name.casefold()) if word not in _ARTICLES]
    if is_body(name):
        return None if _OF_ANY_OFFICE.issuperset(words) else AuthorName(" ".join(words))
    if not (surname := surname_of(name)):
        return None
    before, _, behind = _without_accents(name.casefold()).partition(",")
    given_names = (_given_name(part, _without_accents(surname)) for part in (before, behind))
    return AuthorName(surname, frozenset(filter(None, given_names)))


def _given_name(words: str, surname: str) -> str:
    """The first word that is no family name; empty where there is none."""
    names = [word for word in re.findall(r"[\w'’-]+", words) if word not in _HONORIFICS and word != surname]
    return names[0] if names else ""


def _without_accents(words: str) -> str:
    return "".join(letter for letter in normalize("NFKD", words) if not combining(letter))
