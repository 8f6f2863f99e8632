"""What a text says when it is read in the usual codes: base64, base32, hex, letter codes, spelled, backwards, ROT13."""

import base64
import binascii
import codecs
import html
import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import unquote

CODE = re.compile(r"[A-Za-z0-9+/_=-]{6,}")
HEX = re.compile(r"[0-9a-f]{6,}")
NOT_HEX = re.compile(r"0x|\\x|[^0-9a-f]")
CHARACTER_CODES = re.compile(r"(?<!\d)\d{2,3}(?!\d)")
JOINED_CODE = re.compile(r"1[0-2]\d|0?[3-9]\d")  # a decimal code of a printable character tells where it ends
JOINED_CODES = re.compile(rf"(?:{JOINED_CODE.pattern}){{3,}}")
OCTAL_CODES = re.compile(r"(?<!\d)0?[01]?[0-7]{2}(?!\d)")
BITS = re.compile(r"(?<!\d)[01]{7,8}(?!\d)")
JOINED_BITS = re.compile(r"[01]{16,}")
LETTER_NUMBERS = re.compile(r"(?<!\d)(?:2[0-6]|1\d|0?[1-9])(?!\d)")
NUMBER = re.compile(r"\b(?:0x[0-9a-f]{1,16}|0b[01]{1,60}|0o[0-7]{1,20})\b", re.IGNORECASE)
SCIENTIFIC_NUMBER = re.compile(r"(?<![\w.])(\d+)(?:\.(\d+))?e\+?(\d{1,2})\b", re.IGNORECASE)
PRINTABLE_SHARE_MIN = 0.8
DEPTH_MAX = 2

ALPHABET = {
    name: sign
    for sign, names in {
        "a": "alpha alfa", "b": "bravo", "c": "charlie", "d": "delta", "e": "echo", "f": "foxtrot", "g": "golf",
        "h": "hotel", "i": "india", "j": "juliett juliet", "k": "kilo", "l": "lima", "m": "mike", "n": "november",
        "o": "oscar", "p": "papa", "q": "quebec", "r": "romeo", "s": "sierra", "t": "tango", "u": "uniform",
        "v": "victor", "w": "whiskey whisky", "x": "xray", "y": "yankee", "z": "zulu", "0": "zero null", "1": "one",
        "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven", "8": "eight", "9": "nine niner",
    }.items()
    for name in names.split()
}  # fmt: skip


def readings(text: str, *, depth: int = DEPTH_MAX) -> Iterator[str]:
    """The text itself, then what it says in other codes, and in codes of codes; some of it is noise.

    All of the text is read: what stands behind a thousand other words or codes counts as well. There are only so many readings.
    """
    yield text
    if depth == 0:
        return
    for version in dict.fromkeys(_decoded(text)):
        if version == text:
            continue
        yield version
        if depth > 1 and _is_legible(version):
            yield from readings(version, depth=depth - 1)


def _decoded(text: str) -> Iterator[str]:
    yield unquote(text)
    yield html.unescape(text)
    yield text[::-1]
    yield codecs.encode(text, "rot13")
    yield from _from_numbers(text)
    compact = "".join(text.split())
    chunks = list(dict.fromkeys([*CODE.findall(text), *CODE.findall(compact), compact]))
    yield from _sorted_out(_in_bytes(chunks))
    yield from _sorted_out(_in_hex([*HEX.findall(NOT_HEX.sub("", text.lower())), *HEX.findall(text.lower())]))


def _from_numbers(text: str) -> Iterator[str]:
    """Codes of characters and numbers of letters as the letters they stand for, and numbers in decimal digits."""
    yield "".join(chr(int(code)) for code in CHARACTER_CODES.findall(text))
    yield " ".join(
        "".join(chr(int(code)) for code in JOINED_CODE.findall(codes)) for codes in JOINED_CODES.findall(text)
    )
    yield "".join(chr(int(code, 8)) for code in OCTAL_CODES.findall(text))
    yield "".join(chr(int(code, 2)) for code in BITS.findall(text))
    runs = JOINED_BITS.findall(text)
    for start in range(8 if runs else 0):
        yield " ".join(_from_bits(bits[start:]) for bits in runs)
    yield "".join(chr(ord("a") + int(number) - 1) for number in LETTER_NUMBERS.findall(text))
    yield SCIENTIFIC_NUMBER.sub(_in_full, NUMBER.sub(lambda match: str(int(match[0], 0)), text))


def _from_bits(bits: str) -> str:
    return "".join(chr(int(bits[place : place + 8], 2)) for place in range(0, len(bits) - 7, 8))


def _in_full(match: re.Match[str]) -> str:
    """A number such as 4.82e7 without its exponent."""
    whole, fraction, exponent = match[1], match[2] or "", int(match[3])
    digits = whole + fraction.ljust(exponent, "0")
    return digits[: len(whole) + exponent]


def _sorted_out(versions: Iterable[str]) -> Iterator[str]:
    """Many short readings as two texts: a legible one, and noise that may hold a word."""
    legible: list[str] = []
    noise: list[str] = []
    for version in dict.fromkeys(versions):
        (legible if _is_legible(version) else noise).append(version)
    yield " ".join(legible)
    yield " ".join(noise)


def _in_bytes(chunks: Iterable[str]) -> Iterator[str]:
    for chunk in chunks:
        plain = re.sub(r"[^A-Za-z0-9+/]", "", chunk.replace("-", "+").replace("_", "/"))
        yield from (_tried(base64.b64decode, part) for part in _whole(plain, 4))
        letters = re.sub(r"[^A-Z2-7]", "", chunk.upper())
        yield from (_tried(base64.b32decode, part) for part in _whole(letters, 8))


def _in_hex(runs: Iterable[str]) -> Iterator[str]:
    for digits in dict.fromkeys(runs):
        yield from (_text(bytes.fromhex(part)) for part in _whole(digits, 2))


def _whole(digits: str, size: int) -> Iterator[str]:
    """The digits from each place on where a group can begin, filled up or cut so that groups of a size come out even."""
    for start in range(min(size, len(digits))):
        part = digits[start:]
        gap = -len(part) % size
        yield part[: len(part) - len(part) % size] if size == len("ff") else part + "=" * gap


def _tried(decode: Callable[[str], bytes], digits: str) -> str:
    try:
        return _text(decode(digits))
    except binascii.Error:
        return ""


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _is_legible(text: str) -> bool:
    signs = sum(sign.isascii() and sign.isprintable() for sign in text)
    return bool(text) and signs >= PRINTABLE_SHARE_MIN * len(text)
