from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from chiron_api.crate.archive import Archive, digest, open_archive
from chiron_api.crate.documents import AnnotationCollection, Metadata, Report, read_document
from chiron_api.crate.entities import check_files, check_runs, check_sources, entities_by_id, withheld_texts
from chiron_api.crate.evidence import check_annotations, check_quotes, check_report, quotes_of
from chiron_api.crate.layout import ANNOTATIONS, METADATA, REPORT, SNAPSHOT, snapshot_name, text_address

FAULTS_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Verification:
    """What a check of a crate came to; `faults` are sentences, 1,000 at most.

    `quotes` counts those that were looked up, and `quotes_without_text` those whose text the maker has left out.
    `metadata_hash` is the sha256 of the list of all hashes: who knows it from the maker knows that nothing was changed.
    """

    files: int
    facts: int
    sources: int
    texts: int
    quotes: int
    quotes_without_text: int
    runs: int
    metadata_hash: str
    faults: tuple[str, ...]


def verify(path: Path) -> Verification:
    """Check a crate in a folder or ZIP file, by itself alone.

    Raises:
        NotFound: Nothing is there.
        CrateRefused: It cannot be read, or not safely.
    """
    with open_archive(path) as archive:
        return _verify(archive)


def _verify(archive: Archive) -> Verification:
    entities = entities_by_id(read_document(archive, METADATA, Metadata))
    report = read_document(archive, REPORT, Report)
    collection = read_document(archive, ANNOTATIONS, AnnotationCollection)
    quotes, withheld = quotes_of(report), withheld_texts(entities)
    absent_texts = [text_hash for text_hash in quotes if snapshot_name(text_hash) not in archive.sizes]
    faults = chain(
        check_files(archive, entities),
        check_report(report),
        check_annotations(report, collection),
        check_sources(report, entities),
        check_runs(report, entities),
        (
            f"The text {text_hash} that quotes rest on is missing."
            for text_hash in absent_texts
            if text_address(text_hash) not in withheld
        ),
        check_quotes(archive, quotes),
    )
    quote_count = sum(map(len, quotes.values()))
    unchecked_quotes = sum(len(quotes[text_hash]) for text_hash in absent_texts)
    return Verification(
        files=len(archive.sizes),
        facts=len(report.findings),
        sources=len(report.sources),
        texts=sum(SNAPSHOT.fullmatch(name) is not None for name in archive.sizes),
        quotes=quote_count - unchecked_quotes,
        quotes_without_text=unchecked_quotes,
        runs=len(report.work.runs),
        metadata_hash=digest(archive, METADATA),
        faults=tuple(islice(faults, FAULTS_MAX)),
    )
