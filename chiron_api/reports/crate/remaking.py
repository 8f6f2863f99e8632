"""The documents of a crate made of its report again: what differs is not what this version of Chiron wrote."""

import hashlib
import importlib.metadata
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import chiron_api
import chiron_workers
from chiron_api import atomic_file, crate, text
from chiron_api.crate import archive, layout
from chiron_api.crate.archive import Archive
from chiron_api.crate.layout import ANNOTATIONS, DOCUMENTS, METADATA, PAGE, REPORT, SNAPSHOT, snapshot_name
from chiron_api.reports.crate.annotations import annotations
from chiron_api.reports.crate.metadata import CrateFile, crate_file, metadata
from chiron_api.reports.formats import html, json
from chiron_api.reports.report import Report
from chiron_api.reports.write import encoded
from chiron_api.text import as_json
from chiron_workers import documents, errors, evidence, problems, public_addresses, runs, states
from chiron_workers.documents import authors, document, omissions
from chiron_workers.evidence import author_names, dois, quotes, study_names
from chiron_workers.evidence.quotes import marks
from chiron_workers.runs import usage

# What the code of reports imports from elsewhere to write documents.
IMPORTS = (
    chiron_api, atomic_file, crate, archive, layout, text,
    chiron_workers, errors, problems, public_addresses, runs, usage, states,
    documents, authors, document, omissions, evidence, author_names, dois, study_names, quotes, marks,
)  # fmt: skip
# What rendering raises for values that no report has.
RENDER_ERRORS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@cache
def maker() -> str:
    """Which version writes pages: Chiron's, and what its code for reports and Python's Unicode tables are hashed to.

    Versions between releases have the same number, and may write other pages.
    """
    sha256 = hashlib.sha256(unicodedata.unidata_version.encode())
    for place in maker_sources():
        sha256.update(place.read_bytes())
    return f"{importlib.metadata.version('chiron')} {sha256.hexdigest()[:12]}"


def maker_sources() -> list[Path]:
    """The files that decide what documents look like: the code of reports, and each module of ours that it imports."""
    reports = Path(__file__).parents[1]
    modules = (Path(str(module.__file__)) for module in IMPORTS)
    return sorted([*reports.rglob("*.py"), *reports.rglob("*.css"), *modules])


def write_json(report: Report) -> Iterator[bytes]:
    """`report.json`."""
    return map(encoded, json.render(report))


def write_page(report: Report) -> Iterator[bytes]:
    """`report.html`."""
    return map(encoded, html.render(report))


def write_annotations(report: Report) -> Iterator[bytes]:
    """`annotations.jsonld`."""
    yield as_json(annotations(report)).encode()


def write_metadata(
    report: Report, files: Mapping[str, CrateFile], withheld: Sequence[str]
) -> Iterator[bytes]:
    """`ro-crate-metadata.json`."""
    yield as_json(metadata(report, files, withheld, maker=maker())).encode()


def check_page(report: Report, hashes: Mapping[str, str]) -> Iterator[str]:
    """That the page is not the one of its report."""
    if _digest(write_page(report)) != hashes.get(PAGE):
        yield f"{PAGE} is not the page of {REPORT}: it was changed, or made of another report."


def check_documents(report: Report, archive: Archive, hashes: Mapping[str, str]) -> Iterator[str]:
    """Which of the other documents this version would have written otherwise."""
    files = {
        name: crate_file(name, hashes[name], archive.sizes[name])
        for name in (*DOCUMENTS, *sorted(filter(SNAPSHOT.fullmatch, archive.sizes)))
    }
    text_hashes = {source.snapshot_hash for source in report.sources if source.snapshot_hash}
    withheld = sorted(text_hash for text_hash in text_hashes if snapshot_name(text_hash) not in files)
    for name, pieces in (
        (REPORT, write_json(report)),
        (ANNOTATIONS, write_annotations(report)),
        (METADATA, write_metadata(report, files, withheld)),
    ):
        if _digest(pieces) != hashes[name]:
            yield f"{name} is not what this version of Chiron writes, although the crate names it as the maker."


def _digest(pieces: Iterable[bytes]) -> str:
    sha256 = hashlib.sha256()
    try:
        for piece in pieces:
            sha256.update(piece)
    except RENDER_ERRORS:
        return ""
    return sha256.hexdigest()
