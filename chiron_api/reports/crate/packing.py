import hashlib
from pathlib import Path

from chiron_api.crate.layout import (
    ANNOTATIONS,
    FILES_MAX,
    METADATA,
    PAGE,
    REPORT,
    TOTAL_BYTES_MAX,
    is_readable,
    snapshot_name,
)
from chiron_api.reports.crate.annotations import annotations
from chiron_api.reports.crate.metadata import CrateFile, metadata
from chiron_api.reports.crate.privacy import TextChoice, is_public, without_secrets
from chiron_api.reports.crate.sinks import Sink, open_sink, refuse_target
from chiron_api.reports.formats import html, json
from chiron_api.reports.report import Report
from chiron_api.reports.write import encoded
from chiron_api.text import as_json, count
from chiron_workers.db.connect import Pool
from chiron_workers.errors import UsageError
from chiron_workers.knowledge import transfers
from chiron_workers.runs.session import Session


async def pack(pool: Pool, report: Report, target: Path, *, texts: TextChoice, force: bool) -> str:
    """Write a crate into a folder, or a file if it ends with .zip; what was written, in sentences.

    Raises:
        UsageError: Something is there that would be lost, or the report is too long for a crate.
    """
    refuse_target(target, force=force)
    text_hashes, withheld = _choose(report, texts)
    report = without_secrets(report)
    with open_sink(target, made_at=report.made_at) as sink:
        packing = _Packing(sink)
        packing.add(REPORT, b"".join(map(encoded, json.render(report))), "The report", "application/json")
        packing.add(PAGE, b"".join(map(encoded, html.render(report))), "The report as a page", "text/html")
        packing.add(
            ANNOTATIONS,
            as_json(annotations(report)).encode(),
            "The quotes as Web Annotations",
            "application/ld+json",
        )
        for text_hash in text_hashes:
            text = await transfers.text(Session(pool), text_hash)
            packing.add(
                snapshot_name(text_hash), text.encode(), "Text of a source as it was read", "text/plain"
            )
        content = as_json(metadata(report, packing.files, withheld)).encode()
        packing.add(METADATA, content, "", "application/ld+json")
    return _summary(report, target, text_hashes, withheld)


class _Packing:
    """Files on their way into a crate, within the bounds that its check has."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.files: dict[str, CrateFile] = {}
        self.bytes = 0

    def add(self, name: str, content: bytes, title: str, media_type: str) -> None:
        self.bytes += len(content)
        is_long = "json" in media_type and not is_readable(content)
        if is_long or self.bytes > TOTAL_BYTES_MAX or len(self.files) >= FILES_MAX:
            raise UsageError(
                "This is too much for a crate. Make one of a single batch or run, or say --texts none."
            )
        self.sink(name, content)
        self.files[name] = CrateFile(hashlib.sha256(content).hexdigest(), len(content), title, media_type)


def _choose(report: Report, texts: TextChoice) -> tuple[list[str], list[str]]:
    """The hashes of the texts that go into the crate, and of those that are left out."""
    urls_by_text: dict[str, list[str]] = {}
    for source in report.sources:
        if source.snapshot_hash:
            urls_by_text.setdefault(source.snapshot_hash, []).append(source.url)
    text_hashes = [
        text_hash
        for text_hash, urls in sorted(urls_by_text.items())
        if texts is TextChoice.ALL or (texts is TextChoice.PUBLIC and any(map(is_public, urls)))
    ]
    return text_hashes, sorted(urls_by_text.keys() - set(text_hashes))


def _summary(report: Report, target: Path, text_hashes: list[str], withheld: list[str]) -> str:
    parts = [
        f"{target} written: {count(len(report.by_number()), 'fact')}, {count(len(text_hashes), 'text')} of sources."
    ]
    if text_hashes:
        parts.append("Those texts are their authors': see to their licences before you hand the crate on.")
    if withheld:
        parts.append(
            f"Left out: {count(len(withheld), 'text')}, whose quotes nobody else can check. "
            "--texts all adds your own files and pages of your own network too."
        )
    return " ".join(parts)
