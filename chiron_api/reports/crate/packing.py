import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from chiron_api.crate.layout import (
    ANNOTATIONS,
    FILES_MAX,
    MANIFEST,
    METADATA,
    PAGE,
    REPORT,
    SIGNATURE,
    SIGNING_FILES,
    TOTAL_BYTES_MAX,
    is_readable,
    snapshot_name,
)
from chiron_api.crate.signatures import fingerprint, manifest
from chiron_api.reports.crate import remaking
from chiron_api.reports.crate.metadata import CrateFile, crate_file
from chiron_api.reports.crate.options import PackingOptions
from chiron_api.reports.crate.privacy import TextChoice, is_public, without_secrets
from chiron_api.reports.crate.rereading import reread
from chiron_api.reports.crate.sinks import Sink, open_sink, refuse_target
from chiron_api.reports.report import Report
from chiron_api.text import count
from chiron_workers.db.connect import Pool
from chiron_workers.errors import UsageError
from chiron_workers.knowledge import transfers
from chiron_workers.runs.session import Session

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


async def pack(pool: Pool, report: Report, target: Path, options: PackingOptions) -> str:
    """Write a crate into a folder, or a file if it ends with .zip; what was written, in sentences.

    Raises:
        UsageError: Something is there that would be lost, or the report is too long for a crate.
    """
    refuse_target(target, force=options.force)
    text_hashes, withheld = _choose(report, options.texts)
    # As a check reads it, which then makes the same documents of it.
    report = reread(b"".join(remaking.write_json(without_secrets(report))))
    with open_sink(target, made_at=report.made_at) as sink:
        packing = _Packing(sink)
        packing.add(REPORT, remaking.write_json(report))
        packing.add(PAGE, remaking.write_page(report))
        packing.add(ANNOTATIONS, remaking.write_annotations(report))
        for text_hash in text_hashes:
            text = await transfers.text(Session(pool), text_hash)
            packing.add(snapshot_name(text_hash), [text.encode()])
        packing.add(METADATA, remaking.write_metadata(report, packing.files, withheld))
        if options.key:
            packing.sign(options.key)
    return _summary(report, target, text_hashes, withheld, options.key)


class _Packing:
    """Files on their way into a crate, within the bounds that its check has."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.files: dict[str, CrateFile] = {}
        self.bytes = 0

    def add(self, name: str, pieces: Iterable[bytes]) -> None:
        content = b"".join(pieces)
        file = crate_file(name, hashlib.sha256(content).hexdigest(), len(content))
        self.bytes += len(content)
        is_long = "json" in file.media_type and not is_readable(content)
        files_max = FILES_MAX - len(SIGNING_FILES)
        if is_long or self.bytes > TOTAL_BYTES_MAX or len(self.files) >= files_max:
            raise UsageError(
                "This is too much for a crate. Make one of a single batch or run, or leave the texts out (texts: none)."
            )
        self.sink(name, content)
        self.files[name] = file

    def sign(self, key: "Ed25519PrivateKey") -> None:
        content = manifest({name: file.sha256 for name, file in self.files.items()})
        self.sink(MANIFEST, content)
        self.sink(SIGNATURE, key.sign(content))


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


def _summary(
    report: Report,
    target: Path,
    text_hashes: list[str],
    withheld: list[str],
    key: "Ed25519PrivateKey | None",
) -> str:
    parts = [
        f"{target} written: {count(len(report.by_number()), 'fact')}, {count(len(text_hashes), 'text')} of sources."
    ]
    if text_hashes:
        parts.append("Those texts are their authors': see to their licences before you hand the crate on.")
    if withheld:
        parts.append(
            f"Left out: {count(len(withheld), 'text')}, whose quotes nobody else can check. "
            "With all texts (texts: all) your own files and pages of your own network are added too."
        )
    if key:
        parts.append(f"Signed with the key {fingerprint(key.public_key())}.")
    return " ".join(parts)
