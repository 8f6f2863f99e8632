import asyncio
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypedDict, cast
from urllib.parse import quote, unquote_to_bytes

from chiron_workers import ids
from chiron_workers.db.queries import load
from chiron_workers.documents.document import Passage, clean, split_into_passages
from chiron_workers.documents.plain import read_plain
from chiron_workers.documents.read_folder import FileDocument
from chiron_workers.errors import ToolError
from chiron_workers.knowledge.coverage.subjects import Subjects, slug
from chiron_workers.knowledge.search.word_index import QUERIES, WORDS_VERSION, passage_columns, query_args
from chiron_workers.runs.session import Session
from chiron_workers.sources.sources import Page, Snapshot, Sources, canonical, to_snapshot

SQL = load(__file__, QUERIES)

SCHEME = "corpus://"
QUERY_CHARS_MAX = 2_000
SNIPPET_CHARS_MAX = 500
DOCUMENTS_MAX = 10_000
MATCHES_MAX = 20_000  # passages that are looked at for one word


@dataclass(frozen=True, slots=True)
class AddedCounts:
    """How many documents are new, how many took the place of an old one, and their passages.

    `unchanged_urls` are documents that were replaced by what they were; `apart_urls` have more of their file's path than
    asked for, as another file has the shorter address.
    """

    added: int = 0
    replaced: int = 0
    passages: int = 0
    new_urls: tuple[str, ...] = field(default=(), compare=False)
    changed_urls: tuple[str, ...] = field(default=(), compare=False)
    unchanged_urls: tuple[str, ...] = field(default=(), compare=False)
    apart_urls: tuple[str, ...] = field(default=(), compare=False)

    def __add__(self, counts: "AddedCounts") -> "AddedCounts":
        return AddedCounts(
            self.added + counts.added,
            self.replaced + counts.replaced,
            self.passages + counts.passages,
            self.new_urls + counts.new_urls,
            self.changed_urls + counts.changed_urls,
            self.unchanged_urls + counts.unchanged_urls,
            self.apart_urls + counts.apart_urls,
        )


class ListedDocument(TypedDict):
    """A document of the corpus as a list shows it; `added_at` is a datetime."""

    subject_id: str
    url: str
    title: str
    chars: int
    passages: int
    added_at: object


class Hit(TypedDict):
    """A document that a search found, with its best passage; `score` is 0 to 1, higher is better."""

    url: str
    title: str
    snippet: str
    score: float


def document_url(subject_id: str, path: str) -> str:
    """The address of a document in the corpus: `corpus://biology/cells/mitosis.md`."""
    return f"{SCHEME}{subject_id}/{quote(os.fsencode(path.lstrip('/')))}"


def path_of(url: str) -> str:
    """The path of a document within its folder, from its address in the corpus."""
    return os.fsdecode(unquote_to_bytes(url.removeprefix(SCHEME).partition("/")[2]))


def subject_of(url: str) -> str:
    """The id of the subject whose corpus an address names."""
    return canonical(url).removeprefix(SCHEME).partition("/")[0]


class Corpus:
    """The documents that people added to subjects: their texts, and the passages that a search ranks."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.sources = Sources(session)

    async def add(self, subject: str, files: Sequence[FileDocument]) -> AddedCounts:
        """Put documents into the corpus of a subject, made if need be, over any with the same path.

        What that means for the facts that rest on them `check_grounds` finds, once it is committed.
        """
        if not files:
            return AddedCounts()
        subject_id = slug(subject)
        urls = await self.addresses(subject, [(file.path, file.file) for file in files])
        files_by_url = {
            url: (file, split_into_passages(file.document)) for url, file in zip(urls, files, strict=True)
        }
        pages = [
            replace(Page.of(url, file.content_type, file.document), raw_hash=file.raw_hash)
            for url, (file, _) in files_by_url.items()
        ]
        await Subjects(self.session).ensure(subject_id, subject)
        rows = await self.session.write(
            SQL["save"],
            {
                "subject_id": subject_id,
                "ids": [ids.new_id() for _ in urls],
                "urls": urls,
                "titles": [page.title for page in pages],
                "hashes": await self.sources.save_all(pages),
                "passages": [len(split) for _, split in files_by_url.values()],
                "paths": [file.file or None for file, _ in files_by_url.values()],
            },
        )
        documents = {row["url"]: row["id"] for row in rows}
        await self.session.write(SQL["clear"], {"ids": list(documents.values())})
        passages = [
            (documents[url], n, file.document.title, passage)
            for url, (file, split) in files_by_url.items()
            for n, passage in enumerate(split)
        ]
        await self._save_passages(passages)
        new_urls = tuple(row["url"] for row in rows if not row["replaced"])
        changed_urls = tuple(row["url"] for row in rows if row["replaced"] and not row["is_same"])
        unchanged_urls = tuple(row["url"] for row in rows if row["replaced"] and row["is_same"])
        return AddedCounts(
            len(new_urls),
            len(changed_urls) + len(unchanged_urls),
            len(passages),
            new_urls,
            changed_urls,
            unchanged_urls,
            tuple(
                url
                for url, file in zip(urls, files, strict=True)
                if url != document_url(subject_id, file.path)
            ),
        )

    async def addresses(self, subject: str, files: Sequence[tuple[str, str]]) -> list[str]:
        """The addresses of files in the corpus of a subject, each given as its path in a folder and where it lies.

        A file that was added before keeps its address. A new one whose address another file has, which is still there,
        takes the folders above it into its own: `papers/notes.md` beside `notes.md`.
        """
        subject_id = slug(subject)
        candidates = [[document_url(subject_id, tail) for tail in _tails(path, file)] for path, file in files]
        args = {
            "subject_id": subject_id,
            "urls": [url for urls in candidates for url in urls],
            "paths": [file for _, file in files if file],
        }
        rows = await self.session.rows(SQL["addresses"], args)
        owners = {row["url"]: row["path"] for row in rows}
        urls_by_file = {row["path"]: row["url"] for row in rows}
        urls = list[str]()
        for (_, file), choices in zip(files, candidates, strict=True):
            url = urls_by_file.get(file, "") if owners.get(choices[0]) != file else ""
            if not url:
                url = await asyncio.to_thread(_free_address, choices, owners, file)
            owners[url] = file
            urls.append(url)
        return urls

    async def missing(self, subject: str, folder: str, *, present: Collection[str]) -> list[str]:
        """The documents of a subject whose files lay below a folder and are not there any more, by address.

        Args:
            folder: Its absolute path.
            present: The addresses of the files that are there, whether they could be read or not.
        """
        args = {"subject_id": slug(subject), "folder": folder.rstrip("/") + "/", "present": list(present)}
        return [row["url"] for row in await self.session.rows(SQL["missing"], args)]

    async def remove(self, urls: Sequence[str], subject: str) -> None:
        """Take documents out of the corpus, so that no search finds them; the texts that facts rest on stay."""
        await self.session.write(SQL["remove"], {"subject_id": slug(subject), "urls": list(urls)})
        for url in urls:
            await self.sources.record_gone(url, "There is no such file any more.")

    async def add_texts(self, subject: str, texts: Iterable[tuple[str, str, str]]) -> AddedCounts:
        """Put plain texts into the corpus, each a (path, title, text), without files."""
        files = [
            FileDocument(path, "text/plain", read_plain(text, title=title)) for path, title, text in texts
        ]
        return await self.add(subject, [file for file in files if file.document.blocks])

    async def documents(
        self, subject: str | None = None, *, limit: int = DOCUMENTS_MAX
    ) -> list[ListedDocument]:
        """The documents of a subject, or of all, by address; `limit` at most."""
        args = {"subject_id": slug(subject) if subject is not None else None, "limit": limit}
        return cast("list[ListedDocument]", await self.session.rows(SQL["documents"], args))

    async def document(self, url: str) -> Snapshot | None:
        """The text of a document, or None where no document has the address.

        Raises:
            ToolError: The caller is a run that may not read the documents of that subject.
        """
        await self.require_readable(subject_of(url))
        args = {"url": canonical(url), "subject_id": subject_of(url)}
        row = await self.session.row(SQL["document"], args)
        return to_snapshot(row) if row else None

    async def require_readable(self, subject_id: str) -> None:
        """Raise ToolError where the caller is a run that may not read the documents of a subject."""
        subject_ids = await self._readable_subjects()
        if subject_ids is not None and subject_id not in subject_ids:
            raise ToolError(
                f"This run works on {self.session.caller.subject_id!r} and does not read the documents of {subject_id!r}. "
                "It reads those of its own subject, and of subjects that share a node with it."
            )

    async def search(self, query: str, *, subject: str | None, limit: int) -> list[Hit]:
        """The documents of a subject, or of all that the caller may read, that answer a question best, best first."""
        words = clean(query)[:QUERY_CHARS_MAX]
        subject_ids = await self._readable_subjects()
        if subject is not None:
            is_readable = subject_ids is None or slug(subject) in subject_ids
            subject_ids = [slug(subject)] if is_readable else []
        match subject_ids:
            case None:
                scope = "all"
            case []:
                return []
            case [_]:
                scope = "a_subject"
            case _:
                scope = "subjects"
        bounds = {
            "subject_id": subject_ids[0] if subject_ids else None,
            "subject_ids": subject_ids,
            "limit": limit,
            "matches_max": MATCHES_MAX,
        }
        statement = SQL["search"].format(
            scope=SQL[f"in_{scope}"],
            languages=SQL[f"languages_of_{scope}"],
            count_of_term=SQL["count_of_term"],
        )
        return [
            Hit(
                url=row["url"],
                title=row["title"],
                snippet=snippet(row["body"]),
                score=round(row["score"], 4),
            )
            for row in await self.session.rows(statement, query_args(words) | bounds)
        ]

    async def _readable_subjects(self) -> list[str] | None:
        """The subjects whose documents the caller may read: a run those of its own, and of those that share a node with it.

        None: all.
        """
        own_id = self.session.caller.subject_id
        if own_id is None:
            return None
        rows = await self.session.rows(SQL["sharing_subjects"], {"subject_id": own_id})
        return [own_id, *(row["subject_id"] for row in rows)]

    async def _save_passages(self, rows: Sequence[tuple[object, int, str, Passage]]) -> None:
        columns = {
            "documents": [row[0] for row in rows],
            "numbers": [row[1] for row in rows],
            "headings": [row[3].heading for row in rows],
            "bodies": [row[3].body for row in rows],
            "words_version": WORDS_VERSION,
        }
        texts = [{"title": row[2], "heading": row[3].heading, "body": row[3].body} for row in rows]
        await self.session.write(SQL["save_passages"], passage_columns(texts) | columns)


def _tails(path: str, file: str) -> list[str]:
    """A path in its folder, and then with one folder above it more each time, up to the whole path of its file."""
    parts = Path(file).parts[1:]
    length = len(Path(path).parts)
    return [path, *("/".join(parts[-count:]) for count in range(length + 1, len(parts) + 1))]


def _free_address(urls: Sequence[str], owners: Mapping[str, str | None], file: str) -> str:
    """The first address that no other file has which is still there."""
    return next((url for url in urls if not _is_other_file(owners.get(url), file)), urls[0])


def _is_other_file(owner: str | None, file: str) -> bool:
    # Without a path it is a text that was not read from a file, which a file may replace.
    if not owner or not file or owner == file:
        return False
    try:
        return not Path(owner).samefile(file)
    except OSError:  # one of them is not here, so it has moved
        return False


def snippet(text: str) -> str:
    """The beginning of a text, up to 500 characters, cut between words."""
    if len(text) <= SNIPPET_CHARS_MAX:
        return text
    return text[: SNIPPET_CHARS_MAX - 1].rsplit(maxsplit=1)[0] + "…"
