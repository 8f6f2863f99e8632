"""Changes of sources after facts were taken from them: another text, none any more, or one again."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any
from uuid import UUID

import zstandard
from psycopg.rows import DictRow
from psycopg.types.json import Json

from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.pipelines import Statement
from chiron_workers.db.queries import load
from chiron_workers.documents.document import READER_VERSION, UnreadableError
from chiron_workers.errors import ToolValidationError
from chiron_workers.runs.session import Session
from chiron_workers.sources.sources import Snapshot, canonical
from chiron_workers.states import ChangeKind, Ground

if TYPE_CHECKING:
    from chiron_workers.evidence.quotes.context_changes import ContextChange
    from chiron_workers.evidence.quotes.drift import Drift

SQL = load(__file__)
ASSERTIONS_MAX = 2_000  # that are held against one text
TEXTS_MAX = 20  # older ones, whose contexts are held against it
NAMED_MAX = 10
COMPARISON_TIMEOUT_S = 30
CONTEXT_MARK = f"{Ground.CONTEXT_CHANGED}: the quote still stands there, the words around it have changed"
REREAD_AFTER = timedelta(hours=1)  # A check for robots, a notice or a wrong page is over by then, as a rule.


@dataclass(frozen=True, slots=True)
class SourceChange:
    """The latest change of an address. `read_at` is when it was last read before, `hash` its text now (None: gone).

    `facts` rest on what it gave before, and those of `lost_facts` on words that it gives no more; `lost` are the ids of
    their assertions. `agreement` is the share of the sentences of before that still stand, None where that is not known.
    `reread`: the same bytes, which our readers read otherwise now.
    """

    url: str
    kind: ChangeKind
    at: datetime
    read_at: datetime
    hash: str | None
    reason: str
    facts: int
    agreement: float | None
    reread: bool
    is_checked: bool
    lost: tuple[str, ...]
    lost_facts: tuple[str, ...]

    def mark(self, assertion_id: str) -> str:
        """The remark for an assertion that rests on this source; empty where none is needed."""
        if self.kind is ChangeKind.GONE:
            return f"source gone since {self.at:%Y-%m-%d}"
        if assertion_id in self.lost:
            return f"source changed since {self.read_at:%Y-%m-%d}: the quote no longer stands there"
        return ""

    def note(self) -> str:
        """The note for a reader of the source."""
        if self.kind is ChangeKind.GONE:
            facts_note = f", and {_facts(self.facts)} on it" if self.facts else ""
            return f"It was last read on {self.read_at:%Y-%m-%d}; what it said then is kept{facts_note}."
        again = "answers again, and " if self.kind is ChangeKind.BACK else ""
        share = (
            "" if self.agreement is None else f" ({_percent(self.agreement)} of its sentences still stand)"
        )
        has = f"This source {again}has changed since {self.read_at:%Y-%m-%d}{share}"
        if self.agreement == 1:
            has = f"This source {again}says again what it said on {self.read_at:%Y-%m-%d}" if again else has
        if not self.is_checked and not self.reread:
            return f"{has}. Facts stay as they are until a later reading says the same."
        return f"{has}{self._facts_note()}."

    def _facts_note(self) -> str:
        if not self.facts or not self.is_checked:
            return ""
        if not self.lost_facts:
            return f": {_facts(self.facts)} on the older text, and every quote still stands"
        count = len(self.lost_facts)
        fact_ids = ", ".join(self.lost_facts[:NAMED_MAX]) + (", ..." if count > NAMED_MAX else "")
        quotes_note = f"the quote{' of 1' if count == 1 else f's of {count:,}'} no longer stand{'s' if count == 1 else ''}"
        return f": {_facts(self.facts)} on the older text, and {quotes_note} ({fact_ids})"


def source_mark(assertion_id: str, ground: str, change: SourceChange | None) -> str:
    """The remark for an assertion on what became of its source, with the day where it is known; empty where it stands."""
    if ground == Ground.RETRACTED:
        return str(Ground.RETRACTED)
    if ground == Ground.CONTEXT_CHANGED:
        return CONTEXT_MARK
    mark = change.mark(assertion_id) if change else ""
    return mark or ("" if ground == Ground.STANDS else ground)


class SourceChanges:
    """Stored changes of sources."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def of(self, urls: Iterable[str]) -> dict[str, SourceChange]:
        """The latest change of each address that has changed since it was first read, by the address as it is given.

        An address that was never fetched again, or gave the same text each time, has none.
        """
        addresses = {url: _address(url) for url in urls}
        rows = await self._session.rows(SQL["latest"], {"urls": sorted(set(addresses.values()))})
        changes = {row["url"]: _change(row) for row in rows}
        return {url: changes[address] for url, address in addresses.items() if address in changes}

    async def news(self, snapshot: Snapshot) -> str:
        """The note for a reader of a text on the changes of its source; empty where none is needed.

        That is a change that this reading has found, and an older one as long as facts rest on words that are gone.
        """
        change = (await self.of([snapshot.url])).get(snapshot.url)
        if change is None or change.hash != snapshot.hash:
            return ""
        is_news = change.at >= snapshot.fetched_at and not change.reread
        return change.note() if change.lost or is_news else ""


def unchecked_changes(urls: Sequence[str]) -> Statement:
    """What reads the newest changes of addresses that nobody has looked at yet."""
    addresses = list(dict.fromkeys(canonical(url) for url in urls))
    return Statement(SQL["unchecked"], {"urls": addresses, "reread_after": REREAD_AFTER})


async def check_changes(pool: Pool, changes: Iterable[DictRow]) -> None:
    """Find the facts that lose what they rest on by changes, which are the rows of `unchecked_changes`.

    The texts are compared in a process apart. Each change is written in a transaction of its own, once. A web page that shares
    no sentence with the one before, and has another title, may be another page that stands there for a while: facts stay as they
    are until it is read again an hour later, and is still another one.
    """
    for change in changes:
        await _check(pool, change)


async def _check(pool: Pool, change: DictRow) -> None:
    args = {
        "id": change["id"],
        "url": change["url"],
        "hash": change["hash"],
        "reader": READER_VERSION,
        "limit": ASSERTIONS_MAX,
    }
    rows = await fetch_all(pool, SQL["assertions"], args)
    assertions = [row for row in rows if _address(row["source_url"]) == change["url"]]
    agreement, lost_assertions = await _compare(change, assertions)
    if agreement == 0 and _is_another_page(change) and not change["is_borne_out"]:
        return
    contexts = await _compare_contexts(pool, change, assertions, {row["id"] for row in lost_assertions})
    async with pool.connection() as connection:
        if contexts is not None:
            await connection.execute(SQL["note_contexts"], args | _columns(contexts))
            await connection.execute(SQL["note_returns"], args | {"assertion_ids": contexts.same_ids})
        await connection.execute(
            SQL["check"],
            {
                "id": change["id"],
                "facts": len({row["fact_id"] for row in assertions}),
                "agreement": agreement,
                "assertion_ids": [row["id"] for row in lost_assertions],
                "fact_ids": [row["fact_id"] for row in lost_assertions],
            },
        )


async def _compare(change: DictRow, assertions: list[DictRow]) -> tuple[float | None, list[DictRow]]:
    # Whoever only reads what has changed compares no texts.
    from chiron_workers.documents.sandbox.sandbox import Limits, run_sandboxed
    from chiron_workers.evidence.quotes.drift import measure_drift

    if change["kind"] == ChangeKind.GONE:
        return None, assertions
    # What was never found in the source cannot be lost there.
    verified_assertions = [row for row in assertions if row["is_verified"]]
    quotes = [row["quote"] for row in verified_assertions]
    read_otherwise = {n for n, row in enumerate(verified_assertions) if not row["is_same_reader"]}
    texts = _text(change["body_before"]), _text(change["body"])
    try:
        result: Drift = await run_sandboxed(
            partial(measure_drift, *texts, quotes, read_otherwise),
            limits=Limits(timeout_s=COMPARISON_TIMEOUT_S),
        )
    except UnreadableError:  # a text that takes too long; nobody knows what it means for the facts
        return None, []
    lost_assertions = [verified_assertions[n] for n in result.missing_quotes]
    if change["reread"]:  # the source is what it was, so nothing is lost by it
        return None, [row for row in lost_assertions if row["was_lost"]]
    return result.agreement, lost_assertions


@dataclass(slots=True)
class _Contexts:
    """Assertions among other words now, with those, and ids of assertions among the same."""

    changes: list[tuple[DictRow, "ContextChange"]] = field(default_factory=list)
    same_ids: list[UUID] = field(default_factory=list)


async def _compare_contexts(
    pool: Pool, change: DictRow, assertions: Sequence[DictRow], lost_ids: Collection[UUID]
) -> _Contexts | None:
    """What became of the words around the quotes that stand; None where the text has not changed by its source.

    Each is held against the text that its assertion rests on, so that it counts as changed until its words are back. Where
    another version of our readers read that text, so their difference means nothing.
    """
    if change["kind"] == ChangeKind.GONE or change["reread"]:
        return None
    by_text: dict[str, list[DictRow]] = {}
    for row in assertions:
        is_comparable = row["is_verified"] and row["is_same_reader"] and row["quote_end"] is not None
        if is_comparable and row["id"] not in lost_ids and row["snapshot_hash"] != change["hash"]:
            by_text.setdefault(row["snapshot_hash"], []).append(row)
    contexts = _Contexts()
    for text_hash, rows in islice(by_text.items(), TEXTS_MAX):
        [before] = await fetch_all(pool, SQL["bodies"], {"hashes": [text_hash]})
        await _compare_with(contexts, _text(before["body"]), change, rows)
    return contexts


async def _compare_with(contexts: _Contexts, before: str, change: DictRow, rows: Sequence[DictRow]) -> None:
    from chiron_workers.documents.sandbox.sandbox import Limits, run_sandboxed
    from chiron_workers.evidence.quotes.context_changes import Place, find_context_changes

    now = _text(change["body"])
    places = [Place(row["quote_start"], row["quote_end"], row["title"]) for row in rows]
    try:
        changes: list[ContextChange | None] = await run_sandboxed(
            partial(find_context_changes, before, now, places, change["title"]),
            limits=Limits(timeout_s=COMPARISON_TIMEOUT_S),
        )
    except UnreadableError:  # it takes too long, so the answer is unknown
        return
    for row, context_change in zip(rows, changes, strict=True):
        if context_change is None:
            contexts.same_ids.append(row["id"])
        else:
            contexts.changes.append((row, context_change))


def _columns(contexts: _Contexts) -> dict[str, list[Any]]:
    changes = [change for _, change in contexts.changes]
    return {
        "assertion_ids": [row["id"] for row, _ in contexts.changes],
        "fact_ids": [row["fact_id"] for row, _ in contexts.changes],
        "starts": [change.start for change in changes],
        "ends": [change.end for change in changes],
        "pieces": [Json(change.window.as_rows()) for change in changes],
        "differences": [change.digest for change in changes],
        "words": [change.words for change in changes],
    }


def _is_another_page(change: DictRow) -> bool:
    titles = [" ".join(change[name].casefold().split()) for name in ("title_before", "title")]
    return change["url"].startswith(("http://", "https://")) and titles[0] != titles[1]


def _address(url: str) -> str:
    try:
        return canonical(url)
    except ToolValidationError:  # too long to have been read
        return ""


def _text(body: bytes) -> str:
    return zstandard.decompress(body).decode()


def _change(row: DictRow) -> SourceChange:
    lists = {"lost": tuple(row["lost"]), "lost_facts": tuple(row["lost_facts"])}
    return SourceChange(**(row | lists | {"kind": ChangeKind(row["kind"])}))


def _facts(count: int) -> str:
    return f"{count:,} fact{' rests' if count == 1 else 's rest'}"


def _percent(share: float) -> str:
    # What is not whole is not shown as 100 %.
    return f"{min(int(share * 100), 99) if share < 1 else 100} %"
