"""What a judge sees of the source of a quote: the reading window around it, with the title, authors and date of the source."""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

import zstandard
from psycopg.rows import DictRow

from chiron_workers.db.queries import load
from chiron_workers.evidence.quotes.reading_window import (
    Excerpt,
    ReadingWindow,
    digest,
    join_excerpts,
    reading_window,
)
from chiron_workers.runs.session import Session
from chiron_workers.sources.sources import Snapshot

SQL = load(__file__)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class SourceView:
    """The words around a quote, and what their source says of itself.

    `excerpts` are in the order of the text, and `snapshot_hash` says which text that is.
    """

    snapshot_hash: str
    window: ReadingWindow
    excerpts: tuple[Excerpt, ...]
    address: str = ""
    title: str = ""
    author: str = ""
    published_at: datetime | None = None

    @classmethod
    def of(cls, source: Snapshot, window: ReadingWindow) -> Self:
        """The view of a window in the text of a source."""
        excerpts = window.excerpts_of(source.text)
        return cls(
            source.hash, window, excerpts, source.url, source.title, source.author, source.published_at
        )

    @property
    def digest(self) -> str:
        """The sha256, in hex, of what is seen: the words of the window, title, authors and date."""
        return hashlib.sha256(json.dumps([*self.head, self.window_hash]).encode()).hexdigest()

    @property
    def window_hash(self) -> str:
        """The sha256 of the words of the window, in hex."""
        return digest(self.excerpts)

    @property
    def text(self) -> str:
        """The window as one text."""
        return join_excerpts(self.excerpts)

    @property
    def page(self) -> str:
        """All that is seen, as one text: address, title, authors, date, window."""
        return _page([self])

    @property
    def head(self) -> list[str]:
        """Title, authors and date, a line each."""
        date = f"{self.published_at:%Y-%m-%d}" if self.published_at else ""
        fields = {"Title": self.title, "By": self.author, "Published": date}
        return [f"{name}: {' '.join(words.split())}" for name, words in fields.items() if words]


@dataclass(frozen=True, slots=True)
class SharedPage:
    """What several views show of one text: each passage once."""

    letter: str
    text: str


def share_pages(
    views: Sequence[SourceView | None], quotes: Sequence[str]
) -> tuple[list[SharedPage], list[str]]:
    """The pages of a question, and for each view the letter of its page; empty where there is none.

    Views of the same text are one page, unless one of their quotes would occur there twice, which would be ambiguous.
    """
    groups: dict[object, list[int]] = {}
    for place, view in enumerate(views):
        if view is not None:
            groups.setdefault((view.snapshot_hash, view.title, view.author, view.published_at), []).append(
                place
            )
    pages: list[SharedPage] = []
    letters = [""] * len(views)
    for places in groups.values():
        text = _page([views[place] for place in places])
        parts = [places]
        if len(places) > 1 and any(text.count(quotes[place]) > 1 for place in places):
            parts = [[place] for place in places]
        for part in parts:
            letter = letter_of(len(pages))
            pages.append(SharedPage(letter, _page([views[place] for place in part])))
            for place in part:
                letters[place] = letter
    return pages, letters


def letter_of(number: int) -> str:
    """A, B, ... Z, A1, B1, ..."""
    round_, place = divmod(number, len(LETTERS))
    return f"{LETTERS[place]}{round_ or ''}"


def _page(views: Sequence[SourceView | None]) -> str:
    seen = [view for view in views if view is not None]
    addresses = dict.fromkeys(view.address for view in seen if view.address)
    head = [*(f"Address: {address}" for address in addresses), *seen[0].head]
    excerpts = [excerpt for view in seen for excerpt in view.excerpts]
    return "\n".join(head) + "\n\n" + join_excerpts(excerpts)


async def load_views(
    session: Session, assertion_ids: Sequence[UUID | str], *, is_newest: bool = False
) -> Mapping[str, SourceView]:
    """The views of verified quotes by the ids of their assertions (facts and corroborations).

    A window that is not stored is found in the snapshot. Those whose text or quote is not kept are left out.

    Args:
        is_newest: Where the words around a quote have changed, show those of now.
    """
    args = {"ids": [str(assertion_id) for assertion_id in assertion_ids], "is_newest": is_newest}
    rows = await session.rows(SQL["places"], args)
    hashes = list(dict.fromkeys(row["snapshot_hash"] for row in rows))
    views: dict[str, SourceView] = {}
    for snapshot_hash in hashes:  # one text after another: each may have millions of characters
        body = await session.row(SQL["body"], {"hash": snapshot_hash})
        if body is not None:
            own_rows = [row for row in rows if row["snapshot_hash"] == snapshot_hash]
            views |= await asyncio.to_thread(_views_of, body["body"], own_rows)
    return views


def _views_of(body: bytes, rows: Sequence[DictRow]) -> dict[str, SourceView]:
    text = zstandard.decompress(body).decode()
    return {
        row["id"]: _view_of(row, text)
        for row in rows
        if 0 <= row["quote_start"] < row["quote_end"] <= len(text)
    }


def _view_of(row: DictRow, text: str) -> SourceView:
    window = _window_of(row, text)
    names = "snapshot_hash", "source_url", "title", "author", "published_at"
    snapshot_hash, *head = (row[name] for name in names)
    return SourceView(snapshot_hash, window, window.excerpts_of(text), *head)


def _window_of(row: DictRow, text: str) -> ReadingWindow:
    """The stored window; computed from the text if there is none, or if an earlier version has moved the quote."""
    if row["window_pieces"] is not None:
        window = ReadingWindow.from_rows(row["window_pieces"])
        if window.digest_of(text) == row["window_hash"]:
            return window
    return reading_window(text, row["quote_start"], row["quote_end"])
