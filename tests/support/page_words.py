"""Whether a text occurs in a page, by its words: another comparison than the one under test, and slower."""

import re
import unicodedata


def comparable_words(text: str) -> list[str]:
    """The words of a text without what only the typesetter chose; case, signs within words and digits stay."""
    letters = []
    for letter in unicodedata.normalize("NFC", text):
        name = unicodedata.name(letter, "")
        if letter.isspace():
            letters.append(" ")
        elif "LIGATURE F" in name:
            letters.append(unicodedata.normalize("NFKC", letter))
        elif "DASH" in name:
            letters.append(" ")
        elif ("HYPHEN" in name and letter != "\xad") or ("MINUS SIGN" in name and letter == "−"):
            letters.append("-")
        elif "APOSTROPHE" in name or "QUOTATION MARK" in name or letter == "`":
            letters.append("'" if "SINGLE" in name or name == "APOSTROPHE" or letter == "`" else '"')
        elif unicodedata.category(letter) != "Cf":
            letters.append(letter)
    parts = re.sub(r"-{2,}|(?<= )-(?= )", " ", f" {''.join(letters)} ").split()
    return [word for part in parts if (word := part.strip(".,;:!?()[]{}\"'*…"))]


def comparable_page(text: str) -> str:
    """A page as `occurs` takes it."""
    return f" {' '.join(comparable_words(text))} "


def occurs(quote: str, page: str) -> bool:
    """Whether a quote occurs in a page as it is, or with its first letter large or small: dropped from "the The"."""
    words = " ".join(comparable_words(quote))
    return f" {words} " in page or f" {words[:1].swapcase()}{words[1:]} " in page
