from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from chiron_api.atomic_file import atomic_write, refuse_to_overwrite
from chiron_api.reports.report import Report

if TYPE_CHECKING:  # `chiron verify` renders pages, and needs no database
    from chiron_api.reports.crate.options import PackingOptions
    from chiron_workers.db.connect import Pool

CHARS_AT_ONCE = 100_000


@dataclass(frozen=True, slots=True)
class Format:
    """One way to write a report; `order` is its place among those that are offered, `has_selections` whether it shows them.

    What is one document has `render`, which gives it piece by piece, and goes over HTTP with `media_type` and `headers`.
    What is a folder has `write_folder` (report, folder, whether foreign files may be there), which returns what it wrote,
    in a sentence. What has further rows with it has `pack`, likewise.
    """

    name: str
    order: int
    media_type: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    is_text: bool = True
    has_selections: bool = False
    render: Callable[[Report], Iterator[str | bytes]] | None = None
    write_folder: Callable[[Report, Path, bool], str] | None = None
    pack: "Callable[[Pool, Report, Path, PackingOptions], Awaitable[str]] | None" = None


def write(report: Report, format: Format, target: Path, *, force: bool = False) -> str:
    """Write a report to a file, or to a folder; what was written, in a sentence.

    Raises:
        UsageError: Something of that name is there that would be lost.
    """
    if format.write_folder:
        return format.write_folder(report, target, force)
    assert format.render
    refuse_to_overwrite(target, force=force)
    with atomic_write(target) as place, place.open("wb") as file:
        file.writelines(map(encoded, format.render(report)))
    return f"{target} written."


def join_pieces(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces of a report, many at once, since each write takes its time."""
    texts, chars = list[str](), 0
    for piece in pieces:
        texts.append(piece)
        chars += len(piece)
        if chars >= CHARS_AT_ONCE:
            yield "".join(texts)
            texts, chars = [], 0
    yield "".join(texts)


def encoded(piece: str | bytes) -> bytes:
    """A piece of a report as it stands in a file."""
    return piece.encode() if isinstance(piece, str) else piece
