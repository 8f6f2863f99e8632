"""What a quote says otherwise than a passage, word by word."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

DIFFERENCES_MAX = 3
DIFFERENT_WORDS_MAX = 8


@dataclass(frozen=True, slots=True)
class Change:
    """Words of a page that a quote has otherwise; either may be empty."""

    says: str  # the page
    quoted: str
    before: str  # the page's word before it


def diff_words(there: list[str], here: list[str]) -> Iterator[Change]:
    """Where the words of a passage (there) and of a quote (here) part, leaving out what stands around the quote."""
    from rapidfuzz.distance import Indel

    i = j = 0
    for block in Indel.opcodes(there, here).as_matching_blocks():
        says, quoted = there[i : block.a], here[j : block.b]
        # What the page says before and after the passage is not left out.
        if i == 0 and says[: len(says) - len(quoted)]:
            says = says[len(says) - len(quoted) :]
        elif block.a == len(there):
            says = says[: len(quoted)]
            if " ".join(says).rstrip(".,;:!?") == " ".join(quoted):
                says = quoted = []
        if says or quoted:
            yield Change(" ".join(says), " ".join(quoted), there[i - 1] if i else "")
        i, j = block.a + block.size, block.b + block.size


def describe(found: list[Change]) -> str:
    """The changes in words, or nothing where they are too many or too long."""
    if not 0 < len(found) <= DIFFERENCES_MAX:
        return ""
    parts = []
    for change in found:
        if max(change.says.count(" "), change.quoted.count(" ")) >= DIFFERENT_WORDS_MAX:
            return ""
        if not change.quoted:
            parts.append(f"the page says {change.says!r}, which the quote leaves out")
        elif not change.says:
            parts.append(f"the quote says {change.quoted!r}, which the page does not")
        else:
            says, quoted = (
                _quoted_words(change.says, change.quoted),
                _quoted_words(change.quoted, change.says),
            )
            parts.append(f"the page says {says}, the quote {quoted}")
    return ", and ".join(parts)


def _quoted_words(words: str, other: str) -> str:
    """Words in quotation marks, with the names of letters that may look like those of the other words."""
    odd = sorted({letter for letter in words if not letter.isascii()})[:2] if other.isascii() else []
    named = " and ".join(unicodedata.name(letter, hex(ord(letter))) for letter in odd)
    return f"{words!r} (with {named})" if named else repr(words)
