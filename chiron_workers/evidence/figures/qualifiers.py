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

_EAST_ABOUT = re.compile(r"(?:約|约|大约|大約|およそ|ほぼ|近|将近|將近|약) ?$")
_EAST_AT_LEAST = re.compile(r"(?:超过|超過|超|逾|至少|少なくとも|최소) ?$")
_EAST_AT_MOST = re.compile(r"(?:不到|不足|至多|最多|最大|최대) ?$")
_EAST_MORE = re.compile(r"\w?(?:以上|余り|余(?!年)|多(?!个|個)|이상)")
_EAST_LESS = re.compile(r"\w?(?:以下|以内|未満|未满|이하|미만)")


def qualify(text: str, quantity: Quantity) -> Quantity:
    """A quantity as the words around it make it: open to one side, or said to be rounded."""
    before = text[max(0, quantity.start - BEFORE_CHARS) : quantity.start]
    if quantity.dimension == "name":
        return quantity
    low, high = quantity.low, quantity.high
    match = about = _ABOUT.search(before) or _EAST_ABOUT.search(before)
    at_most = _AT_MOST.search(before) or _EAST_AT_MOST.search(before)
    at_least = _AT_LEAST.search(before) or _EAST_AT_LEAST.search(before)
    if match is None and (match := at_most) is not None:
        low = -inf
    elif (match is None and (match := at_least) is not None) or _continues(
        (_OR_MORE, _EAST_MORE), text, quantity.end
    ):
        high = inf
    elif _continues((_OR_LESS, _EAST_LESS), text, quantity.end):
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


def _continues(patterns: tuple[re.Pattern[str], ...], text: str, place: int) -> bool:
    return any(pattern.match(text, place) for pattern in patterns)
