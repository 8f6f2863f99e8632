"""Numbers as they are written: digits with their groups, words, powers of ten and scales such as million."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from chiron_workers.evidence.figures.cjk_numerals import CONTINUOUS_SCRIPTS, read_cjk_numerals
from chiron_workers.evidence.vocabulary import lines, words

_ONES_WORDS, _TENS = words("ones"), words("tens")
_SMALL = {word: n for n, word in enumerate(_ONES_WORDS)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_SCALES = {
    "hundred": 10**2,
    "dozen": 12,
    "thousand": 10**3,
    "lakh": 10**5,
    "lac": 10**5,
    "million": 10**6,
    "crore": 10**7,
    "billion": 10**9,
    "trillion": 10**12,
    "quadrillion": 10**15,
}
_SHORT_SCALES = {"k": 10**3, "m": 10**6, "mn": 10**6, "b": 10**9, "bn": 10**9, "tn": 10**12}
_VULGAR = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅛": "1/8"}
_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_WORD = "|".join([*_SMALL, *_SCALES])
# Scales in other languages, each as it is written behind digits: 3 Mio., 12 लाख, ٥ ملايين, 5 ล้าน.
_SCALES_ABROAD = {
    word: 10 ** int(power) for power, *names in map(str.split, lines("scales abroad")) for word in names
}
_ABROAD = "|".join(
    re.escape(word).replace("_", "[ -]") for word in sorted(_SCALES_ABROAD, key=len, reverse=True)
)
_DIGITS = re.compile(
    rf"(?<![.,/^])(?<![^\W{CONTINUOUS_SCRIPTS}])(?<![A-Za-z]-)(?P<sign>(?<!\d)[-+]|\bminus |)"
    # 1,50,000 is Indian; two groups behind dots, as in 1.250.000, are no decimals.
    r"(?P<digits>\d{1,2}(?:,\d{2})+,\d{3}(?!\d)(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}(?![\d.])(?:,\d+)?|"
    r"\d{1,3}(?:[,' ]\d{3})+(?![\d])(?:\.\d+)?|\d+(?:\.\d+|,\d{1,2}(?!\d))?|(?<![\d.])\.\d+)"
    r"(?P<vulgar>[½⅓⅔¼¾⅛]?)(?P<raised>(?<=10)(?:\^-?\d+|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?"
    r"(?:(?:\s*[×x*·]\s*10(?:\^|\*\*)?(?P<power>-?\d+|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))|e(?P<exponent>[-+]?\d+))?"
    rf"(?P<scales>(?:[ -](?i:{'|'.join(_SCALES)})s?\b)*)(?P<short>(?:k|bn|mn|tn|K|M|B)\b)?"
    rf"(?P<abroad>(?:[ -]?(?:{_ABROAD})(?![^\W{CONTINUOUS_SCRIPTS}])){{0,2}})",
)
_REST_MIN = 100  # of what stands behind a scale without one of its own; less may count something else
_NUMBER_WITH_SIGNS = re.compile(r"(?<!\d)\d{1,12}(?:[.,/]\d{1,12}){1,5}(?!\d)")
_SCALE_ABROAD = re.compile(_ABROAD)
_SCALE_WORD = re.compile(rf"(?<![^\W{CONTINUOUS_SCRIPTS}])(?:{_ABROAD})(?![^\W{CONTINUOUS_SCRIPTS}])")
_WORDS = re.compile(
    rf"(?<![\w])(?P<half>half an? )?(?P<article>an? (?=(?:few )?(?:{'|'.join(_SCALES)})s?\b))?"
    rf"(?:{_WORD})s?(?:[ -](?:and )?(?:{_WORD})s?)*(?!\w)",
    re.I,
)
_MONEY_SHORT = re.compile(r" ?(m|bn|mn|tn|b|k)\b", re.I)


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number at `text[start:end]`; `step` is what its last digit counts in (1,000 for 384,000)."""

    value: Fraction
    step: Fraction
    start: int
    end: int
    in_digits: bool = True
    is_one: bool = False  # the word `one`, which counts only before a unit


def read_numerals(text: str) -> Iterator[Numeral]:
    """Every number of a text, in order."""
    numbers = [
        Numeral(number.value, number.step, number.start, number.end, in_digits=number.in_digits)
        for number in read_cjk_numerals(text)
        if number.is_certain
    ]
    is_read = bytearray(len(text))
    for number in numbers:
        is_read[number.start : number.end] = b"\1" * (number.end - number.start)
    for match in _DIGITS.finditer(text):
        if not any(is_read[match.start() : match.end()]):
            numbers.append(_from_digits(match))
            is_read[match.start() : match.end()] = b"\1" * len(match[0])
    for match in _WORDS.finditer(text):
        number_of_words = _from_words(match)
        if number_of_words is not None and not any(is_read[match.start() : match.end()]):
            numbers.append(number_of_words)
    return _join_scales(text, sorted(numbers, key=lambda number: number.start))


def _join_scales(text: str, numbers: Sequence[Numeral]) -> Iterator[Numeral]:
    """The numbers, and as one what a scale parts: 1 crore 50 lakh, 2 लाख 30 हज़ार, ۲۵ هزار و ۳۰۰."""
    whole: Numeral | None = None
    for number in numbers:
        if whole is not None and _continues(text, whole, number):
            whole = replace(number, value=whole.value + number.value, start=whole.start)
            continue
        if whole is not None:
            yield whole
        whole = number
    if whole is not None:
        yield whole


def _continues(text: str, whole: Numeral, number: Numeral) -> bool:
    gap = text[whole.end : number.start]
    if gap not in {" ", " و "} or not (whole.in_digits and number.in_digits) or number.value <= 0:
        return False
    has_scale = not text[number.end - 1].isdecimal()
    is_smaller = number.value < whole.step and not text[whole.end - 1].isdecimal()
    return is_smaller and (has_scale or number.value >= _REST_MIN)


def loose_numbers(text: str) -> Iterator[Fraction]:
    """The further numbers that a text may mean: 1.234 as 1,234, 12,5 and ۳/۵ as decimals, 四 in any word."""
    for match in _NUMBER_WITH_SIGNS.finditer(text):
        whole, *groups = re.split(r"[.,/]", match[0])
        if all(len(group) == 3 for group in groups):
            yield Fraction(whole + "".join(groups))
        *middle, decimals = groups
        if all(len(group) in {2, 3} for group in middle):
            yield Fraction(f"{whole}{''.join(middle)}.{decimals}")
    for number in read_cjk_numerals(text):
        yield number.value


def scales_in_words(text: str) -> Iterator[tuple[int, int]]:
    """The scales of other languages, each with its place, whatever stands before them: the हज़ार of पंद्रह हज़ार."""
    for match in _SCALE_WORD.finditer(text):
        yield _SCALES_ABROAD[_scale_abroad(match[0])], match.start()


def money_scale(text: str, end: int) -> tuple[int, int]:
    """The scale that a letter behind an amount of money stands for ($5m, £3bn), and where it ends; else 1 and `end`."""
    match = _MONEY_SHORT.match(text, end)
    if match is None:
        return 1, end
    return _SHORT_SCALES[match[1].lower()], match.end()


def _from_digits(match: re.Match[str]) -> Numeral:
    plain = re.sub(r"[' ]", "", match["digits"])
    if plain.count(".") > 1:
        plain = plain.replace(".", "")
    if re.search(r",\d{3}", plain):
        plain = plain.replace(",", "")
    plain = plain.replace(",", ".")
    whole, _, decimals = plain.partition(".")
    zeros = 0 if decimals else len(whole) - len(whole.rstrip("0"))
    value = Fraction(plain if not plain.startswith(".") else "0" + plain)
    step = Fraction(1, 10 ** len(decimals)) if decimals else Fraction(10 ** min(zeros, len(whole) - 1))
    if match["vulgar"]:
        value, step = value + Fraction(_VULGAR[match["vulgar"]]), Fraction(1, 4)
    if match["raised"]:  # 10⁹ alone
        value = step = Fraction(10) ** _power(match["raised"])
    factor = Fraction(10) ** _power(match["power"] or match["exponent"] or "0")
    factor *= prod(_SCALES[word.removesuffix("s")] for word in re.findall(r"[a-z]+", match["scales"].lower()))
    factor *= prod(_SCALES_ABROAD[_scale_abroad(word)] for word in _SCALE_ABROAD.findall(match["abroad"]))
    factor *= _SHORT_SCALES.get((match["short"] or "").lower(), 1)
    sign = -1 if match["sign"] in {"-", "minus "} else 1
    return Numeral(sign * value * factor, step * factor, match.start(), match.end())


def _scale_abroad(written: str) -> str:
    return written if written in _SCALES_ABROAD else re.sub("[ -]", "_", written)


def _power(digits: str) -> int:
    return max(-60, min(60, int(digits.translate(_POWERS).lstrip("^"))))


def _from_words(match: re.Match[str]) -> Numeral | None:
    parts = [
        word for word in re.findall(r"[a-z]+", match[0].lower()) if word not in {"and", "a", "an", "half"}
    ]
    parts = [word if word in _SMALL or word in _SCALES else word.removesuffix("s") for word in parts]
    if parts[0] in _SMALL and f"{parts[0]}s" in match[0].lower():
        return None  # "tens of"
    if parts == ["one"]:
        return Numeral(Fraction(1), Fraction(1), match.start(), match.end(), in_digits=False, is_one=True)
    if parts[0] in _SCALES and not match["article"] and not match["half"]:
        return None  # a pronoun; "thousands of"
    total, part = 0, 0
    for word in parts:
        if word in _SMALL:
            part += _SMALL[word]
        elif word in {"hundred", "dozen"}:
            part = max(part, 1) * _SCALES[word]
        else:
            total, part = total + max(part, 1) * _SCALES[word], 0
    smallest = _SCALES.get(parts[-1], 1)
    value = Fraction(total + part) * (Fraction(1, 2) if match["half"] else 1)
    return Numeral(value, Fraction(smallest), match.start(), match.end(), in_digits=False)
