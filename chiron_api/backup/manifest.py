"""What a backup says of itself: how many rows each of its tables has, in a line behind what pg_dump wrote."""

import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict, NonNegativeInt, ValidationError

from chiron_workers.errors import ChironError

MARK = b"\nchiron-manifest "  # pg_restore reads by offsets, and so does not see what follows the data.
BYTES_MAX = 1 << 20


class Manifest(BaseModel):
    """The rows of each table, by its name in the file."""

    model_config = ConfigDict(extra="forbid")

    rows: dict[str, NonNegativeInt]


def append(path: Path, manifest: Manifest) -> None:
    """Write the manifest to the end of the file."""
    with path.open("ab") as file:
        file.write(MARK + manifest.model_dump_json().encode() + b"\n")


def read(path: Path) -> Manifest | None:
    """The manifest, or None: backups of earlier versions have none. Raises ChironError where it is damaged."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - BYTES_MAX))
        tail = file.read(BYTES_MAX)
    _, mark, text = tail.rpartition(MARK)
    if not mark:
        return None
    try:
        return Manifest.model_validate_json(text)
    except ValidationError:
        raise ChironError(
            f"Nothing was restored: {path} is damaged: the list of its tables cannot be read."
        ) from None
