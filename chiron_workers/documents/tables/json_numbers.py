"""Numbers of JSON that DuckDB would round: they become texts, so that ids keep all their digits."""

import re
from decimal import Decimal

# Only these may lose digits: 16 digits and points in a row, or an exponent. A file without them is not searched token by token.
SHAPES = bytes(
    ord("0")
    if chr(n) in "0123456789."
    else ord("e")
    if chr(n) in "eE"
    else ord("+")
    if chr(n) in "+-"
    else ord(" ")
    for n in range(256)
)
LONG = (b"0" * 16, b"0e0", b"0e+")
FLOAT = re.compile(r"[0-9]\.[0-9]|[0-9][eE]")
TOKENS = re.compile(
    r'"(?:[^"\\]|\\.)*+"|(?<![\w.])-?[0-9](?:[0-9.]{15,}(?:[eE][+-]?[0-9]+)?|[0-9.]*[eE][+-]?[0-9]+)(?![\w.])',
    re.DOTALL,
)
EXACT_MAX = 2**53  # up to which a floating number holds each integer
LONG_MIN, LONG_MAX = -(2**63), 2**64 - 1
DIGITS_MAX = 400  # a longer one is text without a look: to convert it takes long


def quote_long_numbers(text: str) -> tuple[str, int]:
    """JSON with quotes around the numbers that a type of DuckDB does not give back, and how many these are."""
    shapes = text.encode().translate(SHAPES)
    if not any(shape in shapes for shape in LONG):
        return text, 0
    has_floats = bool(FLOAT.search(text))  # beside which integers are floating numbers
    changes = 0

    def quote(match: re.Match[str]) -> str:
        nonlocal changes
        token = match[0]
        if token[0] == '"' or _survives(token, has_floats=has_floats):
            return token
        changes += 1
        return f'"{token}"'

    return TOKENS.sub(quote, text), changes


def _survives(token: str, *, has_floats: bool) -> bool:
    if len(token) > DIGITS_MAX:
        return False
    if token.lstrip("-").isdigit():
        number = int(token)
        return abs(number) <= EXACT_MAX or (not has_floats and LONG_MIN <= number <= LONG_MAX)
    try:
        return Decimal(repr(float(token))) == Decimal(token)
    except (ValueError, ArithmeticError):
        return True  # no number of JSON, as the parser says better
