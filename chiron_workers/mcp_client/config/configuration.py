import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chiron_workers.errors import ConfigurationError
from chiron_workers.mcp_client.config.entry import read_entry, require_headers
from chiron_workers.mcp_client.config.env_expansion import Expander
from chiron_workers.mcp_client.config.names import server_slug
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
    url_template: str  # the URL with names of variables instead of their values
    headers: Mapping[str, str]
    timeout_s: float | None
    allowed_tools: frozenset[str] | None  # None: all
    is_private: bool  # it may be sent words of private files
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
        scheme, _, location = self.url_template.partition("://")
        host, slash, path = location.partition("?")[0].partition("#")[0].partition("/")
        return self.redaction(f"{scheme}://{host.rpartition('@')[2]}{slash}{path}")


@dataclass(frozen=True, slots=True)
class Configuration:
    """The servers of a file, the names of those that are disabled, and a sentence for each wrong entry."""

    file: Path | None = None
    servers: tuple[ServerConfig, ...] = ()
    disabled_names: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def config_file(settings: Settings) -> Path | None:
    """The file that names the servers, or None where there is none."""
    if settings.mcp_servers:
        return Path(settings.mcp_servers).expanduser()
    default_file = settings.home / FILE
    return default_file if default_file.is_file() else None


def read_configuration(settings: Settings) -> Configuration:
    """The MCP servers that are configured. A broken entry is a sentence in `problems`; the others still count.

    Raises:
        ConfigurationError: The file as a whole cannot be used.
    """
    file = config_file(settings)
    if file is None:
        return Configuration()
    servers: list[ServerConfig] = []
    disabled_names: list[str] = []
    problems: list[str] = []
    for name, entry in _read_entries(file).items():
        try:
            server = server_config(name, entry)
        except ConfigurationError as error:
            problems.append(f"{file}: {error}")
        else:
            if server is None:
                disabled_names.append(name)
            else:
                servers.append(server)
    return Configuration(file, tuple(servers), tuple(disabled_names), tuple(problems))


def server_config(name: str, entry: object) -> ServerConfig | None:
    """The configuration of one server from its entry in the file, or None where it is disabled.

    Raises:
        ConfigurationError: Something is wrong; the sentence names the server and the field, and repeats no value.
    """
    fields = read_entry(name, entry)
    if fields.disabled:
        return None
    expand = Expander(f"The server {name!r}")
    env, headers = expand.table("env", fields.env), expand.table("headers", fields.headers)
    url = expand("url", fields.url or "")
    args = tuple(expand(f"args.{n}", argument) for n, argument in enumerate(fields.args))
    require_headers(name, headers)
    return ServerConfig(
        name=name,
        slug=server_slug(name),
        command=expand("command", fields.command or ""),
        args=args,
        env=env,
        cwd=expand("cwd", fields.cwd) if fields.cwd else None,
        url=url,
        url_template=expand.without_values(fields.url or ""),
        headers=headers,
        timeout_s=fields.timeout,
        allowed_tools=None if fields.allowed_tools is None else frozenset(fields.allowed_tools),
        is_private=fields.private,
        redaction=Redaction.of([*expand.secrets, *secret_arguments(args), *secret_parts(url)]),
    )


def _read_entries(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as stream:
            data = stream.read(FILE_BYTES_MAX + 1)
        if len(data) > FILE_BYTES_MAX:
            raise ConfigurationError(f"{file} is longer than {FILE_BYTES_MAX:,} bytes.")
        content = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_reject_duplicate_keys)
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
    servers = content.get("mcpServers") if isinstance(content, dict) else None
    if not isinstance(servers, dict):
        raise ConfigurationError(f'{file} must be an object with "mcpServers": {{name: server, ...}}.')
    return servers


def _reject_duplicate_keys(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise ValueError(f"{key!r} stands there twice in one object")
        members[key] = value
    return members
