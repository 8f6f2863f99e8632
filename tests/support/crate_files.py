"""Crates taken apart and put together again, also with parts that no crate has."""

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

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


def repair_hashes(files: Files) -> None:
    """List the files anew, as somebody who forges a crate does."""
    metadata = document(files, METADATA)
    for entry in metadata["@graph"]:
        if entry["@type"] == "File" and entry["@id"] in files:
            entry["sha256"] = hashlib.sha256(files[entry["@id"]]).hexdigest()
            entry["contentSize"] = str(len(files[entry["@id"]]))
    put(files, METADATA, metadata)
