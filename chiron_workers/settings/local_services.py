"""Where the embedded services of a CHIRON_HOME listen: written by `chiron up`, read by everything else."""

import os
from pathlib import Path

from pydantic import BaseModel, ValidationError

from chiron_workers.errors import ChironError, ConfigurationError


class Addresses(BaseModel):
    """URLs of the services that `chiron up` starts, empty for those that it does not."""

    database_url: str = ""
    redis_url: str = ""


def addresses_file(home: Path) -> Path:
    """The file in which `chiron up` leaves the addresses."""
    return home / "addresses.json"


def read_addresses(home: Path) -> Addresses:
    """The addresses of a home; none of them where `chiron up` never ran. Raises ChironError."""
    file = addresses_file(home)
    try:
        return Addresses.model_validate_json(file.read_text())
    except FileNotFoundError:
        return Addresses()
    except NotADirectoryError:
        raise ChironError(_no_folder(home)) from None
    except ValidationError:
        raise ConfigurationError(
            f"{file} cannot be read as addresses. Delete it; `chiron up` writes it anew."
        ) from None


def write_addresses(home: Path, addresses: Addresses) -> None:
    """Leave the addresses for other processes; mode 0600, since the Redis URL carries a password."""
    file = addresses_file(home)
    fresh = file.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as target:
        target.write(addresses.model_dump_json(indent=2) + "\n")
    fresh.replace(file)  # Whoever reads meanwhile finds the old file or the new one, never half of one.


def _no_folder(home: Path) -> str:
    file = next(path for path in (home, *home.parents) if path.exists() and not path.is_dir())
    subject = "it" if file == home else str(file)
    return (
        f"CHIRON_HOME is {home}, and {subject} is a file, not a folder. Set CHIRON_HOME to a folder, in the environment or "
        "in .env; one that is not there yet is made."
    )
