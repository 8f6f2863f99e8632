"""Number formats of spreadsheets: what a cell shows beside its number, such as a percent sign, a currency or a unit."""

import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal, InvalidOperation

CODE_CHARS_MAX = 255  # as Excel has it
# Formats that have a number instead of a code, as far as they show more than digits (ECMA-376, 18.8.30).
BUILT_IN = {9: "0%", 10: "0.00%", 46: "[h]:mm:ss"}
TOKENS = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|[_*].|\[\$(?P<currency>[^\]-]*)(?:-[^\]]*)?\]|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<number>general|[0#?](?:[0#?.,]*[0#?])?(?:E[+-][0#?]+)?)(?P<thousands>,*)|(?P<date>[ymdhs]+|AM/PM)|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
ELAPSED_TIME = re.compile(r"h+|m+|s+", re.IGNORECASE)
SIGNS = "+-()/"  # of the number, which has its own, and of fractions


@dataclass(frozen=True, slots=True)
class CellFormat:
    """What stands before and behind a number; the number is shown `factor` times as large."""

    prefix: str = ""
    suffix: str = ""
    factor: Decimal = Decimal(1)

    def shown(self, value: float) -> str:
        """The number as the sheet shows it, with all its digits; a format that rounds does not round here."""
        try:
            number = Decimal(repr(value)) * self.factor
        except InvalidOperation:
            return str(value)
        return f"{self.prefix}{_plain(number)}{self.suffix}".strip()


def parse_format(code: str) -> CellFormat | None:
    """The format of a code, by its part for positive numbers; None for a date and where nothing but digits is shown."""
    prefix, suffix, factor, has_number = "", "", Decimal(1), False
    for token in TOKENS.finditer(_first_section(code[:CODE_CHARS_MAX])):
        kind = token.lastgroup
        if kind == "date" or (kind == "bracket" and ELAPSED_TIME.fullmatch(token["bracket"])):
            return None
        if token["number"]:
            if has_number:  # Two numbers, as in telephone numbers: what stands between them is no unit.
                return None
            factor /= Decimal(1000) ** len(token["thousands"])
            has_number = True
            continue
        words = token["quoted"] or token["escaped"] or token["currency"] or token["other"] or ""
        if words == "%":
            factor *= 100
        if words in SIGNS and kind == "other":
            continue
        if has_number:
            suffix += words
        else:
            prefix += words
    if not has_number or (factor == 1 and not (prefix + suffix).strip()):
        return None
    return CellFormat(prefix.lstrip(), suffix.rstrip(), factor)


def duration_text(value: timedelta) -> str:
    """Hours, minutes and seconds, however many hours: 30:15, 0:00:09."""
    seconds = round(abs(value).total_seconds())
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    sign = "-" if value < timedelta() else ""
    return f"{sign}{hours}:{minutes:02}" + (f":{seconds:02}" if seconds else "")


def _first_section(code: str) -> str:
    match = re.match(r'(?:"[^"]*"|\\.|[^;"\\])*', code, re.DOTALL)
    return match[0] if match else code


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
