"""Text for output: words of models and pages made safe for a terminal, money and durations, and results as JSON."""

import dataclasses
import json
import re
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from chiron_workers.runs.usage import RunUsage, TokenCounts
from chiron_workers.states import Decider, Ground, Verdict

# Escape sequences, then what else a terminal obeys: controls, and marks that turn the direction of writing.
ESCAPE_SEQUENCES = re.compile(
    "\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])"
)
CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
VERDICT_WORDS = {
    Verdict.SUPPORTED: "supported by its quote",
    Verdict.PARTLY: "supported by its quote in part",
    Verdict.CONTRADICTED: "contradicted by its quote",
    Verdict.SILENT: "not in its quote",
    Verdict.UNCHECKED: "unchecked",
}
RULES_WORDS = {Verdict.PARTLY: "in doubt", Verdict.SUPPORTED: "unchecked"}  # Rules never confirm.
OWN_WORDS = "in the source's own words"  # a note on the wording, not a verdict


def printable(text: str) -> str:
    """The text without control characters and escape sequences that a terminal would obey; its lines stay."""
    if text.isprintable():  # most lines are, and hold none of them
        return text.strip()
    return CONTROLS.sub("", ESCAPE_SEQUENCES.sub("", text)).strip()


def one_line(text: str, *, chars_max: int = 300) -> str:
    """As `printable`, on one line, cut at `chars_max`."""
    line = " ".join(printable(text[: 4 * chars_max]).split())
    return cut(line, chars_max)


def cut(line: str, chars_max: int) -> str:
    """A line of at most so many characters; an ellipsis ends one that was longer."""
    return line if len(line) <= chars_max else f"{line[: chars_max - 1]}…"


def shorten_middle(text: str, chars_max: int) -> str:
    """A text of at most so many characters, its middle left out: topics of a batch often differ at their ends."""
    if len(text) <= chars_max:
        return text
    end = (chars_max - 1) // 2
    return f"{text[: chars_max - 1 - end].rstrip()}…{text[len(text) - end :].lstrip()}"


def as_json(value: object) -> str:
    """One line of JSON: dataclasses as objects, ids and times as text, money as a number."""
    return ENCODER.encode(value)


def count(number: int, singular: str, plural: str = "") -> str:
    """ "1 fact", "2 facts"."""
    return f"{number:,} {singular if number == 1 else plural or f'{singular}s'}"


def usd(amount: Decimal | float | None) -> str:
    """Money for people: four digits where it is small; None is not known."""
    if amount is None:
        return "unknown"
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def facts_phrase(new: int, confirmed: int, cited: int = 0) -> str:
    """How many facts runs have stored first, and how many others they have confirmed and cite."""
    parts = [count(new, "new fact")]
    parts += [f"{number:,} {word}" for number, word in ((confirmed, "confirmed"), (cited, "cited")) if number]
    return ", ".join(parts)


def cost_of(usage: RunUsage) -> str:
    """What something has cost, for people; of an unknown cost the part that is known."""
    if usage.spent_usd is None and usage.spent_usd_min:
        return f"unknown, at least {usd(usage.spent_usd_min)}"
    return usd(usage.spent_usd)


def cost_phrase(usage: RunUsage) -> str:
    """As `cost_of`, where nothing beside it says that it is a cost."""
    return f"cost {cost_of(usage)}" if usage.spent_usd is None else cost_of(usage)


def services_phrase(usage: RunUsage) -> str:
    """What of a cost hosted embedding models and search providers charge; empty where it is nothing."""
    if usage.services_usd is not None:
        return f"{usd(usage.services_usd)} of it" if usage.services_usd else ""
    return f"unknown, at least {usd(usage.services_usd_min)}" if usage.services_usd_min else "unknown"


def tokens(usage: TokenCounts) -> str:
    """Tokens for people, by how they are billed."""
    return ", ".join(f"{count:,} {name}" for name, count in tokens_by_name(usage).items())


def tokens_by_name(usage: TokenCounts) -> dict[str, int]:
    """Tokens by the words that name them wherever people read of them."""
    return {
        "fresh": usage.input_tokens,
        "cache read": usage.cache_read_tokens,
        "cache write": usage.cache_write_tokens,
        "out": usage.output_tokens,
    }


def token_sum(usage: TokenCounts) -> int:
    """All tokens, however they are billed."""
    return sum(tokens_by_name(usage).values())


def validity(valid_from: str | None, valid_until: str | None) -> str:
    """From when until when something is so, for people; empty where nobody knows."""
    parts = [f"from {valid_from}" if valid_from else "", f"until {valid_until}" if valid_until else ""]
    return " ".join(["valid", *filter(None, parts)]) if any(parts) else ""


def local_time(at: datetime, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """A time in the zone of this machine, which stands behind it."""
    return f"{at.astimezone():{form} %Z}"


DAYS_FROM_S = 2 * 86_400  # up to two days, hours say more


def duration(seconds: float) -> str:
    """A time span for people: 7s, 3m 12s, 2h 05m, 3d 4h."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02}s"
    if whole < DAYS_FROM_S:
        return f"{whole // 3600}h {whole % 3600 // 60:02}m"
    return f"{whole // 86_400}d {whole % 86_400 // 3600}h"


def span(seconds: float) -> str:
    """A time span for people, with a digit behind the point where it is short: 1.5s, 3m 12s."""
    return duration(seconds) if seconds >= 10 else f"{seconds:.1f}s"


def _json_value(value: Any) -> Any:
    match value:
        case date():  # and datetime
            return value.isoformat()
        case UUID():
            return str(value)
        case Decimal():
            return float(value)
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_unset=True)
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no form in JSON")


ENCODER = json.JSONEncoder(default=_json_value)


def verdict_and_judge(
    verdict: Verdict,
    judge: str,
    *,
    ground: Ground = Ground.STANDS,
    observed_at: datetime | None = None,
    is_verbatim: bool = False,
) -> str:
    """Whether a quote supports its statement, who judged that, and what became of its source since it was read."""
    is_by_rules = judge == Decider.RULES
    words = (RULES_WORDS if is_by_rules else {}).get(verdict, VERDICT_WORDS[verdict])
    is_judged = words != VERDICT_WORDS[Verdict.UNCHECKED]
    by = f", by {'the rules' if is_by_rules else judge}" if judge and is_judged else ""
    wording = f", {OWN_WORDS}" if is_verbatim else ""
    if ground is Ground.STANDS:
        return f"{words}{by}{wording}"
    if ground is Ground.CONTEXT_CHANGED and verdict.is_doubt:  # which may be about these words
        return f"{words}{by}{wording}; {ground.loss}"
    read_at = f" when it was read on {observed_at:%Y-%m-%d}" if observed_at else " when it was read"
    return f"{words}{read_at if is_judged else ''}{by}{wording}; {ground.loss}"
