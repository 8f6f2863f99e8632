"""Reading the sources of a subject's facts again, and what became of them and of the facts."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import structlog
from psycopg.rows import DictRow

from chiron_workers.db.connect import Pool
from chiron_workers.db.outages import is_away
from chiron_workers.db.queries import load
from chiron_workers.documents.read_folder import SkippedFile, read_document
from chiron_workers.duty_failures import is_fault_of_process, reason_of
from chiron_workers.embeddings import Embedder
from chiron_workers.errors import ToolError
from chiron_workers.evidence.dois import doi_in, doi_of
from chiron_workers.knowledge.corpus import SCHEME, Corpus, path_of, subject_of
from chiron_workers.knowledge.facts.grounds import check_grounds, settle_grounds
from chiron_workers.knowledge.facts.source_kinds import kind_of
from chiron_workers.rechecks import SOURCES_MAX
from chiron_workers.rechecks.retractions import RetractionLookup, store_retraction
from chiron_workers.runs.session import Caller, Session
from chiron_workers.settings import Settings
from chiron_workers.sources.changes import SourceChanges
from chiron_workers.states import SHOWN_STATUSES, ChangeKind, FactStatus, SourceKind
from chiron_workers.store import Store
from chiron_workers.tools.files import file_reader
from chiron_workers.web.fetch import fetch_page
from chiron_workers.web.politeness import host_of

SQL = load(__file__)
log = structlog.get_logger()
HOSTS_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class SourceOutcome:
    """What became of a source since it was read before, and a sentence on it."""

    url: str
    note: str


@dataclass(frozen=True, slots=True)
class FactOutcome:
    """A fact that has another status by this recheck; `superseded_by` is what its source says instead, if that is stored."""

    fact_id: str
    content: str
    source_url: str
    status: str
    superseded_by: str | None


@dataclass(frozen=True, slots=True)
class ContextOutcome:
    """A fact whose quote stands among other words since this recheck, or among those of before again, and which words."""

    fact_id: str
    content: str
    source_url: str
    status: str
    words: str


@dataclass(frozen=True, slots=True)
class Recheck:
    """What a recheck has found.

    `unread_sources` are those that gave no answer, and lost nothing by that. `left_out` counts those that are for the next
    recheck, which begins with what was read longest ago. One that is gone as before is unchanged.

    `superseded_facts` are borne out by no source any more, `restored_facts` are again. Of `doubtful_facts` the quote
    stands, among other words than when it was judged; of `cleared_facts` the words are what they were.
    """

    subject_id: str
    sources: int
    unchanged_sources: int
    left_out: int
    changed_sources: list[SourceOutcome]
    gone_sources: list[SourceOutcome]
    back_sources: list[SourceOutcome]
    unread_sources: list[SourceOutcome]
    retracted_sources: list[SourceOutcome]
    superseded_facts: list[FactOutcome]
    restored_facts: list[FactOutcome]
    doubtful_facts: list[ContextOutcome]
    cleared_facts: list[ContextOutcome]


async def recheck_subject(
    pool: Pool, embedder: Embedder, settings: Settings, subject_id: str, *, limit: int = SOURCES_MAX
) -> Recheck:
    """Read the sources of a subject's facts again, with the manners of `web_fetch`, and have the facts show what they say now.

    Web pages, files below the folders that may be read, and documents of the corpus whose files are where they were. Of one host
    one page is read after the other.
    """
    rows = await Session(pool).rows(SQL["sources"], {"subject_id": subject_id, "limit": limit})
    urls = [row["url"] for row in rows]
    facts_before = await _facts(pool, subject_id, urls)
    reader = _Reader(pool, embedder)
    changes_before = await SourceChanges(Session(pool)).of(urls)
    failures = await reader.read_all(rows)
    changes = await SourceChanges(Session(pool)).of(urls)
    news = {url: change for url, change in changes.items() if change != changes_before.get(url)}
    retractions, unanswered = await _check_retractions(pool, settings, urls)
    facts = await _facts(pool, subject_id, urls)
    by_kind: dict[str, list[SourceOutcome]] = defaultdict(list)
    for url, change in news.items():
        if not change.reread:
            by_kind[change.kind].append(SourceOutcome(url, change.note()))
    silent_sources = [
        SourceOutcome(url, reason)
        for url, reason in failures.items()
        if url not in news and not (url in changes and changes[url].kind is ChangeKind.GONE)
    ]
    return Recheck(
        subject_id,
        sources=len(urls),
        unchanged_sources=len(urls) - len(silent_sources) - sum(map(len, by_kind.values())),
        left_out=rows[0]["total"] - len(rows) if rows else 0,
        changed_sources=by_kind["changed"],
        gone_sources=by_kind["gone"],
        back_sources=by_kind["back"],
        unread_sources=[*silent_sources, *unanswered],
        retracted_sources=retractions,
        superseded_facts=_moved(facts_before, facts, to=(FactStatus.SUPERSEDED,)),
        restored_facts=_moved(facts_before, facts, to=SHOWN_STATUSES),
        doubtful_facts=_doubtful(facts_before, facts),
        cleared_facts=_cleared(facts_before, facts),
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    pool: Pool
    embedder: Embedder

    async def read_all(self, rows: Sequence[DictRow]) -> dict[str, str]:
        """Read sources, those of a host one after the other; for each that gave nothing the reason, by address."""
        by_host: dict[str, list[DictRow]] = defaultdict(list)
        for row in rows:
            by_host[host_of(row["url"])].append(row)
        places, failures = asyncio.Semaphore(HOSTS_AT_ONCE), dict[str, str]()

        async def read_host(host_rows: Sequence[DictRow]) -> None:
            async with places:
                for row in host_rows:
                    try:
                        await self.read(row)
                    except ToolError as error:
                        failures[row["url"]] = str(error)
                    except Exception as error:  # of one source, which keeps no other unread
                        if is_away(error) or is_fault_of_process(error):
                            raise
                        log.exception("recheck.unread", url=row["url"])
                        failures[row["url"]] = f"It could not be read: {reason_of(error)}."

        try:
            async with asyncio.TaskGroup() as group:
                for host_rows in by_host.values():
                    group.create_task(read_host(host_rows))
        except BaseExceptionGroup as errors:  # callers tell an outage of Postgres by its class
            raise errors.exceptions[0] from None
        return failures

    async def read(self, row: DictRow) -> None:
        url = row["url"]
        async with Store(Session(self.pool, Caller()), self.embedder) as store:
            if url.startswith(("http://", "https://")):
                await fetch_page(store, url, revalidate=True)
            elif url.startswith(SCHEME):
                await self._read_document(store, row)
            elif url.startswith("file://"):
                parts = urlsplit(url)
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                await file_reader(
                    store, path=unquote(parts.path), range=query.get("range"), sheet=query.get("sheet", "")
                )
            else:
                raise ToolError("It is no address that can be read.")

    async def _read_document(self, store: Store, row: DictRow) -> None:
        url = row["url"]
        if not row["is_document"]:
            # It may lie in the corpus of another home, where an import comes from; what is removed here is recorded as gone then.
            raise ToolError("No corpus here has this document.")
        if row["path"] is None:
            raise ToolError("Nobody knows which file it came from; add the document again.")
        file, path = Path(row["path"]), path_of(url)
        try:
            is_there = await asyncio.to_thread(file.exists)
            has_folder = is_there or await asyncio.to_thread(file.parent.is_dir)
        except OSError as error:
            raise ToolError(f"The folder {file.parent} cannot be read ({error.strerror}).") from None
        if not is_there:
            if not has_folder:
                raise ToolError(f"The folder {file.parent} is not here.")
            await Corpus(store.session).remove([url], subject_of(url))
            await store.session.commit()
            await check_grounds(self.pool, [url])
            raise ToolError("There is no such file any more.")
        document = await asyncio.to_thread(read_document, file, path)
        if isinstance(document, SkippedFile):
            raise ToolError(f"It cannot be read: {document.reason}.")
        await Corpus(store.session).add(subject_of(url), [replace(document, file=str(file))])
        await store.session.commit()
        await check_grounds(self.pool, [url])


async def _check_retractions(
    pool: Pool, settings: Settings, urls: Sequence[str]
) -> tuple[list[SourceOutcome], list[SourceOutcome]]:
    """The addresses whose publications were retracted, and those that nobody could be asked about."""
    lookup = RetractionLookup(pool, settings)
    retractions, unanswered = list[SourceOutcome](), list[SourceOutcome]()
    dois = await _dois(pool, urls) if lookup.is_on else {}
    for url, doi in dois.items():
        try:
            retraction = await lookup.find(doi)
        except ToolError as error:
            unanswered.append(SourceOutcome(url, str(error)))
            continue
        if retraction:
            notice = f", notice {retraction.notice}" if retraction.notice else ""
            note = f"{doi} was retracted, says {retraction.said_by}{notice}."
            retractions.append(SourceOutcome(url, note))
        await store_retraction(pool, url, retraction)
    await settle_grounds(pool, list(dois))
    return retractions, unanswered


async def _dois(pool: Pool, urls: Sequence[str]) -> dict[str, str]:
    """The DOIs that addresses name or, on the public web, the pages there say they have; by address."""
    public_urls = [url for url in urls if kind_of(url) is not SourceKind.OWN]
    rows = await Session(pool).rows(SQL["dois"], {"urls": public_urls})
    stated = {row["url"]: doi for row in rows if (doi := doi_in(row["doi"] or ""))}
    return {url: doi for url in urls if (doi := stated.get(url) or doi_of(url))}


async def _facts(pool: Pool, subject_id: str, urls: Sequence[str]) -> dict[str, DictRow]:
    rows = await Session(pool).rows(SQL["facts"], {"subject_id": subject_id, "urls": list(urls)})
    return {row["id"]: row for row in rows}


def _moved(
    before: dict[str, DictRow], after: dict[str, DictRow], *, to: Sequence[FactStatus]
) -> list[FactOutcome]:
    """The facts that came to one of these statuses, from or to being superseded."""
    return [
        FactOutcome(fact_id, row["content"], row["source_url"], row["status"], row["superseded_by"])
        for fact_id, row in after.items()
        if row["status"] in to
        and (earlier := before.get(fact_id))
        and earlier["status"] != row["status"]
        and FactStatus.SUPERSEDED in (earlier["status"], row["status"])
    ]


def _doubtful(before: dict[str, DictRow], after: dict[str, DictRow]) -> list[ContextOutcome]:
    """The facts whose quote stands among other words, which it did not before, or among others."""
    return [
        _context_outcome(row, row["context_change"])
        for fact_id, row in after.items()
        if row["context_change"] and before.get(fact_id, {}).get("context_change") != row["context_change"]
    ]


def _cleared(before: dict[str, DictRow], after: dict[str, DictRow]) -> list[ContextOutcome]:
    """The facts whose quote stood among other words, and has its own around it again."""
    return [
        _context_outcome(after[fact_id], row["context_change"])
        for fact_id, row in before.items()
        if row["context_change"] and fact_id in after and not after[fact_id]["context_change"]
    ]


def _context_outcome(row: DictRow, words: str) -> ContextOutcome:
    return ContextOutcome(row["id"], row["content"], row["source_url"], row["status"], words)
