"""The forms of settings: numbers with bounds, lists, paths and networks as the environment writes them, limits and prices."""

import json
import os
from decimal import Decimal
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic_settings import (
    NoDecode,
)

Seconds = Annotated[float, Field(gt=0, le=86_400)]
UsdPerMillion = Annotated[float, Field(ge=0, allow_inf_nan=False)]
ServiceUsd = Annotated[Decimal, Field(ge=0, le=10_000)]
PerMinute = Annotated[float, Field(gt=0, le=1e12)]
ServiceUrl = Annotated[str, Field(pattern=r"^(none|https?://[^\s?#]+)$", max_length=500)]
Port = Annotated[int, Field(ge=1, le=65_535)]
Usd = Annotated[Decimal, Field(gt=0, le=10_000_000)]
MAPPED_PREFIX = 96  # bits before an address of IPv4 in the notation of IPv6


def _split_list(value: object) -> object:
    """The items of a list as the environment writes it: separated by commas, or as JSON."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return json.loads(value)
    return [item.strip() for item in value.split(",") if item.strip()]


def _place(name: str) -> str:
    """A file or folder as an absolute path, since a part may run elsewhere; the name of a module or provider as it is."""
    path = Path(name).expanduser()
    return str(path.absolute()) if "/" in name or name.endswith(".py") or path.is_dir() else name


def _places(names: list[str]) -> list[str]:
    return [_place(name) for name in names]


def provider_places(names: str) -> str:
    """Search providers as they are written, with the files among them as absolute paths."""
    return ",".join(
        _place(name.strip()) if "/" in name or name.endswith(".py") else name for name in names.split(",")
    )


def source_table(name: str) -> str:
    """The absolute path of a table of sources. Raises ValueError, with what is wrong in it."""
    if not name:
        return name
    from chiron_workers.evidence.source_kinds import read_table

    file = Path(name).expanduser().absolute()
    read_table(file)
    return str(file)


def _networks(names: list[str]) -> list[str]:
    """Addresses and networks as those that compare them write them. Raises ValueError."""
    try:
        return [str(_network(name)) for name in names]
    except ValueError as error:
        raise ValueError(
            f"{error}; it holds addresses and networks such as 127.0.0.1 and 10.0.0.0/8"
        ) from None


def _network(name: str) -> IPv4Network | IPv6Network:
    """A network; one of IPv4 in the notation of IPv6, `::ffff:10.0.0.0/104`, as one of IPv4."""
    network = ip_network(name, strict=False)
    address = network.network_address
    if isinstance(address, IPv6Address) and address.ipv4_mapped and network.prefixlen >= MAPPED_PREFIX:
        return IPv4Network((address.ipv4_mapped, network.prefixlen - MAPPED_PREFIX))
    return network


Places = Annotated[list[str], NoDecode, BeforeValidator(_split_list), AfterValidator(_places)]


def split_path(value: object) -> object:
    """The parts of a list that is written as PATH is."""
    return [part for part in value.split(os.pathsep) if part] if isinstance(value, str) else value


Folder = Annotated[Path, AfterValidator(lambda folder: folder.expanduser().absolute())]
Folders = Annotated[list[Folder], NoDecode, BeforeValidator(_split_list)]
Networks = Annotated[list[str], NoDecode, BeforeValidator(_split_list), AfterValidator(_networks)]


class RateLimit(BaseModel):
    """What a model's account may use in a minute; input without what is read from the cache."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests_per_minute: PerMinute | None = None
    tokens_per_minute: PerMinute | None = None
    input_tokens_per_minute: PerMinute | None = None
    output_tokens_per_minute: PerMinute | None = None

    def per_minute(self) -> dict[str, float]:
        """The limits that are set, by what they count: requests, tokens, input_tokens, output_tokens."""
        return {name.removesuffix("_per_minute"): limit for name, limit in self if limit is not None}


class ServicePrice(BaseModel):
    """What a hosted service charges in USD: for each call, for a million tokens, or both."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    per_call: ServiceUsd | None = None
    per_million_tokens: ServiceUsd | None = None

    @model_validator(mode="after")
    def _is_a_price(self) -> Self:
        if self.per_call is None and self.per_million_tokens is None:
            raise ValueError("a price has per_call, per_million_tokens, or both")
        return self


def price_object(value: object) -> object:
    """A price that is one amount, as that of each call."""
    is_amount = isinstance(value, int | float | Decimal | str) and not isinstance(value, bool)
    return {"per_call": value} if is_amount else value
