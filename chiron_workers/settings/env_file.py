"""What a file `.env` may not set: whoever made the folder it lies in would have code of theirs run."""

from pathlib import Path

from dotenv import dotenv_values

from chiron_workers.errors import ConfigurationError

FILE = Path(".env")
# Folders and files whose contents run as code, or that say where such are looked for; and whose files agents read.
RUN_CODE = ("CHIRON_FILES", "CHIRON_HOME", "CHIRON_TOOLS", "CHIRON_TRUSTED_SKILLS", "CHIRON_MCP_SERVERS")


def refuse_code(file: Path = FILE) -> None:
    """Raise ConfigurationError where a `.env` file names what would run as code; the environment may."""
    try:
        values = {name.upper(): value or "" for name, value in dotenv_values(file).items()}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{file.absolute()} cannot be read: {error}.") from None
    denied = [name for name in RUN_CODE if name in values]  # empty, it would name the folder itself
    if any(mark in values.get("CHIRON_SEARCH", "") for mark in "./"):
        denied.append("CHIRON_SEARCH with a module or file")
    if denied:
        raise ConfigurationError(
            f"{file.absolute()} sets {', '.join(denied)}. What these name runs as code, or is read by agents, so a file that "
            "comes with a folder may not set them: put them into the environment (`export`, or `env_file` of a service) instead."
        )
