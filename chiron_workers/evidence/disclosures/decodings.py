"""What a text says when it is read in the usual codes: base64, base32, hex, letter codes, spelled, backwards, ROT13.

`signs` reads signs that encode letters.
"""

import base64
import binascii
import codecs
import html
import re
import string
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import unquote

from chiron_workers.evidence.disclosures.signs import in_letters

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
LONG_NUMBER = re.compile(r"\d{8,4000}")  # bytes of a text, read as one number
OCTAL_NUMBER = re.compile(r"[0-7]{10,4000}")
BASE85 = re.compile(r"[!-~]{6,}")
UU = re.compile(r"[!-`]{6,}")
BASE64 = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
BASE32 = string.ascii_uppercase + "234567"
# Other alphabets of the same codes, letter for letter.
UU_ALPHABET = str.maketrans("`" + "".join(map(chr, range(33, 96))), BASE64)
XX_ALPHABET = str.maketrans("+-" + string.digits + string.ascii_uppercase + string.ascii_lowercase, BASE64)
BASE32_ALPHABETS = tuple(
    str.maketrans(digits, BASE32)
    for digits in (
        string.digits + "ABCDEFGHIJKLMNOPQRSTUV",  # base32hex
        string.digits + "ABCDEFGHJKMNPQRSTVWXYZ",  # Crockford's
        "YBNDRFG8EJKMCPQXOT1UWISZA345H769",  # z-base-32
    )
)
LAYERS_MAX = 24  # of base64 and its like around each other; each makes a text longer by a third
BRANCHES_MAX = 8
PRINTABLE_SHARE_MIN = 0.8
LETTERS_SHARE_MIN = 0.8
RARE_BYTES_MIN = 6
CHUNK_CHARS_MIN = 8
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
    for version in dict.fromkeys(_decoded(text, is_outermost=depth == DEPTH_MAX)):
        if version == text:
            continue
        yield version
        if depth > 1 and _is_legible(version):
            yield from readings(version, depth=depth - 1)


def _decoded(text: str, *, is_outermost: bool) -> Iterator[str]:
    yield unquote(text)
    yield html.unescape(text)
    yield text[::-1]
    yield codecs.encode(text, "rot13")
    if not text.isascii():
        yield unicodedata.normalize("NFKC", text)  # codes in letters and digits of full width
    yield from in_letters(text)
    if "+" in text:
        yield text.encode("ascii", "ignore").decode("utf-7", "ignore")
    yield from _from_numbers(text)
    compact = "".join(text.split())
    chunks = list(dict.fromkeys([*CODE.findall(text), *CODE.findall(compact), compact]))
    hex_runs = [*HEX.findall(NOT_HEX.sub("", text.lower())), *HEX.findall(text.lower())]
    datas, hex_datas = list(_in_bytes(chunks)), list(_in_hex(hex_runs))
    yield from _sorted_out(map(_text, datas))
    yield from _sorted_out(map(_text, hex_datas))
    if is_outermost:
        datas = [*datas, *hex_datas, *_in_other_codes(text, compact, chunks)]
        yield " ".join(dict.fromkeys([*_in_words(datas), *_peeled(datas)]))


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


def _in_words(datas: Iterable[bytes]) -> Iterator[str]:
    """What bytes say in UTF-8 or EBCDIC, where that is surely a text: short noise would look like private words."""
    for data in datas:
        if len(data) >= RARE_BYTES_MIN:
            yield from filter(_is_of_letters, (_text(data), data.decode("cp037")))


def _in_other_codes(text: str, compact: str, chunks: Iterable[str]) -> Iterator[bytes]:
    yield from _in_other_alphabets(text, compact, chunks)
    for base, pattern in ((10, LONG_NUMBER), (8, OCTAL_NUMBER)):
        for digits in pattern.findall(text):
            number = int(digits, base)  # of which the bytes of a text were made
            yield number.to_bytes((number.bit_length() + 7) // 8)
    for base, pattern in ((10, CHARACTER_CODES), (8, OCTAL_CODES), (2, BITS)):
        yield bytes(code for digits in pattern.findall(text) if (code := int(digits, base)) < 256)
    if not text.isascii():  # some bytes of EBCDIC are white space in Latin-1
        yield from (word.encode("latin-1", "ignore") for word in text.split(" ") if not word.isascii())


def _peeled(datas: Iterable[bytes]) -> Iterator[str]:
    """What stands in codes within codes of bytes, however many."""
    layer = list(dict.fromkeys(filter(_is_legible, map(_text, datas))))
    for _ in range(LAYERS_MAX):
        codes = [code for version in layer if CODE.fullmatch(code := "".join(version.split()))]
        inner = (data for code in codes[:BRANCHES_MAX] for data in _in_code(code))
        layer = [version for version in dict.fromkeys(map(_text, inner)) if _is_legible(version)]
        if not layer:
            return
        yield from layer


def _in_code(code: str) -> Iterator[bytes]:
    yield from _in_bytes([code])
    yield from _in_hex(HEX.findall(code.lower()))
    yield from _in_other_alphabets(code, code, [code])


def _in_bytes(chunks: Iterable[str]) -> Iterator[bytes]:
    for chunk in chunks:
        plain = re.sub(r"[^A-Za-z0-9+/]", "", chunk.replace("-", "+").replace("_", "/"))
        yield from (_tried(base64.b64decode, part) for part in _whole(plain, 4))
        letters = re.sub(r"[^A-Z2-7]", "", chunk.upper())
        yield from (_tried(base64.b32decode, part) for part in _whole(letters, 8))


def _in_other_alphabets(text: str, compact: str, chunks: Iterable[str]) -> Iterator[bytes]:
    for run in [*UU.findall(text), *UU.findall(compact)]:
        yield from (_tried(base64.b64decode, part) for part in _whole(run.translate(UU_ALPHABET), 4))
    for chunk in chunks:
        has_digits = any(sign.isdecimal() for sign in chunk)
        if len(chunk) < CHUNK_CHARS_MIN or not (has_digits or "+" in chunk):  # a word, as most are
            continue
        plain = re.sub(r"[^A-Za-z0-9+-]", "", chunk).translate(XX_ALPHABET)
        yield from (_tried(base64.b64decode, part) for part in _whole(plain, 4))
        if chunk in (chunk.upper(), chunk.lower()):
            letters = re.sub(r"[^A-Z0-9]", "", chunk.upper())
            for alphabet in BASE32_ALPHABETS:
                yield from (_tried(base64.b32decode, part) for part in _whole(letters.translate(alphabet), 8))
    for run in BASE85.findall(text):
        yield _tried(base64.b85decode, run)
        yield _tried(base64.a85decode, run.removeprefix("<~").removesuffix("~>"))


def _in_hex(runs: Iterable[str]) -> Iterator[bytes]:
    for digits in dict.fromkeys(runs):
        yield from (bytes.fromhex(part) for part in _whole(digits, 2))


def _whole(digits: str, size: int) -> Iterator[str]:
    """The digits from each place on where a group can begin, filled up or cut so that groups of a size come out even."""
    for start in range(min(size, len(digits))):
        part = digits[start:]
        gap = -len(part) % size
        yield part[: len(part) - len(part) % size] if size == len("ff") else part + "=" * gap


def _tried(decode: Callable[[str], bytes], digits: str) -> bytes:
    try:
        return decode(digits)
    except (binascii.Error, ValueError):
        return b""


def _text(data: bytes) -> str:
    """Bytes as text in UTF-8; in UTF-16, plain letters have a zero byte each."""
    return data.replace(b"\0", b"").decode("utf-8", "replace")


def _is_legible(text: str) -> bool:
    signs = sum(sign.isascii() and sign.isprintable() for sign in text)
    return bool(text) and signs >= PRINTABLE_SHARE_MIN * len(text)


def _is_of_letters(text: str) -> bool:
    letters = sum(sign.isascii() and (sign.isalnum() or sign == " ") for sign in text)
    return bool(text) and letters >= LETTERS_SHARE_MIN * len(text)
