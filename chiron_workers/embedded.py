"""Where the embedded services of a CHIRON_HOME listen: written by `chiron up`, read by everything else."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

if TYPE_CHECKING:
    from chiron_workers.settings import Settings


class Addresses(BaseModel):
    """URLs of the services that `chiron up` starts; the file is readable by its owner alone."""

    database_url: str
    redis_url: str


def addresses_file(home: Path) -> Path:
    """The file in which `chiron up` leaves the addresses."""
    return home / "addresses.json"


def read_addresses(home: Path) -> Addresses | None:
    """The addresses of a home, or None where `chiron up` never ran."""
    try:
        return Addresses.model_validate_json(addresses_file(home).read_text())
    except FileNotFoundError:
        return None


def write_addresses(home: Path, addresses: Addresses) -> None:
    """Leave the addresses for other processes; mode 0600, since the Redis URL carries a password."""
    file = addresses_file(home)
    file.touch(mode=0o600)
    file.write_text(json.dumps(addresses.model_dump(), indent=2) + "\n")


def fill_in(found: "Settings") -> "Settings":
    """Settings with the embedded addresses in place of empty URLs; URLs that were set stay."""
    addresses = read_addresses(found.home) or Addresses(database_url="", redis_url="")
    return found.model_copy(
        update={
            "database_url": found.database_url or addresses.database_url,
            "redis_url": found.redis_url or addresses.redis_url,
        }
    )
