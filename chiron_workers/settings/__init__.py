"""Every setting, its default and its meaning, once. The environment (prefix CHIRON_) sets them; some, a .env file as well."""

from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self

from platformdirs import user_data_path
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from chiron_workers.errors import ConfigurationError
from chiron_workers.settings.env_file import HarmlessEnvFile
from chiron_workers.settings.local_services import read_addresses
from chiron_workers.settings.values import (
    Folder,
    Folders,
    Networks,
    Places,
    Port,
    RateLimit,
    Seconds,
    ServicePrice,
    ServiceUrl,
    Usd,
    UsdPerMillion,
    price_object,
    provider_places,
    source_table,
    split_path,
)
from chiron_workers.states import Effort, ThinkingMode

OFFLINE_MODEL = "offline"  # the offline researcher: it costs nothing, needs no network, and cannot judge
MAX_ATTEMPTS = 5
KEY_CHARS_MIN = 20  # of a key that a person has chosen
PRICE_NAMES = ("input", "output", "cache_write", "cache_write_1h", "cache_read", "web_search")


class Settings(BaseSettings):
    """What a process of Chiron needs to know; see docs/settings.md."""

    # pydantic-settings reads no file by itself; `_env_file=None` leaves out the one that HarmlessEnvFile reads.
    model_config = SettingsConfigDict(env_prefix="CHIRON_", env_file=(), extra="ignore")

    home: Folder = Field(
        default_factory=lambda: user_data_path("chiron"), description="Folder of the embedded services' data."
    )
    database_url: str = Field("", description="PostgreSQL with pgvector. Empty: the embedded one.")
    redis_url: str = Field(
        "",
        description="Redis or Valkey for events and rate limits, redis:// or rediss://. Empty: the embedded one.",
    )
    broker_url: str = Field(
        "", description="Celery's broker: redis://, rediss://, amqp:// or amqps://. Empty: the Redis URL."
    )

    model: str = Field(
        "claude-opus-5-5", description="Model of new runs; `offline` plays them with the offline researcher."
    )
    max_tokens: int = Field(16_000, ge=1, description="Output tokens a model reply may have.")
    thinking: ThinkingMode = Field(
        ThinkingMode.AUTO,
        description="How models of new runs think: `adaptive`, `between_tools`, `enabled`, `disabled`, or `auto` for what a "
        "Claude model needs to say something between its calls.",
    )
    effort: Effort | Literal[""] = Field(
        "",
        description="How much effort they make: `low`, `medium`, `high`, `xhigh` or `max`. Empty: the model's own default.",
    )
    context_tokens: dict[str, Annotated[int, Field(ge=8_000)]] = Field(
        default_factory=dict,
        description="Tokens of a model's context window, by model. Without it the model's server is asked.",
    )
    max_turns: int = Field(200, ge=1, description="Model replies a run may take before it fails.")
    max_attempts: int = Field(
        MAX_ATTEMPTS,
        ge=1,
        description="Executions of a run one after the other that end in an error of the program and add nothing to its "
        "journal, before it fails. Where only the run's lease runs out on a worker that lives, the run pauses instead. Ends of "
        "its workers do not count; a run that may be why they end pauses.",
    )
    model_timeout_s: Seconds = Field(
        600, description="Seconds that a model call waits for its reply to begin."
    )
    model_idle_s: Seconds = Field(
        120,
        description="Seconds that a reply which has begun may bring nothing, not even a ping, before it is cut.",
    )
    model_progress_s: Seconds = Field(
        600,
        description="Seconds that a stream may bring nothing but pings and comments, also before its reply begins.",
    )
    transport: Literal["aiohttp", "sdk"] = Field(
        "aiohttp",
        description="What carries model calls: Chiron's own requests (`aiohttp`), or Anthropic's SDK (`sdk`).",
    )
    model_tries: int = Field(
        5, ge=1, description="Tries of a model call in the worker before the run is handed back."
    )
    cache_ttl: Literal["5m", "1h"] = Field(
        "5m",
        description="How long Claude's prompt cache keeps a conversation after a call; `1h` is dearer to write than `5m`.",
    )
    model_patience_s: Annotated[float, Field(gt=0, le=2_592_000)] = Field(
        172_800, description="Seconds that a run waits for a model that does not answer before it fails."
    )
    rate_limits: dict[str, RateLimit] = Field(
        default_factory=dict,
        description="Limits by model, shared by all workers: requests_per_minute, tokens_per_minute, "
        "input_tokens_per_minute, output_tokens_per_minute.",
    )
    claude_search: bool = Field(
        True, description="Let runs of Claude models discover sources with Anthropic's server-side search."
    )
    prices: dict[str, dict[str, UsdPerMillion] | Literal["none"]] = Field(
        default_factory=dict,
        description="USD per million tokens by model: input, output, cache_write, cache_write_1h, cache_read, web_search; or "
        '"none" for a model without a price. Overrides the built-in prices.',
    )
    service_prices: dict[str, Annotated[ServicePrice, BeforeValidator(price_object)]] = Field(
        default_factory=dict,
        description='USD of hosted services by name, as JSON: a search provider by its name, per call (`{"brave": 0.005}`); an '
        'embedding model by its name, per million tokens (`{"voyage-3.5": {"per_million_tokens": 0.06}}`). 0: it costs nothing. '
        "Where a budget in USD binds, a hosted service without a price is not asked.",
    )
    run_budget_usd: Usd = Field(
        Decimal(20), description="What a run may cost if its submit does not say; it pauses there."
    )
    daily_budget_usd: Annotated[Decimal, Field(ge=0)] = Field(
        Decimal(0),
        description="What all runs together may cost on a day (UTC); they go on the day after. 0: no limit.",
    )

    subscription_interval_s: Annotated[float, Field(ge=60, le=31_536_000)] = Field(
        3600, description="Seconds that must lie between two times of a subscription."
    )
    subscriptions_per_subject: int = Field(
        20, ge=0, description="Active subscriptions that a subject may have."
    )

    workers: int = Field(
        0,
        ge=0,
        description="Worker processes that `chiron up` and a container start. 0: one for each core they may use, 16 at most.",
    )
    concurrency: int = Field(200, ge=1, description="Runs that one worker process plays at once.")
    model_concurrency: dict[str, Annotated[int, Field(ge=1)]] = Field(
        default_factory=dict,
        description="Runs at once by model, over all workers, as JSON. A model that is not named has no limit.",
    )
    pool_size: int = Field(
        10,
        ge=2,
        description="Postgres connections of one process. In a worker, half of them are for tools; journal, money, rescue and "
        "dispatch have the others.",
    )
    lease_s: Annotated[float, Field(ge=2, le=86_400)] = Field(
        10, description="Seconds a run stays with a worker that is not heard of."
    )
    renewal_s: Seconds = Field(2.5, description="Seconds between two renewals of a worker's leases.")
    rescue_s: Seconds = Field(
        1,
        description="Seconds between two looks for lost runs, for the next to play, and for subscriptions that are due.",
    )
    ring_again_s: Seconds = Field(
        10, description="Seconds before a dispatched run that no worker has acquired is dispatched again."
    )
    drain_s: Seconds = Field(20, description="Seconds that calls in flight get when a worker stops.")

    tools: Places = Field(
        default_factory=list,
        description="Folders and modules with tools of your own, separated by commas; their code runs in the workers.",
    )
    roles: Folders = Field(
        default_factory=list,
        description="Folders with roles of your own, separated by commas: each role a folder with role.toml, prompt.md and "
        "question.md. What they say is what runs are told.",
    )
    skills: Folders = Field(
        default_factory=list,
        description="Folders with skills of your own, separated by commas, besides `.chiron/skills` and `.agents/skills` of the "
        "project and `skills` in CHIRON_HOME.",
    )
    trusted_skills: Folders = Field(
        default_factory=list,
        description="Folders whose skills may bring code, a `skill.py`; it runs in the workers.",
    )
    project: Folder = Field(
        default_factory=Path.cwd,
        description="Folder of the project whose skills are offered. Empty: where Chiron was started.",
    )
    mcp_servers: Annotated[
        str, AfterValidator(lambda file: str(Path(file).expanduser().absolute()) if file else "")
    ] = Field(
        "",
        description="File with the MCP servers whose tools agents are offered, in the common mcpServers form. "
        "Empty: mcp.json in CHIRON_HOME, if it is there.",
    )
    tool_timeout_s: Seconds = Field(120, description="Seconds a tool call may take.")
    tool_result_chars: int = Field(
        60_000, ge=1_000, description="Characters of a tool result that the model sees."
    )
    verdict_model: str = Field(
        "",
        description="Model that is asked whether a quote supports its fact. Empty: the run's own. "
        "`none`: nobody is asked.",
    )
    confidence_threshold: float = Field(
        0.7,
        ge=0,
        le=1,
        description="What is left of the sources for a fact, once those against it are taken off, must be above this; other "
        "facts stay candidates or are disputed.",
    )
    source_kinds: Annotated[str, AfterValidator(source_table)] = Field(
        "",
        description="File with patterns of addresses that tell the kind of their source, beside the table that ships: TOML, "
        "see docs/evidence.md. Empty: none.",
    )
    unverified_confidence_max: float = Field(
        0.5, ge=0, le=1, description="Confidence that a fact without a verified quote can have at most."
    )
    require_quotes: bool = Field(
        True, description="Refuse the facts of a run that come without a quote of their source."
    )

    embedding_provider: Literal["minilm", "voyage", "openai"] = Field(
        "minilm", description="Who embeds: the embedded MiniLM, Voyage, or a server that speaks OpenAI's API."
    )
    embedding_model: str = Field("", description="Model of the hosted provider, for example voyage-3.5.")
    embedding_url: str = Field("", description="Base URL of the hosted provider. Empty: the provider's own.")
    embedding_api_key: SecretStr = Field(SecretStr(""), description="Key of the hosted provider.")
    embedding_dimensions: int = Field(
        1024, ge=1, le=1024, description="Dimensions asked of a hosted provider; 1,024 at most."
    )

    search: Annotated[str, AfterValidator(provider_places)] = Field(
        "auto",
        description="Search providers to ask, by name, with commas between them. `auto`: the corpus, and each that has what it "
        "needs (Claude's own search, or a key or address below). A module or file of your own is named by its dotted "
        "name or path. Runs of the offline researcher ask the corpus only.",
    )
    search_keys: dict[str, SecretStr] = Field(
        default_factory=dict,
        description="Keys of search providers by name, as JSON: brave, tavily, exa.",
    )
    search_urls: dict[str, Annotated[str, Field(pattern=r"^https?://")]] = Field(
        default_factory=dict,
        description="Base addresses of search providers by name, as JSON; searxng needs one.",
    )
    search_timeout_s: Seconds = Field(15, description="Seconds that a search provider may take.")

    private_queries: Literal["refuse", "allow"] = Field(
        "refuse",
        description="What becomes of a search query, or of a call of an MCP server, with words that stand only in private "
        "files which the run has read.",
    )
    fetch_private: bool = Field(
        False, description="Let web_fetch reach loopback and private networks, on any port."
    )
    fetch_bytes_max: int = Field(5_000_000, ge=1_000, description="Bytes of a page, decompressed.")
    fetch_timeout_s: Seconds = Field(30, description="Seconds to fetch a page, with all its redirects.")
    fetch_robots: bool = Field(True, description="Let web_fetch obey the robots.txt of each site.")
    fetch_pause_s: Annotated[float, Field(ge=0, le=3_600)] = Field(
        1, description="Seconds between two requests to one host, over all workers. 0: no pause."
    )
    fetch_cache_s: Annotated[float, Field(ge=0, le=31_536_000)] = Field(
        86_400,
        description="Seconds for which the runs of a batch share a page that one has fetched. 0: never.",
    )

    crossref_url: ServiceUrl = Field(
        "https://api.crossref.org", description="Where Crossref is asked about retractions. `none`: nowhere."
    )
    openalex_url: ServiceUrl = Field(
        "https://api.openalex.org", description="Where OpenAlex is asked about retractions. `none`: nowhere."
    )
    mailto: str = Field(
        "",
        max_length=200,
        description="An email address that Crossref and OpenAlex are given, so that they can write to whoever asks too much.",
    )

    upload_bytes_max: int = Field(
        10_000_000,
        ge=1_000,
        le=10_000_000,
        description="Bytes of a document that is sent to the corpus of a subject over HTTP.",
    )
    public_url: Annotated[str, Field(pattern=r"^(https?://[^\s?#]+)?$", max_length=500)] = Field(
        "",
        description="Address under which people reach the page, for the links in webhooks. Empty: that of CHIRON_API_HOST and "
        "CHIRON_API_PORT.",
    )
    webhook_private: bool = Field(
        False, description="Let webhooks reach loopback and private networks, on any port."
    )
    smtp_host: str = Field(
        "", description="Mail server that sends the mails of webhooks. Empty: webhooks cannot be mails."
    )
    smtp_port: Port = Field(587, description="Port of the mail server.")
    smtp_tls: Literal["starttls", "tls", "none"] = Field(
        "starttls",
        description="How the mail server is spoken to: `starttls` or nothing is sent, `tls` from the first byte, or `none`.",
    )
    smtp_user: str = Field("", description="User at the mail server. Empty: nobody signs in.")
    smtp_password: SecretStr = Field(SecretStr(""), description="Password at the mail server.")
    smtp_from: str = Field(
        "",
        max_length=200,
        description="Whom the mails are from. Empty: `chiron@` and the name of the mail server.",
    )

    files: Annotated[tuple[Folder, ...], NoDecode, BeforeValidator(split_path)] = Field(
        default_factory=tuple,
        description="Folders whose files the tools file_reader and data_table may read, separated as in PATH (`:`; on "
        "Windows `;`). Empty: none.",
    )
    file_bytes_max: int = Field(50_000_000, ge=1_000, description="Bytes of a file that these tools read.")
    file_timeout_s: Seconds = Field(60, description="Seconds to read a file or to answer a query on one.")
    file_memory_mb: int = Field(
        1_000,
        ge=100,
        description="Megabytes of memory that reading one file, a PDF of the web too, may take.",
    )

    api_host: str = Field("127.0.0.1", description="Address the HTTP API listens on.")
    api_port: Port = Field(8700, description="Port of the HTTP API.")
    api_key: SecretStr = Field(
        SecretStr(""),
        description="Bearer token of the HTTP API and of MCP over HTTP, of 20 characters or more. Empty: one that is generated "
        "and kept in CHIRON_HOME; `chiron key` prints it.",
    )
    api_without_key: bool = Field(
        False,
        description="Let every user and program of this machine use the HTTP API and MCP over HTTP without a key.",
    )
    streams_per_key: int = Field(
        200,
        ge=1,
        description="Streams of events that one key may have open at an API server, those of pages in its browsers included. "
        "The user of this machine has no limit.",
    )
    trusted_proxies: Networks = Field(
        default_factory=list,
        description="Proxies before the HTTP API, MCP over HTTP and Flower whose X-Forwarded-For and X-Forwarded-Proto count: "
        "addresses and networks, separated by commas. Empty: none.",
    )
    flower_host: str = Field("127.0.0.1", description="Address Flower listens on.")
    flower_port: Port = Field(5555, description="Port of Flower.")
    flower_password: SecretStr = Field(
        SecretStr(""),
        description="Password of Flower's user `chiron`. Empty: one that is generated and kept in CHIRON_HOME; "
        "`chiron key flower` prints it.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="How much the workers log."
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,  # pydantic passes it by name
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Where values come from, the strongest source first."""
        assert isinstance(dotenv_settings, DotEnvSettingsSource)
        if dotenv_settings.env_file is None:
            return init_settings, env_settings
        return init_settings, env_settings, HarmlessEnvFile(settings_cls)

    @field_validator("redis_url", "broker_url")
    @classmethod
    def _is_supported(cls, url: str) -> str:
        if url.startswith("sentinel"):
            raise ValueError(
                "Redis Sentinel is not supported: give one address that stays with the master, such as a proxy's or a "
                "Kubernetes service's. Nothing is lost when Redis is, so one Redis without Sentinel does as well"
            )
        if ";" in url and ("amqps://" in url or "rediss://" in url):
            raise ValueError(
                "a list of brokers is not supported over TLS, since only the first would have to prove its name: give one "
                "address that stays with the broker, such as a load balancer's"
            )
        return url

    @field_validator("redis_url")
    @classmethod
    def _is_of_redis(cls, url: str) -> str:
        # Raised before a batch is stored: after that, the user would submit it again.
        if url and not url.startswith(("redis://", "rediss://", "unix://")):
            raise ValueError(
                "must look like redis://:password@host:6379/0, with rediss:// for TLS or unix:// for a socket"
            )
        return url

    @field_validator("api_key")
    @classmethod
    def _blanks_are_unset(cls, key: SecretStr) -> SecretStr:
        return SecretStr(key.get_secret_value().strip())  # its length is checked where it is used

    @field_validator("prices")
    @classmethod
    def _prices_bind(cls, prices: dict[str, dict[str, float] | str]) -> dict[str, dict[str, float] | str]:
        # A price that is left out or misspelt would be 0, and no budget would bind.
        for model, price in prices.items():
            if price != "none" and not set(PRICE_NAMES[:2]) <= set(price) <= set(PRICE_NAMES):
                raise ValueError(
                    f"{model}: a price has input and output, and may have {', '.join(PRICE_NAMES[2:])}"
                )
        return prices

    @field_validator("home", mode="before")
    @classmethod
    def _empty_is_unset(cls, home: object) -> object:
        return user_data_path("chiron") if home == "" else home  # and not the folder it is started in

    @model_validator(mode="after")
    def _leases_can_be_kept(self) -> Self:
        if self.renewal_s > self.lease_s / 3:
            raise ValueError(
                f"CHIRON_RENEWAL_S must be at most a third of CHIRON_LEASE_S, {self.lease_s / 3:g} s (got {self.renewal_s:g})"
            )
        return self

    @property
    def broker(self) -> str:
        """Where Celery's messages go."""
        return self.broker_url or self.redis_url


def read_settings(**values: object) -> Settings:
    """Settings from the environment. Raises ConfigurationError, naming each wrong value and what would be right."""
    try:
        return Settings(**values)  # type: ignore[arg-type]  # tests and commands override single fields
    except SettingsError as error:  # a value that must be JSON and is not
        name = str(error).split('"')[1] if '"' in str(error) else "a setting"
        raise ConfigurationError(
            f"CHIRON_{name.upper()}: must be JSON, see docs/settings.md. Change it in the environment or in .env."
        ) from None
    except ValidationError as error:
        raise ConfigurationError("\n".join(_sentence(problem) for problem in error.errors())) from None


def _plain(message: str) -> str:
    """What pydantic says of a value, as options of commands say it."""
    words = message.removeprefix("Value error, ").replace("Input should be", "must be", 1)
    return (
        words.partition(", unable to parse")[0]
        .replace("greater than or equal to", "at least")
        .replace("less than or equal to", "at most")
    )


def _sentence(problem: object) -> str:
    assert isinstance(problem, dict)
    if not problem["loc"]:  # about several settings together; the message names them
        return f"{problem['msg'].removeprefix('Value error, ')}. Change it in the environment or in .env."
    setting, *inside = (str(part) for part in problem["loc"])
    name = ": ".join([f"CHIRON_{setting.upper()}", *(inside and [".".join(inside)])])
    # An address may hold a password.
    is_secret = "SecretStr" in str(Settings.model_fields[setting].annotation) or setting.endswith("_url")
    got = "" if is_secret else f" (got {problem['input']!r})"
    return f"{name}: {_plain(problem['msg'])}{got}. Change it in the environment or in .env."


def fill_in(base: Settings) -> Settings:
    """The settings with the local services' addresses in place of empty URLs; URLs that were set stay."""
    addresses = read_addresses(base.home)
    return base.model_copy(
        update={
            "database_url": base.database_url or addresses.database_url,
            "redis_url": base.redis_url or addresses.redis_url,
        }
    )


@cache
def settings() -> Settings:
    """The settings of this process, with the local services' addresses where no URL is set."""
    return fill_in(read_settings())
