"""What the words before and behind a number make of it: at least, up to, about."""

import re
from dataclasses import replace
from math import inf

from chiron_workers.evidence.figures.quantities import Quantity

BEFORE_CHARS = 40
_MONEY = r" ?(?:the |an? |some |about )?(?:[$€£¥]|US\$)?$"
_LIMIT = re.compile(
    r"(?:\b(?:at (?:least|most)|up to|(?:no|not) (?:more|fewer|less|longer|larger|higher|faster) than|maximum of|"
    r"minimum of)|[≥≤])" + _MONEY,
    re.I,
)
_AT_LEAST = re.compile(
    r"(?:\b(?:at least|(?:more|greater|larger|higher|longer|older) than|(?:no|not) (?:fewer|less) than|over|above|"
    r"beyond|exceed\w*|minimum of|upwards of|in excess of|starting (?:at|from)|topp\w+|surpass\w*)|[>≥])"
    + _MONEY,
    re.I,
)
_AT_MOST = re.compile(
    r"(?:\b(?:at most|up to|(?:no|not) (?:more|longer|larger|higher|faster) than|"
    r"(?:less|fewer|lower|smaller|shorter|younger) than|under|below|maximum of|as many as|as much as|within|not exceed\w*|"
    r"capped at)|[<≤])" + _MONEY,
    re.I,
)
_ABOUT = re.compile(
    r"(?:\b(?:about|approximately|approx\.?|around|roughly|some|circa|ca\.|c\.|nearly|almost|close to|"
    r"(?:just|a little) (?:over|under)|slightly (?:over|under|more than|less than|above|below)|(?:an )?estimated(?: at)?|"
    r"on average|in the (?:region|order) of|well over|more or less)|~|≈)" + _MONEY,
    re.I,
)
_OR_MORE = re.compile(r",? (?:or|and) (?:more|older|higher|above|over|greater|longer)\b|\+(?!\w)")
_OR_LESS = re.compile(r",? (?:or|and) (?:less|fewer|younger|lower|below|under|shorter)\b")


def qualify(text: str, quantity: Quantity) -> Quantity:
    """A quantity as the words around it make it: open to one side, or said to be rounded."""
    before = text[max(0, quantity.start - BEFORE_CHARS) : quantity.start]
    if quantity.dimension == "name":
        return quantity
    low, high = quantity.low, quantity.high
    match = about = _ABOUT.search(before)
    if match is None and (match := _AT_MOST.search(before)) is not None:
        low = -inf
    elif (match is None and (match := _AT_LEAST.search(before)) is not None) or _OR_MORE.match(
        text, quantity.end
    ):
        high = inf
    elif _OR_LESS.match(text, quantity.end):
        low = -inf
    start = quantity.start - len(before) + match.start() if match else quantity.start
    return replace(
        quantity,
        low=low,
        high=high,
        written=text[start : quantity.end].strip(),
        start=start,
        is_about=about is not None,
        is_limit=match is not None and _LIMIT.search(before) is not None,
    )
