"""How a quote can be made to say what its page does not, one function for each way.

Each takes a quote, words of its document and a random number generator; it gives the changed quote, or the same one
where there is nothing in it to change.
"""

import re
from collections.abc import Callable
from random import Random

Mutation = Callable[[str, list[str], Random], str]
NEGATABLE = r"\b(is|are|was|were|will|can|should|must|may|does|do|has|have)\b(?! not|n't)"
UNITS = {
    "bytes": "bits",
    "k": "M",
    "kB": "MB",
    "%": "‰",
    "seconds": "minutes",
    "second": "minute",
    "digits": "bits",
}
UNITS |= {
    "million": "billion",
    "times": "percent",
    "characters": "bytes",
    "bits": "bytes",
    "C": "D",
    "days": "weeks",
}
CYRILLIC = str.maketrans("aeopcxyiAEOPCTH", "аеорсхуіАЕОРСТН")
SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
SUBSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
BOLD = str.maketrans("0123456789", "𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗")
LOOKALIKE = str.maketrans("01", "Ol")


def _somewhere(pattern: str, new: Callable[[re.Match[str]], str]) -> Mutation:
    def mutate(quote: str, words: list[str], random: Random) -> str:
        places = list(re.finditer(pattern, quote))
        if not places:
            return quote
        place = random.choice(places)
        return quote[: place.start()] + new(place) + quote[place.end() :]

    return mutate


def _translated(pattern: str, table: dict[int, int]) -> Mutation:
    return _somewhere(pattern, lambda place: place[0].translate(table))


def _another_word(quote: str, words: list[str], random: Random) -> str:
    parts = quote.split(" ")
    parts[random.randrange(len(parts))] = random.choice(words)
    return " ".join(parts)


def _without_a_word(quote: str, words: list[str], random: Random) -> str:
    parts = quote.split()
    del parts[random.randrange(1, len(parts) - 1)]
    return " ".join(parts)


def _swapped_words(quote: str, words: list[str], random: Random) -> str:
    parts = quote.split()
    at = random.randrange(len(parts) - 1)
    parts[at], parts[at + 1] = parts[at + 1], parts[at]
    return " ".join(parts)


def _swapped_name(quote: str, words: list[str], random: Random) -> str:
    names = [word for word in words if word[:1].isupper() and word.isalpha()]
    return (
        _somewhere(r"(?<= )[A-Z][a-z]+", lambda _: random.choice(names))(quote, words, random)
        if names
        else quote
    )


def _splice(quote: str, words: list[str], random: Random) -> str:
    start = random.randrange(len(words) - 8)
    return " ".join([*quote.split()[:6], *words[start : start + 6]])


def _gap(quote: str, words: list[str], random: Random) -> str:
    parts = quote.split()
    return " ".join([*parts[:3], random.choice(("...", "…", "[...]", "[…]")), *parts[-3:]])


def _cut_off(quote: str, words: list[str], random: Random) -> str:
    tail = re.search(r"\w+$", quote)
    return quote[: tail.start() + len(tail[0]) // 2] if tail and len(tail[0]) > 1 else quote


def _begun_late(quote: str, words: list[str], random: Random) -> str:
    head = re.match(r"\w+", quote)
    return quote[len(head[0]) // 2 :] if head and len(head[0]) > 1 else quote


MUTATIONS: dict[str, Mutation] = {
    "digit changed": _somewhere(r"\d", lambda place: str((int(place[0]) + 3) % 10)),
    "digit dropped": _somewhere(r"\d", lambda _: ""),
    "digit added": _somewhere(r"\d", lambda place: place[0] + "7"),
    "point moved": _somewhere(r"\d\.\d", lambda place: place[0][0] + place[0][2] + "."),
    "point dropped": _somewhere(r"(?<=\d)[.,](?=\d)", lambda _: ""),
    "sign added": _somewhere(r"(?<= )\d", lambda place: "-" + place[0]),
    "sign dropped": _somewhere(r"(?<![\w])[-+−](?=\d)", lambda _: ""),
    "unit changed": _somewhere(
        r"\b(" + "|".join(unit for unit in UNITS if unit != "%") + r")\b|%", lambda place: UNITS[place[0]]
    ),
    "percent dropped": _somewhere("%", lambda _: ""),
    "negation added": _somewhere(NEGATABLE, lambda place: place[0] + " not"),
    "negation removed": _somewhere(r"\b(not|no|never) |n't|(?<=can)not|n[’]t", lambda _: ""),
    "prefix added": _somewhere(r"(?<= )[a-z]{5,}", lambda place: "un" + place[0]),
    "prefix dropped": _somewhere(r"(?<= )(un|in|non-|dis|re)(?=[a-z]{4})", lambda _: ""),
    "word dropped": _without_a_word,
    "word replaced": _another_word,
    "words swapped": _swapped_words,
    "name swapped": _swapped_name,
    "case changed": _somewhere(r"(?<= )[A-Za-z](?=\w)", lambda place: place[0].swapcase()),
    "spliced": _splice,
    "spliced with an ellipsis": _gap,
    "cut inside a word": _cut_off,
    "begun inside a word": _begun_late,
    "words run together": _somewhere(r"(?<=\w) (?=\w)", lambda _: ""),
    "words joined unseen": _somewhere(r"(?<=\w) (?=\w)", lambda _: "\u200b"),
    "word torn apart": _somewhere(r"(?<=[a-z]{3})(?=[a-z]{3})", lambda _: " "),
    "hyphen dropped": _somewhere(r"(?<=[a-z])-(?=[a-z])", lambda _: ""),
    "hyphen added": _somewhere(r"(?<=[a-z]{3})(?=[a-z]{3})", lambda _: "-"),
    "superscript": _translated(r"\d", SUPERSCRIPT),
    # In a formula or behind a variable a digit may be lowered: CO2, x1.
    "subscript": _translated(r"(?<=[^A-Za-z)\]])\d|(?<=[a-z]{4})\d", SUBSCRIPT),
    "digits of another script": _translated(r"\d+", ARABIC),
    "mathematical digits": _translated(r"\d", BOLD),
    "letters for digits": _translated(r"[01]", LOOKALIKE),
    "letters of another script": _translated(r"[aeopcxyiAEOPCTH]", CYRILLIC),
    "accent added": _somewhere(r"[aeioun]", lambda place: place[0] + "\u0301"),
    "struck through": _somewhere(r"[=<>a-z]", lambda place: place[0] + "\u0338"),
    "number turned round": _somewhere(r"\d{2,}", lambda place: "\u202e" + place[0][::-1] + "\u202c"),
}
