"""An entry of the file that names the MCP servers, validated."""

import difflib
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from chiron_workers.errors import ConfigurationError

HTTP_TYPES = frozenset({"http", "streamable-http", "streamableHttp", "streamable_http"})


def _as_text(value: object) -> object:
    """Numbers and booleans in the form of environment variables."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


Text = Annotated[str, BeforeValidator(_as_text)]


class Entry(BaseModel):
    """A server in the file. Keys that only other programs know are ignored."""

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
    private: bool = False


KEYS = {field.alias or name for name, field in Entry.model_fields.items()} | {"transport"}
KEYS_BY_CASEFOLD = {key.casefold(): key for key in KEYS}


def read_entry(name: str, entry: object) -> Entry:
    """Validate one entry. Raises ConfigurationError, which names the server and the field and repeats no value."""
    if not isinstance(entry, dict):
        raise ConfigurationError(f"The server {name!r} must be an object with a command or a url.")
    _refuse_misspelt_keys(name, entry)
    try:
        fields = Entry.model_validate(entry)
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(step) for step in problem["loc"])
        hint = " (in seconds)" if place == "timeout" else ""
        raise ConfigurationError(f"The server {name!r}, {place}: {problem['msg']}{hint}.") from None
    if not fields.disabled:
        _require_one_transport(name, fields, str(entry.get("type") or entry.get("transport") or ""))
    return fields


def require_headers(name: str, headers: Mapping[str, str]) -> None:
    """Raises ConfigurationError where these cannot be sent as headers of HTTP."""
    for header, value in headers.items():
        if not header.isascii() or not header.replace("-", "").replace("_", "").isalnum():
            raise ConfigurationError(f"The server {name!r}, headers: {header!r} is no name of a header.")
        if not value.isascii() or not value.isprintable():
            raise ConfigurationError(
                f"The server {name!r}, headers.{header}: must be printable ASCII on one line."
            )


def _refuse_misspelt_keys(name: str, entry: dict[str, Any]) -> None:
    # Files are shared with other programs, so unknown keys are no error. A misspelt limit must not be ignored, though.
    for key in entry.keys() - KEYS:
        plain_key = key.replace("_", "").replace("-", "").casefold()
        matches = difflib.get_close_matches(plain_key, KEYS_BY_CASEFOLD, n=1, cutoff=0.85)
        if matches:
            suggestion = KEYS_BY_CASEFOLD[matches[0]]
            raise ConfigurationError(f"The server {name!r}, {key}: is not known; did you mean {suggestion}?")


def _require_one_transport(name: str, fields: Entry, transport: str) -> None:
    if (fields.command is None) == (fields.url is None):
        raise ConfigurationError(f"The server {name!r} must have a command or a url, one of them.")
    if transport == "sse":
        raise ConfigurationError(
            f"The server {name!r}, type: sse is the transport of 2024, which is not spoken here; give the server's "
            "streamable HTTP address."
        )
    transports = ("stdio",) if fields.command is not None else tuple(sorted(HTTP_TYPES))
    if transport and transport not in transports:
        target = "a command" if fields.command is not None else "a url"
        raise ConfigurationError(
            f"The server {name!r}, type: with {target} it must be {' or '.join(transports)}."
        )
