from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path

from chiron_api.atomic_file import atomic_write
from chiron_api.reports.formats import docx, html, json, markdown, obsidian
from chiron_api.reports.formats.note_folder import write_notes
from chiron_api.reports.report import Report
from chiron_workers.errors import UsageError


class Format(StrEnum):
    """What a report can be written as."""

    MD = "md"
    HTML = "html"
    JSON = "json"
    DOCX = "docx"
    OBSIDIAN = "obsidian"


TEXTS: dict[Format, Callable[[Report], Iterator[str]]] = {
    Format.MD: markdown.render,
    Format.HTML: html.render,
    Format.JSON: json.render,
}
MEDIA_TYPES = {
    Format.MD: "text/markdown; charset=utf-8",
    Format.HTML: "text/html; charset=utf-8",
    Format.JSON: "application/json",
    Format.DOCX: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}


def write(report: Report, format: Format, target: Path, *, force: bool = False) -> str:
    """Write a report to a file, or to a folder for Obsidian; what was written, in a sentence.

    Raises:
        UsageError: Something of that name is there that would be lost.
    """
    if format is Format.OBSIDIAN:
        notes = write_notes(target, obsidian.notes(report), force=force)
        return f"{notes:,} notes written to {target}; begin with {target / obsidian.INDEX}.md."
    refuse_to_overwrite(target, force=force)
    with atomic_write(target) as place:
        _render(report, format, place)
    return f"{target} written."


def _render(report: Report, format: Format, place: Path) -> None:
    if format is Format.DOCX:
        docx.write(report, place)
        return
    with place.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(TEXTS[format](report))


def refuse_to_overwrite(target: Path, *, force: bool) -> None:
    """Raises UsageError if a file is there and `force` is not set, or if there is no place for it."""
    if target.is_dir():
        raise UsageError(f"{target} is a folder. Name a file in it.")
    if target.exists() and not force:
        raise UsageError(f"{target} exists. Choose another name, or overwrite it with --force.")
    folder = target.resolve().parent if target.is_symlink() else target.parent
    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}.")
