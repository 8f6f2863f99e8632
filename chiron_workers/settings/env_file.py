"""A `.env` of the current folder. Whoever made that folder may have made the file, so it sets only what is harmless."""

import os
import stat
import unicodedata
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

from dotenv import dotenv_values
from pydantic_settings import DotEnvSettingsSource

from chiron_workers.errors import ConfigurationError

FILE = Path(".env")
BYTES_MAX = 100_000
# A setting is on this list only if it names no address, key, provider, file, folder or code, and loosens nothing that bounds
# money, evidence, politeness or what a stranger's page may take of this machine.
HARMLESS = frozenset(
    f"CHIRON_{name}"
    for name in (
        "MODEL", "MAX_TOKENS", "THINKING", "EFFORT", "CONTEXT_TOKENS", "MAX_TURNS", "MAX_ATTEMPTS",
        "MODEL_TIMEOUT_S", "MODEL_TRIES", "CACHE_TTL", "MODEL_PATIENCE_S", "RATE_LIMITS", "CLAUDE_SEARCH", "CONCURRENCY",
        "MODEL_CONCURRENCY", "POOL_SIZE", "LEASE_S", "RENEWAL_S", "RESCUE_S", "RING_AGAIN_S", "DRAIN_S", "TOOL_TIMEOUT_S",
        "TOOL_RESULT_CHARS", "SEARCH_TIMEOUT_S", "FETCH_TIMEOUT_S", "FETCH_CACHE_S", "FILE_TIMEOUT_S", "LOG_LEVEL",
    )
)  # fmt: skip


class HarmlessEnvFile(DotEnvSettingsSource):
    """The values of a `.env` that such a file may set, as a source of pydantic-settings."""

    def _load_env_vars(self) -> Mapping[str, str | None]:
        # Names are compared here, exactly: pydantic-settings lowers them, and "K" (the kelvin sign) becomes a "k".
        return {name.lower(): value for name, value in harmless_values().items()}


def harmless_values(file: Path = FILE) -> dict[str, str]:
    """What a `.env` sets beside the environment, which wins; other programs' names are left out.

    Raises:
        ConfigurationError: It sets a name of Chiron's that only the environment may set, or it cannot be read.
    """
    values = {
        name: value
        for name, value in dotenv_values(stream=StringIO(_text(file)), interpolate=False).items()
        if value and _is_of_chiron(name) and name not in os.environ  # empty, it sets nothing
    }
    denied = [name for name, value in values.items() if name not in HARMLESS or "${" in value]
    if denied:
        raise ConfigurationError(
            f"{file.absolute()} sets {', '.join(map(_printable, denied))}. Such a file may have come with the folder, so it sets "
            "only what docs/settings.md lists for it, without values of other variables. Put the rest into the environment: "
            "`export`, `env_file` of a service or, if the file is yours, `uv run --env-file .env chiron ...`."
        )
    return values


def _is_of_chiron(name: str) -> bool:
    return unicodedata.normalize("NFKC", name).casefold().startswith("chiron")


def _printable(name: str) -> str:
    return name[:60] if name.isascii() else ascii(name[:60])


def _text(file: Path) -> str:
    """The text of a `.env`, empty where there is none or a folder (of a virtual environment) has its name."""
    try:
        mode = file.stat().st_mode
        if stat.S_ISDIR(mode):
            return ""
        if not stat.S_ISREG(mode):
            raise ConfigurationError(
                f"{file.absolute()} is no ordinary file. Put its values into the environment."
            )
        with file.open("rb") as source:
            content = source.read(BYTES_MAX + 1)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise ConfigurationError(f"{file.absolute()} cannot be read: {error}.") from None
    if len(content) > BYTES_MAX:
        raise ConfigurationError(f"{file.absolute()} has more than {BYTES_MAX:,} bytes.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file.absolute()} cannot be read: {error}.") from None
