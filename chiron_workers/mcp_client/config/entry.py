"""A server as the file with the MCP servers writes it."""

import difflib
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from chiron_workers.errors import ConfigurationError

HTTP_TYPES = frozenset({"http", "streamable-http", "streamableHttp", "streamable_http"})


def _text(value: object) -> object:
    """Numbers and booleans as an environment holds them."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


Text = Annotated[str, BeforeValidator(_text)]


class Entry(BaseModel):
    """A server as the file writes it. Keys that only other programs know are passed over."""

    model_config = ConfigDict(extra="ignore", strict=True)

    type: str | None = None
    command: str | None = Field(None, min_length=1)
    args: list[Text] = []
    env: dict[str, Text] = {}
    cwd: str | None = None
    url: str | None = Field(None, pattern=r"^https?://[^/]")
    headers: dict[str, Text] = {}
    timeout: float | None = Field(None, gt=0, le=3600)
    allowed_tools: list[str] | None = Field(None, alias="allowedTools")
    disabled: bool = False


KEYS = {field.alias or name for name, field in Entry.model_fields.items()} | {"transport"}


def read_entry(name: str, entry: object) -> Entry:
    """One server of the file. Raises ConfigurationError, which names the server and the field and repeats no value."""
    if not isinstance(entry, dict):
        raise ConfigurationError(f"The server {name!r} must be an object with a command or a url.")
    _refuse_misspelt(name, entry)
    try:
        read = Entry.model_validate(entry)
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(step) for step in problem["loc"])
        hint = " (in seconds)" if place == "timeout" else ""
        raise ConfigurationError(f"The server {name!r}, {place}: {problem['msg']}{hint}.") from None
    if not read.disabled:
        _refuse_mixtures(name, read, str(entry.get("type") or entry.get("transport") or ""))
    return read


def require_headers(name: str, headers: Mapping[str, str]) -> None:
    """Raises ConfigurationError where these cannot be sent as headers."""
    for header, value in headers.items():
        if not header.isascii() or not header.replace("-", "").replace("_", "").isalnum():
            raise ConfigurationError(f"The server {name!r}, headers: {header!r} is no name of a header.")
        if not value.isascii() or not value.isprintable():
            raise ConfigurationError(
                f"The server {name!r}, headers.{header}: must be printable ASCII on one line."
            )


def _refuse_misspelt(name: str, entry: dict[str, Any]) -> None:
    # Files are shared with other programs, so unknown keys are no error; but one that was meant to limit us must not
    # be passed over.
    for key in entry.keys() - KEYS:
        folded = key.replace("_", "").replace("-", "").casefold()
        near = difflib.get_close_matches(folded, [known.casefold() for known in KEYS], n=1, cutoff=0.85)
        if near:
            meant = next(known for known in KEYS if known.casefold() == near[0])
            raise ConfigurationError(f"The server {name!r}, {key}: is not known; did you mean {meant}?")


def _refuse_mixtures(name: str, read: Entry, kind: str) -> None:
    if (read.command is None) == (read.url is None):
        raise ConfigurationError(f"The server {name!r} must have a command or a url, one of them.")
    if kind == "sse":
        raise ConfigurationError(
            f"The server {name!r}, type: sse is the transport of 2024, which is not spoken here; give the server's "
            "streamable HTTP address."
        )
    right = ("stdio",) if read.command is not None else tuple(sorted(HTTP_TYPES))
    if kind and kind not in right:
        what = "a command" if read.command is not None else "a url"
        raise ConfigurationError(f"The server {name!r}, type: with {what} it must be {' or '.join(right)}.")
