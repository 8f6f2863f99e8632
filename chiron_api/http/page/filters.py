"""How the page writes numbers, money, times and words of strangers."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from urllib.parse import SplitResult, urlsplit

from markdown_it import MarkdownIt
from markupsafe import Markup

from chiron_api.http.page.charts import shares_of
from chiron_api.reports.phrasing import DECIDERS
from chiron_api.text import (
    cost_of,
    duration,
    local_time,
    one_line,
    printable,
    services_phrase,
    span,
    token_sum,
    usd,
    validity,
    verdict_and_judge,
)
from chiron_api.text import count as phrase
from chiron_api.views.differences import counts_line
from chiron_workers.batches.summaries import BatchSummary
from chiron_workers.documents.omissions import describe
from chiron_workers.ids import time_of
from chiron_workers.knowledge.facts.fact_details import AssertionDetails, RelatedFact
from chiron_workers.knowledge.rows.values import written
from chiron_workers.states import FINAL_STATES, Decider, RunState, Verdict

THIN_SPACE = "\u202f"
SPANS = ((60, "s", 1), (3_600, "min", 60), (172_800, "h", 3_600), (float("inf"), "d", 86_400))
HOST_CHARS = 80
UUID_TEXT = re.compile(r"\b([0-9a-f]{8})(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
CONFIDENCES = (
    (0.95, "very high confidence"),
    (0.85, "high confidence"),
    (0.7, "fair confidence"),
    (0.4, "low confidence"),
)


def number(value: float) -> str:
    """A number with thin spaces between its thousands."""
    return f"{value:,}".replace(",", THIN_SPACE)


def ago(at: datetime) -> str:
    """How long ago a time was, or how soon it is; the script of the page says it the same way."""
    seconds = (datetime.now(UTC) - at).total_seconds()
    unit, size = next((unit, size) for end, unit, size in SPANS if abs(seconds) < end)
    span = f"{abs(seconds) / size:.0f} {unit}"
    return f"in {span}" if seconds < 0 else f"{span} ago"


def day(at: datetime) -> str:
    """A day as forms have it."""
    return f"{at:%Y-%m-%d}"


def plural(count: int, noun: str) -> str:
    """A count with its noun: 1 run, 1 200 runs."""
    return phrase(count, noun).replace(",", THIN_SPACE)


def excerpt(text: str | None, chars_max: int = 300) -> str:
    """The beginning of a text, on one line."""
    return one_line(text or "", chars_max=chars_max)


def host(address: str) -> str:
    """Where a source is: its host, or the document's name in a corpus."""
    parts = _split(address)
    if parts.scheme == "corpus":
        return one_line(parts.path.rpartition("/")[2] or address, chars_max=HOST_CHARS)
    return one_line((parts.hostname or address).removeprefix("www."), chars_max=HOST_CHARS)


def is_web(address: str) -> bool:
    """Whether a browser can follow an address; any other is shown as text."""
    return _split(address).scheme in ("http", "https")


def _split(address: str) -> SplitResult:
    """The parts of an address that a model or a page wrote; of what is none, none."""
    try:
        return urlsplit(address)
    except ValueError:
        return SplitResult("", "", address, "", "")


def confidence_words(confidence: float) -> str:
    """A confidence in words."""
    return next((words for least, words in CONFIDENCES if confidence >= least), "very low confidence")


def verdict(source: AssertionDetails) -> str:
    """Whether the quote of a source supports its statement, who judged that, and whether the words are the same."""
    return one_line(
        verdict_and_judge(Verdict(source.verdict), source.verdict_by, is_verbatim=source.is_verbatim)
    )


def decided(other: RelatedFact) -> str:
    """Who says how two facts stand to each other."""
    return DECIDERS[Decider(other.decided_by)]


def time_left(batch: BatchSummary) -> timedelta | None:
    """How long the open runs of a batch will take at the pace so far; None before two have ended."""
    ended_runs = sum(batch.runs[state] for state in FINAL_STATES)
    open_runs = batch.runs[RunState.QUEUED] + batch.runs[RunState.RUNNING]
    if ended_runs < 2 or not open_runs or batch.started_at is None:
        return None
    return (datetime.now(UTC) - batch.started_at) / ended_runs * open_runs


def coded(text: str) -> Markup:
    """A sentence with the commands in it, which stand between backticks, as code."""
    parts = enumerate(printable(text).split("`"))
    return Markup().join(Markup("<code>{}</code>").format(part) if n % 2 else part for n, part in parts)


@cache
def _markdown() -> MarkdownIt:
    # Words of a model may lay out a text, and neither link nor load anything.
    return MarkdownIt("js-default", {"html": False, "breaks": True}).disable(
        ["link", "image", "autolink", "html_inline", "html_block"]
    )


def markdown(text: str) -> Markup:
    """A text in Markdown as HTML: its headings, lists, tables and emphasis. Links and HTML in it stay text."""
    return Markup(_markdown().render(printable(text)))  # noqa: S704  # markdown-it escapes what is no Markdown


def short_ids(text: str) -> str:
    """A sentence with each id cut to its beginning."""
    return UUID_TEXT.sub(r"\1…", text)


FILTERS: dict[str, Callable[..., Any]] = {
    "differences": counts_line,
    "short_ids": short_ids,
    "cell_text": written,
    "absolute": local_time,
    "ago": ago,
    "clean": printable,
    "coded": coded,
    "confidence_words": confidence_words,
    "cost": cost_of,
    "services": services_phrase,
    "decided": decided,
    "day": day,
    "duration": duration,
    "excerpt": excerpt,
    "host": host,
    "is_web": is_web,
    "left_out": describe,
    "made_at": time_of,
    "markdown": markdown,
    "number": number,
    "plural": plural,
    "shares": shares_of,
    "span": span,
    "time_left": time_left,
    "token_sum": token_sum,
    "usd": usd,
    "validity": lambda source: validity(source.valid_from, source.valid_until),
    "verdict": verdict,
}
