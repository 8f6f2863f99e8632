"""Texts in other signs than letters and digits: braille, Morse code, Chinese numerals, and the keys of a telephone."""

import re
import unicodedata
from collections.abc import Iterator

BRAILLE_FIRST, BRAILLE_LAST = "\u2800", "\u28ff"
# The dots of each letter in uncontracted braille, as a word of bits: dot 1 is the lowest.
_DOTS = "1 12 14 145 15 124 1245 125 24 245 13 123 134 1345 135 1234 12345 1235 234 2345 136 1236 2456 1346 13456 1356"
BRAILLE = {
    0x2800 + sum(1 << (int(dot) - 1) for dot in dots): letter
    for letter, dots in zip("abcdefghijklmnopqrstuvwxyz", _DOTS.split(), strict=True)
}
BRAILLE_DIGITS = {
    cell: "1234567890"[ord(letter) - ord("a")] for cell, letter in BRAILLE.items() if letter <= "j"
}
NUMBER_SIGN = "\u283c"
_MORSE = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. "
    ".---- ..--- ...-- ....- ..... -.... --... ---.. ----. -----"
)
MORSE = dict(zip(_MORSE.split(), "abcdefghijklmnopqrstuvwxyz1234567890", strict=True))
STROKES = str.maketrans({"·": ".", "•": ".", "−": "-", "–": "-", "—": "-", "_": "-", "/": " ", "|": " "})
MORSE_SIGN = re.compile(r"(?<!\S)[.-]{1,5}(?!\S)")
SIGNS_MIN = 4
CHINESE_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1_000, "仟": 1_000}
CHINESE_MYRIADS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
CHINESE_NUMBER = re.compile(r"[〇零一二三四五六七八九壹贰貳叁參肆伍陆陸柒捌玖两兩十拾百佰千仟万萬亿億]{2,40}")
KEYS = str.maketrans("abcdefghijklmnopqrstuvwxyz", "22233344455566677778889999")
TAPS = re.compile(r"(?<!\S)(?:2{1,3}|3{1,3}|4{1,3}|5{1,3}|6{1,3}|7{1,4}|8{1,3}|9{1,4})(?!\S)")
LETTERS_OF_KEYS = {
    "2": "abc",
    "3": "def",
    "4": "ghi",
    "5": "jkl",
    "6": "mno",
    "7": "pqrs",
    "8": "tuv",
    "9": "wxyz",
}
KEYPAD_NUMBER = re.compile(r"[2-9](?:[ .-]?[2-9]){6,99}")
KEYPAD_CHARS_MIN = 7  # shorter numbers are keys of too many words


def in_letters(text: str) -> Iterator[str]:
    """The text that signs encode: each sign is a letter or a digit."""
    if not text.isascii():
        yield from _from_braille(text)
        yield "".join(map(_digit, text))
        yield CHINESE_NUMBER.sub(lambda match: str(_value(match[0])), text)
    signs = MORSE_SIGN.findall(text.translate(STROKES))
    if len(signs) >= SIGNS_MIN:
        yield "".join(MORSE.get(sign, " ") for sign in signs)
    taps = TAPS.findall(text)
    if len(taps) >= SIGNS_MIN:
        yield "".join(LETTERS_OF_KEYS[keys[0]][len(keys) - 1] for keys in taps)


def keypad_numbers(text: str) -> set[str]:
    """The numbers of a text by which words can be typed on the keys of a telephone."""
    return {re.sub(r"\D", "", number) for number in KEYPAD_NUMBER.findall(text)}


def keys_of(word: str) -> str:
    """The keys of a telephone for a word in plain letters."""
    return word.translate(KEYS)


def _from_braille(text: str) -> Iterator[str]:
    if any(BRAILLE_FIRST <= sign <= BRAILLE_LAST for sign in text):
        yield text.replace("\u2800", " ").translate(BRAILLE)
        yield text.replace("\u2800", " ").replace(NUMBER_SIGN, "").translate(BRAILLE_DIGITS)


def _digit(sign: str) -> str:
    """A sign that is a numeral below ten as a digit, any other as it is."""
    value = unicodedata.numeric(sign, -1.0) if sign > "\x7f" else -1.0
    return str(int(value)) if value in range(10) else sign


def _value(numerals: str) -> int:
    """A Chinese number with its tens, hundreds and thousands; digits alone are read one behind the other."""
    total, section, digits = 0, 0, ""
    for sign in numerals:
        if sign in CHINESE_MYRIADS:
            total = (total + section + int(digits or 0)) * CHINESE_MYRIADS[sign]
            section, digits = 0, ""
        elif sign in CHINESE_UNITS:
            section += int(digits or 1) * CHINESE_UNITS[sign]
            digits = ""
        else:
            digits += {"两": "2", "兩": "2"}.get(sign) or _digit(sign)
    return total + section + int(digits or 0)
