"""Number formats of spreadsheets: what a cell shows beside its number, such as a percent sign, a currency or a unit."""

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from functools import lru_cache

CODE_CHARS_MAX = 255  # as Excel has it
SECTIONS_MAX = 3  # for numbers; a fourth one is for texts
# Formats that have a number instead of a code, as far as they show more than digits, or no day (ECMA-376, 18.8.30).
BUILT_IN = {9: "0%", 10: "0.00%", 16: "d-mmm", 17: "mmm-yy", 46: "[h]:mm:ss"}
TOKENS = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|[_*].|\[\$(?P<currency>[^\]-]*)(?:-[^\]]*)?\]|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<number>general|[0#?](?:[0#?.,]*[0#?])?(?:E[+-][0#?]+)?)(?P<thousands>,*)|(?P<date>[ymdhs]+|AM/PM)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
SECTION = re.compile(r'(?:"[^"]*"|\\.|\[[^\]]*\]|[^;"\\\[]|["\\\[])*', re.DOTALL)
ELAPSED_TIME = re.compile(r"h+|m+|s+", re.IGNORECASE)
COLOUR = re.compile(r"black|blue|cyan|green|magenta|red|white|yellow|colou?r ?\d{1,2}", re.IGNORECASE)
CONDITION = re.compile(r"(<=|>=|<>|=|<|>) ?(-?[0-9]{1,15}(?:\.[0-9]{1,15})?)")
COMPARISONS = {
    "<=": operator.le, ">=": operator.ge, "<>": operator.ne, "=": operator.eq, "<": operator.lt, ">": operator.gt,
}  # fmt: skip
SIGNS = frozenset("+-−()")  # of the number, which has its own


@dataclass(frozen=True, slots=True)
class Section:
    """How a format shows some numbers: what stands before and behind the number, which is shown `factor` times as large.

    Args:
        digits_min: How many digits stand before the point at least: 00501.
        masks: The places of digits with what stands between them, of codes such as 000-00-0000.
        date_parts: Which parts a date has where its day is not shown.
        is_read: Whether this says all that the sheet shows.
    """

    prefix: str = ""
    suffix: str = ""
    factor: Decimal = Decimal(1)
    condition: tuple[str, Decimal] | None = None
    digits_min: int = 0
    masks: tuple[str, ...] = ()
    date_parts: str = ""
    has_sign: bool = False
    has_number: bool = True
    shows_zero: bool = True
    is_read: bool = True

    @property
    def is_plain(self) -> bool:
        """Whether nothing but the number is shown."""
        has_more = (self.prefix + self.suffix).strip() or self.masks or self.date_parts or self.digits_min > 1
        return self.is_read and self.has_number and self.shows_zero and self.factor == 1 and not has_more

    def meets(self, value: float) -> bool:
        """Whether a number meets the condition of the section."""
        return self.condition is None or COMPARISONS[self.condition[0]](
            Decimal(repr(value)), self.condition[1]
        )


@dataclass(frozen=True, slots=True)
class CellFormat:
    """The sections of a format: one for all numbers, or some by the sign of the number, or by conditions."""

    sections: tuple[Section, ...]
    code: str = ""

    def section(self, value: float) -> Section | None:
        """The section for a number; None where the format has none, or which one is not certain."""
        if len(self.sections) == 1 and not self.sections[0].condition:
            return self.sections[0]
        conditional = [section for section in self.sections if section.condition]
        if not conditional:
            place = 1 if value < 0 else 0 if value > 0 or len(self.sections) < SECTIONS_MAX else 2
            return self.sections[place if place < len(self.sections) else 0]
        if section := next((section for section in conditional if section.meets(value)), None):
            return section if self.sections[: len(conditional)] == tuple(conditional) else None
        plain_sections = [section for section in self.sections if not section.condition]
        return (
            plain_sections[0] if len(plain_sections) == 1 and self.sections[-1] is plain_sections[0] else None
        )

    def shown(self, value: float | date) -> str | None:
        """The value as the sheet shows it, with all its digits; a format that rounds does not round here.

        None if the format is not supported, so the displayed text is unknown.
        """
        if isinstance(value, date):
            parts = self.sections[0].date_parts
            if not self.sections[0].has_number:
                return self.sections[0].prefix
            return value.isoformat()[: {"y": 4, "ym": 7}[parts]] if parts else None
        section = self.section(value)
        if section is None or not section.is_read or section.date_parts or not (value or section.shows_zero):
            return None
        try:
            number = abs(Decimal(repr(value)) * section.factor)
        except InvalidOperation:
            return str(value)
        if not section.has_number:
            return section.prefix.strip()
        digits = _masked(number, section.masks) if section.masks else _plain(number, section.digits_min)
        if digits is None:
            return None
        minus = "-" if value < 0 and not self._replaces_sign(section) else ""
        return f"{minus}{section.prefix}{digits}{section.suffix}".strip()

    def _replaces_sign(self, section: Section) -> bool:
        """Whether words say that a number is negative: down 3."""
        first = self.sections[0]
        is_negative = len(self.sections) > 1 and section is self.sections[1] and not section.condition
        has_words = (section.prefix, section.suffix) != (first.prefix, first.suffix)
        return is_negative and has_words and not section.has_sign and not first.condition


def parse_format(code: str) -> CellFormat | None:
    """The format of a code; None where nothing but digits or a whole date is shown."""
    sections = tuple(map(_parse, _split(code[:CODE_CHARS_MAX])[:SECTIONS_MAX]))
    return None if all(section.is_plain for section in sections) else CellFormat(sections, code)


@lru_cache(maxsize=1_000)
def fixed_format(prefix: str = "", suffix: str = "", *, digits_min: int = 0) -> CellFormat:
    """A format that shows the same words before and behind each number."""
    return CellFormat((Section(prefix, suffix, digits_min=digits_min),))


def fixed_text(text: str) -> CellFormat:
    """The format of a cell whose text is at hand."""
    return CellFormat((Section(text, has_number=False),))


def duration_text(value: timedelta) -> str:
    """Hours, minutes, seconds and their fraction, however many hours: 30:15, 0:00:09, 0:01:02.35."""
    milliseconds = round(abs(value).total_seconds() * 1000)
    seconds, milliseconds = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    sign = "-" if value < timedelta() else ""
    fraction = f".{milliseconds:03}".rstrip("0") if milliseconds else ""
    return f"{sign}{hours}:{minutes:02}" + (f":{seconds:02}{fraction}" if seconds or fraction else "")


def _split(code: str) -> list[str]:
    sections, start = list[str](), 0
    while (match := SECTION.match(code, start)) and len(sections) <= SECTIONS_MAX:
        sections.append(match[0])
        if match.end() >= len(code):
            break
        start = match.end() + 1
    return sections


def _parse(code: str) -> Section:
    tokens = list(TOKENS.finditer(code))
    numbers = [token["number"] for token in tokens if token["number"]]
    brackets = [token["bracket"] for token in tokens if token["bracket"]]
    condition = next((match for bracket in brackets if (match := CONDITION.fullmatch(bracket))), None)
    operator_and_limit = (condition[1], Decimal(condition[2])) if condition else None
    is_known = all(
        COLOUR.fullmatch(b) or CONDITION.fullmatch(b) or ELAPSED_TIME.fullmatch(b) for b in brackets
    )
    if any(token["date"] for token in tokens) or any(map(ELAPSED_TIME.fullmatch, brackets)):
        return _date_section(tokens, operator_and_limit)
    words = [
        (token["quoted"] or token["escaped"] or token["currency"] or token["other"] or "") for token in tokens
    ]
    if "@" in words or not tokens:  # a text, which a number is none of, or nothing at all
        return Section(condition=operator_and_limit, is_read="".join(words).strip() == "@")
    if len(numbers) > 1:
        return _code_section(tokens, words, operator_and_limit, is_known=is_known)
    return _number_section(tokens, words, operator_and_limit, is_known=is_known)


def _number_section(
    tokens: Sequence[re.Match[str]],
    words: Sequence[str],
    condition: tuple[str, Decimal] | None,
    *,
    is_known: bool,
) -> Section:
    prefix, suffix, factor, number, has_sign = "", "", Decimal(1), "", False
    is_number = any(token["number"] for token in tokens)
    for token, word in zip(tokens, words, strict=True):
        if token["number"]:
            factor /= Decimal(1000) ** len(token["thousands"])
            number = token["number"]
            continue
        if word == "%" and token.lastgroup == "other":
            factor *= 100
        if is_number and word.strip() in SIGNS:
            has_sign = has_sign or word.strip() in "-−("
        elif number:
            suffix += word
        else:
            prefix += word
    if not is_number:
        has_words = any(map(str.isalnum, prefix))  # A dash alone means zero, or an empty cell.
        return Section(prefix, condition=condition, has_number=False, is_read=is_known and has_words)
    whole = number.partition(".")[0]
    is_general = number.lower() == "general"
    return Section(
        prefix.lstrip(), suffix.rstrip(), factor, condition,
        digits_min=0 if is_general or "E" in number.upper() else whole.count("0"),
        has_sign=has_sign, shows_zero=is_general or "0" in number, is_read=is_known,
    )  # fmt: skip


def _code_section(
    tokens: Sequence[re.Match[str]],
    words: Sequence[str],
    condition: tuple[str, Decimal] | None,
    *,
    is_known: bool,
) -> Section:
    """The section of a code with several places of digits, such as a telephone number; fractions are plain numbers here."""
    parts = [token["number"] or word for token, word in zip(tokens, words, strict=True)]
    numbers = [token["number"] for token in tokens if token["number"]]
    literals = "".join(word for token, word in zip(tokens, words, strict=True) if not token["number"])
    is_fraction = "/" in literals
    is_code = all(
        set(number) <= {"0", "#"} and not token
        for number, token in zip(
            numbers, [token["thousands"] for token in tokens if token["number"]], strict=True
        )
    )
    if is_fraction:
        return Section(condition=condition, is_read=is_known and not literals.replace("/", "").strip())
    return Section(
        condition=condition, masks=tuple(parts), is_read=is_known and is_code and "%" not in literals
    )


def _date_section(tokens: Sequence[re.Match[str]], condition: tuple[str, Decimal] | None) -> Section:
    letters = {letter for token in tokens for letter in (token["date"] or "").lower()}
    is_time = letters & set("hs") or any(
        ELAPSED_TIME.fullmatch(token["bracket"]) for token in tokens if token["bracket"]
    )
    if is_time or letters >= set("ymd"):
        return Section(condition=condition)
    parts = {frozenset("y"): "y", frozenset("ym"): "ym"}.get(frozenset(letters), "")
    return Section(condition=condition, date_parts=parts, is_read=bool(parts))


def _plain(number: Decimal, digits_min: int) -> str:
    text = f"{number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    whole, point, decimals = text.partition(".")
    return f"{whole.zfill(digits_min)}{point}{decimals}"


def _masked(number: Decimal, masks: Sequence[str]) -> str | None:
    """The digits of a whole number in their places, from the last one on; what is left stands in the first."""
    if number != number.to_integral_value():
        return None
    digits, places = f"{number:.0f}", [n for n, mask in enumerate(masks) if set(mask) <= {"0", "#"}]
    parts = list(masks)
    for n in reversed(places):
        width = len(masks[n])
        part, digits = (digits, "") if n == places[0] else (digits[-width:], digits[:-width])
        if len(part) < width and "#" in masks[n]:
            return None
        parts[n] = part.zfill(width)
    return "".join(parts).strip()
