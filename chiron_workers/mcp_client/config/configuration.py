import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chiron_workers.errors import ConfigurationError
from chiron_workers.mcp_client.config.entry import read_entry, require_headers
from chiron_workers.mcp_client.config.env_expansion import Expander
from chiron_workers.mcp_client.config.names import slug
from chiron_workers.mcp_client.config.redaction import Redaction, secret_arguments, secret_parts
from chiron_workers.settings import Settings

FILE = "mcp.json"
FILE_BYTES_MAX = 1_000_000


@dataclass(frozen=True, slots=True, repr=False)
class ServerConfig:
    """One server to connect to: a command to start, or an address.

    It holds secrets (`env`, `headers`, `args`, `url`), so it has no `repr`; `address` and `redaction` are for people.
    """

    name: str
    slug: str  # what the names of its tools begin with
    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str | None
    url: str
    written_url: str  # its variables as names
    headers: Mapping[str, str]
    timeout_s: float | None
    allowed_tools: frozenset[str] | None  # None: all
    redaction: Redaction

    @property
    def transport(self) -> str:
        """`stdio` or `http`."""
        return "http" if self.url else "stdio"

    @property
    def address(self) -> str:
        """Where the server is, without anything that may be a secret."""
        if not self.url:
            return self.redaction(Path(self.command).name)
        scheme, _, rest = self.written_url.partition("://")
        host, slash, path = rest.partition("?")[0].partition("#")[0].partition("/")
        return self.redaction(f"{scheme}://{host.rpartition('@')[2]}{slash}{path}")


@dataclass(frozen=True, slots=True)
class Configuration:
    """The servers of a file: those to use, the names of those that are disabled, and what is wrong with the others."""

    file: Path | None = None
    servers: tuple[ServerConfig, ...] = ()
    disabled: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def file_of(settings: Settings) -> Path | None:
    """The file that names the servers, or None where there is none."""
    if settings.mcp_servers:
        return Path(settings.mcp_servers).expanduser()
    usual = settings.home / FILE
    return usual if usual.is_file() else None


def read_configuration(settings: Settings) -> Configuration:
    """The MCP servers that are configured. A broken entry is a sentence in `problems`; the others still count.

    Raises:
        ConfigurationError: The file as a whole cannot be used.
    """
    file = file_of(settings)
    if file is None:
        return Configuration()
    servers: list[ServerConfig] = []
    disabled: list[str] = []
    problems: list[str] = []
    for name, entry in _entries(file).items():
        try:
            found = server_config(name, entry)
        except ConfigurationError as error:
            problems.append(f"{file}: {error}")
        else:
            if found is None:
                disabled.append(name)
            else:
                servers.append(found)
    return Configuration(file, tuple(servers), tuple(disabled), tuple(problems))


def server_config(name: str, entry: object) -> ServerConfig | None:
    """One server as the file writes it, or None where it is disabled.

    Raises:
        ConfigurationError: Something is wrong; the sentence names the server and the field, and repeats no value.
    """
    read = read_entry(name, entry)
    if read.disabled:
        return None
    expand = Expander(f"The server {name!r}")
    env, headers = expand.table("env", read.env), expand.table("headers", read.headers)
    url = expand("url", read.url or "")
    args = tuple(expand(f"args.{n}", one) for n, one in enumerate(read.args))
    require_headers(name, headers)
    return ServerConfig(
        name=name,
        slug=slug(name),
        command=expand("command", read.command or ""),
        args=args,
        env=env,
        cwd=expand("cwd", read.cwd) if read.cwd else None,
        url=url,
        written_url=expand.unopened(read.url or ""),
        headers=headers,
        timeout_s=read.timeout,
        allowed_tools=None if read.allowed_tools is None else frozenset(read.allowed_tools),
        redaction=Redaction.of([*expand.secrets, *secret_arguments(args), *secret_parts(url)]),
    )


def _entries(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as opened:
            text = opened.read(FILE_BYTES_MAX + 1)
        if len(text) > FILE_BYTES_MAX:
            raise ConfigurationError(f"{file} is longer than {FILE_BYTES_MAX:,} bytes.")
        read = json.loads(text.decode("utf-8-sig"), object_pairs_hook=_without_doubles)
    except OSError as error:
        raise ConfigurationError(
            f"{file} cannot be read: {error.strerror or error}. Correct CHIRON_MCP_SERVERS."
        ) from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{file} is not UTF-8 text.") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ConfigurationError(f"{file} is not JSON: {error.msg} at {place}.") from None
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{file}: {error}.") from None
    servers = read.get("mcpServers") if isinstance(read, dict) else None
    if not isinstance(servers, dict):
        raise ConfigurationError(f'{file} must be an object with "mcpServers": {{name: server, ...}}.')
    return servers


def _without_doubles(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"{key!r} stands there twice in one object")
        found[key] = value
    return found
