"""The publisher of an address: one with several domains, an account on a shared host, or a domain."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from chiron_workers.evidence.archives import original_address

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

TABLE = Path(__file__).with_suffix(".toml")
NAME_CHARS_MAX = 80


@dataclass(frozen=True, slots=True)
class Accounts:
    """The patterns of a host where accounts publish; `name` comes before an account's name."""

    name: str
    is_host: bool  # the account is the first label of the host, else a step of the path
    steps: tuple[str, ...]  # before the account's


@dataclass(frozen=True, slots=True)
class Publishers:
    """The table of publishers, of shared hosts and of hosts that carry works of many authors."""

    names: dict[str, str]  # of publishers by domain
    accounts: dict[str, tuple[Accounts, ...]]  # by host
    own_pages: frozenset[str]
    stated_owners: frozenset[str]
    works: frozenset[str]
    uploads: dict[str, str]  # hosts by the prefix of their DOIs
    numbers: tuple[tuple[str, re.Pattern[str]], ...]


@lru_cache(maxsize=10_000)
def origin_name(url: str) -> str:
    """Who publishes at an address: `bbc.co.uk` also for bbc.com, `github.com/alice`, else the registrable domain.

    What an archive or a translator shows counts as the page it shows. A numeric address or a single name stands for itself, and
    so does a file or a document of one's own: each is a source apart.
    """
    address = original_address(url)
    host = web_host(address).rstrip(".")
    if not host:
        return url
    if _is_numeric(host):
        return host
    if account := _account(host, address):
        return account
    names = _table().names
    for suffix in suffixes(host):
        if suffix in names:
            return names[suffix]
    return _suffix_list().privatesuffix(host) or host


@lru_cache(maxsize=10_000)
def carries_works(url: str) -> bool:
    """Whether an address is of a host whose pages are works of many authors, each an origin of its own."""
    return _is_listed(original_address(url), _table().works)


@lru_cache(maxsize=10_000)
def states_owner(url: str) -> bool:
    """Whether an address is of a host whose pages name who published them there."""
    return _is_listed(original_address(url), _table().stated_owners)


def upload_address(doi: str) -> str:
    """The address of the host where the work of a DOI was uploaded; empty where that is not open to anybody."""
    hosts = _table().uploads
    return next((f"https://{host}/" for prefix, host in hosts.items() if doi.startswith(prefix)), "")


@lru_cache(maxsize=10_000)
def numbers_of(url: str) -> tuple[str, ...]:
    """The numbers that a work has in an address, such as `pmid:1234`."""
    address = original_address(url)
    host = web_host(address).removeprefix("www.")
    if not host:
        return ()
    parts = urlsplit(address)
    place = unquote(f"{host}{parts.path}{'?' + parts.query if parts.query else ''}").rstrip("/")
    matches = ((kind, pattern.match(place)) for kind, pattern in _table().numbers)
    return tuple(f"{kind}:{re.sub(r'[()-]', '', match[1]).lower()}" for kind, match in matches if match)


def web_host(url: str) -> str:
    """The host of a web address in ASCII, as a browser would ask for it; empty for anything else."""
    if not url.lower().startswith(("http://", "https://")):
        return ""
    try:
        host = urlsplit(url).hostname or ""
        if host.isascii():
            return host
        import idna

        return idna.encode(host, uts46=True).decode()
    except ValueError:  # UnicodeError of idna, too
        return ""


def suffixes(host: str) -> Iterator[str]:
    """A host, then its parent domains."""
    labels = host.split(".")
    for n in range(len(labels)):
        yield ".".join(labels[n:])


def _account(host: str, address: str) -> str:
    """The account of an address on a shared host, behind the name of the place; empty where there is none."""
    table = _table()
    steps = tuple(step for step in unquote(urlsplit(address).path).split("/") if step)
    for suffix in suffixes(host):
        for place in table.accounts.get(suffix, ()):
            if place.is_host:
                account = host.removesuffix(f".{suffix}").rpartition(".")[2] if host != suffix else ""
                account = "" if account == "www" else account
            else:
                before, account = steps[: len(place.steps)], next(iter(steps[len(place.steps) :]), "")
                if host.removeprefix("www.") != suffix or tuple(map(str.lower, before)) != place.steps:
                    continue
                if not place.steps and account.lower() in table.own_pages:
                    continue
            if name := account.lstrip("@~").casefold()[:NAME_CHARS_MAX]:
                return f"{place.name}/{name}"
    return ""


def _is_listed(address: str, hosts: frozenset[str]) -> bool:
    return any(suffix in hosts for suffix in suffixes(web_host(address).rstrip(".")))


def _is_numeric(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


@cache
def _table() -> Publishers:
    with TABLE.open("rb") as source:
        table = tomllib.load(source)
    accounts: dict[str, list[Accounts]] = {}
    for patterns in table["accounts"]:
        name = patterns[0].split("/")[0].removeprefix("*.")
        for pattern in patterns:
            host, *steps = pattern.split("/")
            place = Accounts(name, host.startswith("*."), tuple(steps[:-1]))
            accounts.setdefault(host.removeprefix("*."), []).append(place)
    return Publishers(
        names={domain: domains[0] for domains in table["publishers"] for domain in domains},
        accounts={
            # The longest path first, then paths before hosts.
            host: tuple(sorted(places, key=lambda place: (-len(place.steps), place.is_host)))
            for host, places in accounts.items()
        },
        own_pages=frozenset(table["own_pages"]),
        stated_owners=frozenset(table["stated_owners"]),
        works=frozenset(table["works"]),
        uploads=table["uploads"],
        numbers=tuple(
            (kind, re.compile(f"{pattern}(?:[/?#&].*)?$", re.IGNORECASE | re.DOTALL))
            for kind, patterns in table["numbers"].items()
            for pattern in patterns
        ),
    )


@cache
def _suffix_list() -> "PublicSuffixList":
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()
