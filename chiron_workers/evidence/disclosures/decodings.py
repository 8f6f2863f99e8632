"""What a text says when it is read in the usual codes: base64, base32, hex, letter codes, spelled, backwards, ROT13."""

import base64
import binascii
import codecs
import html
import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote

CODE = re.compile(r"[A-Za-z0-9+/_=-]{6,}")
HEX = re.compile(r"[0-9a-f]{6,}")
NOT_HEX = re.compile(r"0x|\\x|[^0-9a-f]")
CHARACTER_CODES = re.compile(r"(?<!\d)\d{2,3}(?!\d)")
PRINTABLE_SHARE_MIN = 0.8
DEPTH_MAX = 2
READINGS_MAX = 400
CHARS_MAX = 20_000  # of a text whose readings are tried

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
    """The text itself, then what it says in other codes, and in codes of codes; some of it is noise."""
    text = text[:CHARS_MAX]
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
    yield "".join(chr(int(code)) for code in CHARACTER_CODES.findall(text))
    compact = "".join(text.split())
    chunks = list(dict.fromkeys([*CODE.findall(text), *CODE.findall(compact), compact]))[:READINGS_MAX]
    for chunk in chunks:
        yield from _from_bytes(chunk)
    for digits in HEX.findall(NOT_HEX.sub("", text.lower())):
        yield from (_text(bytes.fromhex(part)) for part in _whole(digits, 2))
    for run in HEX.findall(text.lower()):
        yield from (_text(bytes.fromhex(part)) for part in _whole(run, 2))


def _from_bytes(chunk: str) -> Iterator[str]:
    plain = re.sub(r"[^A-Za-z0-9+/]", "", chunk.replace("-", "+").replace("_", "/"))
    yield from (_tried(base64.b64decode, part) for part in _whole(plain, 4))
    letters = re.sub(r"[^A-Z2-7]", "", chunk.upper())
    yield from (_tried(base64.b32decode, part) for part in _whole(letters, 8))


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
