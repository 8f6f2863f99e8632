"""Check a crate from any maker by its files alone: without database and network, and without running anything in it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from chiron_api.crate import active_content
from chiron_api.crate.archive import Archive, digest, open_archive, read
from chiron_api.crate.documents import AnnotationCollection, Metadata, Report, read_document
from chiron_api.crate.entities import (
    check_files,
    check_runs,
    check_sources,
    entities_by_id,
    withheld_texts,
)
from chiron_api.crate.evidence import Quote, check_annotations, check_quotes, check_report, quotes_of
from chiron_api.crate.layout import (
    ANNOTATIONS,
    JSON_BYTES_MAX,
    METADATA,
    PAGE,
    REPORT,
    SNAPSHOT,
    TEXT_BYTES_MAX,
    snapshot_name,
    text_address,
)
from chiron_api.crate.signatures import SignatureState, check_signature, signature_state
from chiron_api.crate.statements import StatementCounts, check_statements
from chiron_api.reports.crate import remaking
from chiron_api.reports.crate.rereading import ReportUnreadable, reread

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

FAULTS_MAX = 1_000


class PageState(StrEnum):
    """Whether the page of a crate was compared with its report."""

    SAME = "same"
    DIFFERENT = "different"
    NOT_COMPARED = "not compared"


@dataclass(frozen=True, slots=True)
class Verification:
    """What a check of a crate came to; `faults` are sentences, 1,000 at most.

    `quotes` counts those that were looked up, and `quotes_without_text` those whose text the maker has left out.
    `statements` have a verified quote. `statements_repeated` of them have its words, which says nothing about the text around
    the quote. `statements_overruled` are those that the rules doubt and, as the report says, a model supports.
    `answers` are those of models; nothing checks them here. `page_maker` is the version that says to have written the page.
    `metadata_hash` is the sha256 of the list of all hashes: who knows it from the maker knows that nothing was changed.
    """

    files: int
    facts: int
    sources: int
    texts: int
    quotes: int
    quotes_without_text: int
    statements: int
    statements_repeated: int
    statements_overruled: int
    answers: int
    runs: int
    page: PageState
    page_maker: str
    signature: SignatureState
    metadata_hash: str
    faults: tuple[str, ...]


def verify(path: Path, *, key: "Ed25519PublicKey | None" = None) -> Verification:
    """Check a crate in a folder or ZIP file, by itself alone.

    Args:
        key: The crate has to be signed with it.

    Raises:
        NotFound: Nothing is there.
        CrateRefused: It cannot be read, or not safely.
    """
    with open_archive(path) as archive:
        return _verify(archive, key)


def _verify(archive: Archive, key: "Ed25519PublicKey | None") -> Verification:
    entities = entities_by_id(read_document(archive, METADATA, Metadata))
    report = read_document(archive, REPORT, Report)
    collection = read_document(archive, ANNOTATIONS, AnnotationCollection)
    hashes = {name: digest(archive, name) for name in archive.sizes}
    quotes, statements = quotes_of(report), StatementCounts()
    signature = signature_state(archive, hashes, key)
    faults = list(
        islice(
            chain(
                check_signature(archive, hashes, key, signature),
                check_files(archive, entities, hashes),
                check_report(report),
                check_annotations(report, collection),
                check_sources(report, entities),
                check_runs(report, entities),
                _missing_texts(archive, quotes, withheld_texts(entities)),
                check_quotes(archive, quotes),
                check_statements(report, statements),
            ),
            FAULTS_MAX,
        )
    )
    page_maker = entities.get(PAGE, {}).get("version")
    page, further_faults = _compare(archive, hashes, page_maker, are_parts_sound=not faults)
    absent_texts = [text_hash for text_hash in quotes if snapshot_name(text_hash) not in archive.sizes]
    unchecked_quotes = sum(len(quotes[text_hash]) for text_hash in absent_texts)
    return Verification(
        files=len(archive.sizes),
        facts=len(report.findings),
        sources=len(report.sources),
        texts=sum(SNAPSHOT.fullmatch(name) is not None for name in archive.sizes),
        quotes=sum(map(len, quotes.values())) - unchecked_quotes,
        quotes_without_text=unchecked_quotes,
        statements=statements.all,
        statements_repeated=statements.repeated,
        statements_overruled=statements.overruled,
        answers=len(report.run_answers) + (report.answer is not None),
        runs=len(report.work.runs),
        page=page,
        page_maker=page_maker if isinstance(page_maker, str) else "",
        signature=signature,
        metadata_hash=hashes[METADATA],
        faults=(*faults, *further_faults)[:FAULTS_MAX],
    )


def _missing_texts(archive: Archive, quotes: Mapping[str, list[Quote]], withheld: set[str]) -> Iterator[str]:
    for text_hash in quotes:
        if snapshot_name(text_hash) not in archive.sizes and text_address(text_hash) not in withheld:
            yield f"The text {text_hash} that quotes rest on is missing."


def _compare(
    archive: Archive, hashes: Mapping[str, str], page_maker: object, *, are_parts_sound: bool
) -> tuple[PageState, list[str]]:
    """Whether the page is that of the report, and what else of the documents this version did not write."""
    if PAGE not in archive.sizes:
        return PageState.NOT_COMPARED, []  # a fault of the list of files
    if page_maker != remaking.maker():
        page = read(archive, PAGE, bytes_max=TEXT_BYTES_MAX)
        return PageState.NOT_COMPARED, list(active_content.check_page(page))
    try:
        report = reread(read(archive, REPORT, bytes_max=JSON_BYTES_MAX))
    except ReportUnreadable:
        return PageState.DIFFERENT, [f"{REPORT} holds values that no report of this version of Chiron has."]
    faults = list(remaking.check_page(report, hashes))
    page_state = PageState.DIFFERENT if faults else PageState.SAME
    if are_parts_sound:  # else their faults say more
        faults += remaking.check_documents(report, archive, hashes)
    return page_state, faults
