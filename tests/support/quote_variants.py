"""How a true quote, or the page it is of, can look otherwise and say the same: typesetting, copied PDF text, HTML."""

import html
import re
import unicodedata
from collections.abc import Callable
from random import Random

Variant = Callable[[str, Random], str]
NAMED = {
    "\xa0": "&nbsp;",
    "’": "&rsquo;",
    "‘": "&lsquo;",
    "“": "&ldquo;",
    "”": "&rdquo;",
    "—": "&mdash;",
    "–": "&ndash;",
}
NAMED |= {
    '"': "&quot;",
    "'": "&#39;",
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    "-": "&#45;",
    "…": "&hellip;",
    "é": "&eacute;",
}
LIGATURES = {"ffi": "ﬃ", "ffl": "ﬄ", "ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ"}
FULL_WIDTH = {
    code: code + 0xFEE0
    for code in map(ord, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789,;:!?()%")
}


def curled(text: str, random: Random) -> str:
    """With typographic quotation marks and apostrophes."""
    text = re.sub(r'(?<![\w.,])"', "“", text).replace('"', "”")
    return re.sub(r"(?<!\w)'", "‘", text).replace("'", "’")


def ligatured(text: str, random: Random) -> str:
    """With the ligatures of f."""
    for letters, ligature in LIGATURES.items():
        text = text.replace(letters, ligature)
    return text


def dashed(text: str, random: Random) -> str:
    """With hyphens, dashes and minus signs of other kinds."""
    text = re.sub(
        r"(?<=\w) -{1,2} (?=\w)|(?<=[a-z])--(?=[a-z])", lambda _: random.choice(("—", " — ", " – ")), text
    )
    text = re.sub(r"(?<=\d)-(?=\d)", "–", text)
    return re.sub(r"(?<!\S)-(?=\d)", "−", re.sub(r"(?<=[a-z])-(?=[a-z])", "\u2011", text))


def spaced(text: str, random: Random) -> str:
    """With other white space between the words."""
    gaps = "\xa0", "\u2009", "\n", "  ", "\t", " \n ", "\u202f", "\u3000", "\r\n"
    return re.sub(r" +", lambda _: random.choice((*gaps, " ", " ", " ")), text)


def sprinkled(text: str, random: Random) -> str:
    """With characters that cannot be seen within the words."""
    unseen = "\u200b", "\xad", "\u2060", "\ufeff", "\u200e"
    return re.sub(r"(?<=\w)(?=\w)", lambda _: random.choice(unseen) if random.random() < 0.1 else "", text)


def wrapped(text: str, random: Random) -> str:
    """Set in narrow lines, with words broken at their ends, as copied from a PDF."""
    return "\n\n".join(_lines(part, random.randrange(30, 70)) for part in re.split(r"\n\s*\n", text))


def _lines(text: str, width: int) -> str:
    lines = [""]
    for word in text.split():
        room = width - len(lines[-1])
        whole = re.match(r"[a-z]{4,}", word)
        head = min(room, len(whole[0]) - 2) if whole else 0
        if len(word) <= room:
            lines[-1] += word + " "
        elif head > 1:
            lines[-1] += word[:head] + "-"
            lines.append(word[head:] + " ")
        else:
            lines.append(word + " ")
    return "\n".join(line.rstrip() for line in lines)


def named(text: str, random: Random) -> str:
    """With HTML entities for all that has a well-known one."""
    return "".join(NAMED.get(letter, letter) for letter in text)


def numbered(text: str, random: Random) -> str:
    """With numeric HTML entities, decimal or hexadecimal, for whatever is no letter or digit, and some that are."""
    return "".join(
        random.choice((f"&#{ord(letter)};", f"&#x{ord(letter):X};"))
        if (not letter.isalnum() and letter not in " \n") or random.random() < 0.05
        else letter
        for letter in text
    )


def tightened(text: str, random: Random) -> str:
    """Without the gaps around relations and before per cent signs."""
    return re.sub(r"(?<=[\d.]) (?=%)|(?<=\w) (?=[<>=≤≥] )|(?<=\w [<>=≤≥]) ", "", text)


VARIANTS: dict[str, Variant] = {
    "as it is": lambda text, _: text,
    "curled quotation marks": curled,
    "ligatures": ligatured,
    "dashes": dashed,
    "white space": spaced,
    "unseen characters": sprinkled,
    "decomposed letters": lambda text, _: unicodedata.normalize("NFD", text),
    "ellipsis": lambda text, _: text.replace("...", "…"),
    "no gaps around relations": tightened,
    "full-width letters and digits": lambda text, _: text.translate(FULL_WIDTH),
    "first letter": lambda text, _: text[0].swapcase() + text[1:] if text[1:2].islower() else text,
    "in quotation marks": lambda text, random: random.choice(("“{}”", '"{}"', " {} ", "«{}»", "'{}'")).format(
        text
    ),
    "copied PDF text": wrapped,
    "copied PDF text with ligatures": lambda text, random: ligatured(wrapped(text, random), random),
    "copied PDF text, lines joined": lambda text, random: wrapped(text, random).replace("\n", " "),
    "escaped": lambda text, _: html.escape(text),
    "named entities": lambda text, random: named(curled(text, random), random),
    "numeric entities": numbered,
}
# What the page can be while the quote is clean.
SETTINGS: dict[str, Variant] = {
    "page set with curled quotation marks": curled,
    "page set with ligatures": ligatured,
    "page set with dashes": dashed,
    "page set with other white space": lambda text, random: "\n\n".join(
        spaced(part, random) for part in text.split("\n\n")
    ),
    "page set with soft hyphens": sprinkled,
    "page copied from a PDF": wrapped,
    "page copied from a PDF with ligatures": lambda text, random: ligatured(wrapped(text, random), random),
}
