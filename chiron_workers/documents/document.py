import importlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any

from chiron_workers.documents.omissions import Omission
from chiron_workers.states import SourceKind

# Raise it with every change by which a reader gives another text of the same bytes: what facts rest on is then looked for by its
# letters alone, so that nobody takes our change for one of the source.
READER_VERSION = 5
PASSAGE_CHARS_MIN = 300
PASSAGE_CHARS_MAX = 1500
TEXT_CHARS_MAX = 2_000_000  # of one document; a worker holds several of them, and copies of each
BLOCKS_MAX = 20_000  # what stands behind them is one more
CUT_NOTE = f"[Cut here: the document goes on, and {TEXT_CHARS_MAX:,} characters of one are read.]"
TITLE_CHARS_MAX = HEADING_CHARS_MAX = AUTHOR_CHARS_MAX = 300

# Distribution names of parsers, where they differ from their modules.
PACKAGES = {"lxml.etree": "lxml", "python_calamine": "python-calamine"}

UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
# Control characters of a second kind, which no text has: where they stand, bytes of windows-1252 were read as Latin-1.
SECOND_CONTROLS = re.compile(r"[\x80-\x9f]")
# A piece of a long paragraph ends after a sentence, else between words, else anywhere.
PIECE = re.compile(
    rf"(?:.{{1,{PASSAGE_CHARS_MAX - 1}}}[.!?。](?=\s|$)"
    rf"|.{{1,{PASSAGE_CHARS_MAX}}}(?=\s|$)"
    rf"|.{{1,{PASSAGE_CHARS_MAX}}})\s*",
    re.DOTALL,
)


class UnreadableError(ValueError):
    """A file or page gives no text. The message completes the sentence `It cannot be read: ...`."""


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, a paragraph, or anything else between two blank lines."""

    text: str
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit that a search ranks: up to 1,500 characters of a document, with the headings above them."""

    heading: str
    body: str


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a file or page without its markup, and the metadata that it states."""

    title: str
    blocks: tuple[Block, ...]
    authors: tuple[str, ...] = ()  # see authors.py
    published_at: datetime | None = None
    licence: str = ""
    doi: str = ""
    stated_kind: SourceKind | None = None  # what a page says it is, for what that is worth
    left_out: tuple[Omission, ...] = ()  # what is in the file or the page, and not in the text

    @property
    def text(self) -> str:
        """All blocks, separated by blank lines."""
        return "\n\n".join(block.text for block in self.blocks)

    @property
    def author(self) -> str:
        """The authors on one line."""
        return author_line(self.authors)


def compose(blocks: Iterable[Block], *, title: str, name: str = "") -> Document:
    """Build a document of the non-empty blocks. Without a title, the first heading is the title, else `name`.

    A document of more than 2,000,000 characters is cut, and its last block says so.
    """
    clean_blocks = (
        Block(
            text := clean(block.text).strip("\n").rstrip(),
            block.is_heading and len(text) <= HEADING_CHARS_MAX,
        )
        for block in blocks
    )
    nonempty = tuple(bounded(block for block in clean_blocks if block.text.strip()))
    heading = next((block.text for block in nonempty if block.is_heading), "")
    return Document(title=one_line(title or heading or name)[:TITLE_CHARS_MAX], blocks=nonempty)


def with_omissions(document: Document, omissions: tuple[Omission, ...]) -> Document:
    """The document with more on the list of what it leaves out."""
    return replace(document, left_out=document.left_out + omissions) if omissions else document


def bounded(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks that there is room for; those behind the 20,000th as one, and a note where the text is cut."""
    chars_left = TEXT_CHARS_MAX
    last_texts: list[str] = []
    is_cut = False
    for count, block in enumerate(blocks):
        is_cut = len(block.text) > chars_left
        kept_block = Block(block.text[:chars_left], block.is_heading) if is_cut else block
        chars_left -= len(kept_block.text) + 2
        if count < BLOCKS_MAX:
            yield kept_block
        else:
            last_texts.append(kept_block.text)
        if is_cut or chars_left <= 0:
            is_cut = True
            break
    if last_texts:
        yield Block("\n\n".join(last_texts))
    if is_cut:
        yield Block(CUT_NOTE)


def clean(text: str) -> str:
    """Make a text storable in Postgres: no control characters but tab and newline, `\\n` as line end."""
    text = UNPRINTABLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return text if text.isascii() else SECOND_CONTROLS.sub(_windows_sign, text)


def _windows_sign(control: re.Match[str]) -> str:
    return control[0].encode("latin-1").decode("cp1252", errors="replace")


def one_line(text: str) -> str:
    """Collapse all white space, line breaks included, into single spaces."""
    return " ".join(clean(text).split())


def author_line(names: Sequence[str]) -> str:
    """Names on one line, as people read them; semicolons part them where a name has a comma of its own."""
    return ("; " if any("," in name for name in names) else ", ").join(names)[:AUTHOR_CHARS_MAX]


def parse_date(value: object) -> datetime | None:
    """Parse the date that a source states: a date, a datetime or ISO 8601 text. UTC if it has no time zone; None if
    it is no date."""
    try:
        match value:
            case datetime():
                moment = value
            case date():
                moment = datetime(value.year, value.month, value.day)
            case str():
                moment = datetime.fromisoformat(value.strip())
            case _:
                return None
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def split_into_passages(document: Document) -> list[Passage]:
    """Cut a document at headings where enough text precedes them, else between paragraphs."""
    passages: list[Passage] = []
    headings: list[str] = []
    bodies: list[str] = []

    def close() -> None:
        if bodies or headings:
            passages.append(Passage(" · ".join(headings), "\n\n".join(bodies or headings)))
        headings.clear()
        bodies.clear()

    for block in document.blocks:
        if block.is_heading:
            if sum(map(len, bodies or headings)) >= PASSAGE_CHARS_MIN:
                close()
            headings.append(one_line(block.text))
            continue
        for piece in _pieces(block.text):
            if bodies and sum(map(len, bodies)) + len(piece) > PASSAGE_CHARS_MAX:
                last = headings[-1:]
                close()
                headings.extend(last)
            bodies.append(piece)
    close()
    return passages


def _pieces(text: str) -> Iterator[str]:
    if len(text) <= PASSAGE_CHARS_MAX:
        yield text
        return
    yield from (piece for match in PIECE.finditer(text) if (piece := match.group().rstrip()))


def import_optional(module: str) -> Any:
    """Import a parser that an extra installs. Raises UnreadableError with the command to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        package = PACKAGES.get(module, module)
        raise UnreadableError(
            f"the package {package} is not installed, which reads such files; run `pip install {package}`"
        ) from None
