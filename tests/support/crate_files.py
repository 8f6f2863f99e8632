"""Crates taken apart and put together again, also with parts that no crate has."""

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from chiron_api.crate.layout import DOCUMENTS, MANIFEST, SIGNATURE, SNAPSHOT
from chiron_api.crate.signatures import manifest
from chiron_api.reports.crate.metadata import crate_file
from chiron_api.reports.crate.remaking import write_annotations, write_json, write_metadata, write_page
from chiron_api.reports.crate.rereading import reread

Files = dict[str, bytes]
METADATA = "ro-crate-metadata.json"


def read_files(crate: Path) -> Files:
    return {
        place.relative_to(crate).as_posix(): place.read_bytes()
        for place in sorted(crate.rglob("*"))
        if place.is_file()
    }


def write_zip(files: Files, place: Path) -> Path:
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return place


def document(files: Files, name: str) -> Any:
    return json.loads(files[name])


def put(files: Files, name: str, value: Any) -> None:
    files[name] = json.dumps(value).encode()


def entity(metadata: Any, id: str) -> dict[str, Any]:
    return next(entry for entry in metadata["@graph"] if entry["@id"] == id)


def claim_other_version(files: Files) -> None:
    """Have another version write the page, so that no check compares it with the report."""
    metadata = document(files, METADATA)
    entity(metadata, "report.html")["version"] = "0.0.1 000000000000"
    put(files, METADATA, metadata)


def remake(files: Files) -> None:
    """Make all documents of the report anew, as a forger with our own code does."""
    report = reread(files["report.json"])
    for name, pieces in (
        ("report.json", write_json(report)),
        ("report.html", write_page(report)),
        ("annotations.jsonld", write_annotations(report)),
    ):
        files[name] = b"".join(pieces)
    names = [*DOCUMENTS, *sorted(filter(SNAPSHOT.fullmatch, files))]
    parts = {
        name: crate_file(name, hashlib.sha256(files[name]).hexdigest(), len(files[name])) for name in names
    }
    text_hashes = {source.snapshot_hash for source in report.sources if source.snapshot_hash}
    withheld = sorted(digest for digest in text_hashes if f"snapshots/{digest}.txt" not in files)
    files[METADATA] = b"".join(write_metadata(report, parts, withheld))


def sign(files: Files, key: Ed25519PrivateKey) -> None:
    content = manifest({name: hashlib.sha256(content).hexdigest() for name, content in files.items()})
    files |= {MANIFEST: content, SIGNATURE: key.sign(content)}


def repair_hashes(files: Files) -> None:
    """List the files anew, as somebody who forges a crate does."""
    metadata = document(files, METADATA)
    for entry in metadata["@graph"]:
        if entry["@type"] == "File" and entry["@id"] in files:
            entry["sha256"] = hashlib.sha256(files[entry["@id"]]).hexdigest()
            entry["contentSize"] = str(len(files[entry["@id"]]))
    put(files, METADATA, metadata)
