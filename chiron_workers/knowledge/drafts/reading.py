"""Drafts as they were handed in. Whoever reads one loads nothing of what holds sentences to their facts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.evidence.standing_alone import open_reference
from chiron_workers.states import Decider, Verdict

SQL = load(__file__)
UNCHECKED_MARK = "in its fact's words, meaning unchecked"
UNCHECKED_TITLE_MARK = "heading unchecked"
SUMMARY = 0  # the place of the section that comes first, whose title is ours
TITLE_KEY = itemgetter("place", "title", "title_verdict_by")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a draft, with the ids of the facts it rests on."""

    text: str
    fact_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DraftSentence(Sentence):
    """A sentence that its facts support, as the model `verdict_by` found, or an unjudged one in a fact's own words."""

    verdict_reason: str
    verdict_by: str

    @property
    def verdict(self) -> Verdict:
        """`supported` by a model's judgement, else `unchecked`."""
        return verdict_of(self.verdict_by)

    @property
    def mark(self) -> str:
        """What a reader must know before relying on it; empty where there is nothing."""
        return mark_of(self.text, self.verdict_by)


@dataclass(frozen=True, slots=True)
class DraftSection:
    """A section of a draft; place 0 is the summary. `title_mark` says that no model has judged its title."""

    place: int
    title: str
    sentences: tuple[DraftSentence, ...]
    title_mark: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a run has handed in."""

    run_id: UUID
    model: str
    handed_in_at: datetime
    sections: tuple[DraftSection, ...]


async def latest_draft(pool: Pool, scope: str, *, owner: str | None = None) -> Draft | None:
    """The draft on a scope (the id of a batch or a run, or a subject) that was handed in last; None where there is none.

    Args:
        owner: Whose it is to be; None: anybody's.
    """
    rows = await fetch_all(pool, SQL["latest"], {"scope": scope, "owner": owner})
    if not rows:
        return None
    sentences = await fetch_all(pool, SQL["sentences"], {"run_id": rows[0]["run_id"]})
    return Draft(**rows[0], sections=sections_of(sentences))


async def scope_of_runs(pool: Pool, target: UUID) -> str | None:
    """What the runs of a batch, or a run, write a draft on; None where they write none."""
    rows = await fetch_all(pool, SQL["scope"], {"id": target})
    return rows[0]["scope"] if rows else None


def sections_of(rows: Sequence[DictRow]) -> tuple[DraftSection, ...]:
    """Sections from the rows of their sentences, which come in order."""
    return tuple(
        DraftSection(place, title, tuple(_sentence(row) for row in section_rows), title_mark_of(place, judge))
        for (place, title, judge), section_rows in groupby(rows, key=TITLE_KEY)
    )


def _sentence(row: DictRow) -> DraftSentence:
    return DraftSentence(row["text"], tuple(row["fact_ids"]), row["verdict_reason"], row["verdict_by"])


def mark_of(text: str, judge: str) -> str:
    """What a reader must know before relying on a sentence that `judge` held to its facts; empty where a model did."""
    if verdict_of(judge) is not Verdict.UNCHECKED:
        return ""
    word = open_reference(text)
    return UNCHECKED_MARK + (f', perhaps unclear without its neighbours ("{word}")' if word else "")


def title_mark_of(place: int, judge: str) -> str:
    """What a reader must know before relying on the title of a section; empty where a model judged it, and for the summary."""
    return UNCHECKED_TITLE_MARK if place != SUMMARY and verdict_of(judge) is Verdict.UNCHECKED else ""


def verdict_of(judge: str) -> Verdict:
    """The verdict on a sentence of a draft or a cell of a table, by its judge: rules confirm nothing."""
    return Verdict.UNCHECKED if judge in ("", Decider.RULES) else Verdict.SUPPORTED
