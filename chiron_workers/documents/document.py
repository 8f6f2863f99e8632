import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime

PASSAGE_CHARS_MIN = 300
PASSAGE_CHARS_MAX = 1500
TITLE_CHARS_MAX = HEADING_CHARS_MAX = AUTHOR_CHARS_MAX = 300

UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
# Where a long paragraph may be cut: after a sentence, else between words, else anywhere.
CUT = re.compile(
    rf"(?:.{{1,{PASSAGE_CHARS_MAX - 1}}}[.!?。](?=\s|$)"
    rf"|.{{1,{PASSAGE_CHARS_MAX}}}(?=\s|$)"
    rf"|.{{1,{PASSAGE_CHARS_MAX}}})\s*",
    re.DOTALL,
)


class UnreadableError(ValueError):
    """A file or page gives no text; the message says why in words that go on from `It cannot be read:`."""


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, or a paragraph or whatever else stands between two blank lines."""

    text: str
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """What a search ranks: up to 1,500 characters of a document under the headings they belong to."""

    heading: str
    body: str


@dataclass(frozen=True, slots=True)
class Document:
    """What a file or page says, without its markup."""

    title: str
    blocks: tuple[Block, ...]
    author: str = ""
    published_at: datetime | None = None
    licence: str = ""

    @property
    def text(self) -> str:
        """All of it, blocks separated by blank lines."""
        return "\n\n".join(block.text for block in self.blocks)


def compose(blocks: Iterable[Block], *, title: str, name: str = "") -> Document:
    """A document of clean, non-empty blocks. Without a title the first heading is one, else `name`."""
    cleaned = (
        Block(
            text := clean(block.text).strip("\n").rstrip(),
            block.is_heading and len(text) <= HEADING_CHARS_MAX,
        )
        for block in blocks
    )
    kept = tuple(block for block in cleaned if block.text.strip())
    heading = next((block.text for block in kept if block.is_heading), "")
    return Document(title=one_line(title or heading or name)[:TITLE_CHARS_MAX], blocks=kept)


def clean(text: str) -> str:
    """The text as Postgres can hold it: no control characters but tab and newline, one kind of line end."""
    return UNPRINTABLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str) -> str:
    """The words with single spaces between them."""
    return " ".join(clean(text).split())


def author_name(words: object) -> str:
    """Who wrote something, on one line; several names with commas between them. Empty for what is neither."""
    names = words if isinstance(words, list) else [words]
    return one_line(", ".join(name for name in names if isinstance(name, str)))[:AUTHOR_CHARS_MAX]


def parse_date(written: object) -> datetime | None:
    """The moment that a source names as its own: a date, or a text that begins with one, such as 2024-03-01. UTC
    where it names no zone; None for what is no date."""
    try:
        match written:
            case datetime():
                found = written
            case date():
                found = datetime(written.year, written.month, written.day)
            case str():
                found = datetime.fromisoformat(written.strip())
            case _:
                return None
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def split_into_passages(document: Document) -> list[Passage]:
    """The document cut into passages, at headings where they leave enough text, else between paragraphs."""
    found: list[Passage] = []
    headings: list[str] = []
    bodies: list[str] = []

    def close() -> None:
        if bodies or headings:
            found.append(Passage(" · ".join(headings), "\n\n".join(bodies or headings)))
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
    return found


def _pieces(text: str) -> Iterator[str]:
    if len(text) <= PASSAGE_CHARS_MAX:
        yield text
        return
    yield from (piece for match in CUT.finditer(text) if (piece := match.group().rstrip()))
