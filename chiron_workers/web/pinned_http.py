"""Connections to the outside that reach only addresses that were checked."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from importlib.metadata import version
from ipaddress import IPv4Network, IPv6Network, ip_network

import aiohttp
import ssrfguard
from aiohttp.abc import AbstractResolver, ResolveResult

Network = IPv4Network | IPv6Network


def _without(network: Network, left_out: Iterable[Network]) -> list[Network]:
    parts: list[Network] = [network]
    for hole in left_out:
        parts = [
            piece
            for part in parts
            for piece in (part.address_exclude(hole) if _holds(part, hole) else (part,))  # type: ignore[arg-type]
        ]
    return parts


def _denied(network: str, name: str, rfc: str) -> ssrfguard.Block:
    return ssrfguard.Block(ip_network(network), name, rfc, ssrfguard.Reach.DENIED)


def _holds(network: Network, other: Network) -> bool:
    return network.version == other.version and other.subnet_of(network)  # type: ignore[arg-type]


AGENT = "Chiron"  # the name that a robots.txt gives rules for
HEADERS = {
    "User-Agent": f"{AGENT}/{version('chiron')} (research agent)",
    "Accept-Encoding": "gzip, deflate",
    "Accept": "text/html,application/xhtml+xml,application/pdf,text/markdown,text/plain;q=0.9,*/*;q=0.1",
}
DENIED = ssrfguard.AddressTable(
    (
        *ssrfguard.DEFAULT_DENIED.blocks,
        _denied("168.63.129.16/32", "Cloud metadata (Azure WireServer)", "RFC1918"),  # it counts as public
        *(_denied(network, "no global unicast", "RFC4291") for network in ("::/3", "4000::/2", "8000::/1")),
    )
)
PUBLIC_ONLY = ssrfguard.Policy(denied_networks=DENIED, allowed_ports=frozenset({80, 443, 8080, 8443}))
# Link-local addresses stay refused: clouds hand out credentials at 169.254.169.254, and at these of their own.
METADATA = tuple(ip_network(address) for address in ("fd00:ec2::254", "fd20:ce::254", "fd00:c1::a9fe:a9fe"))
PRIVATE_TOO = ssrfguard.Policy(
    denied_networks=DENIED,
    allowed_ports=frozenset(range(1, 65_536)),
    allowed_networks=tuple(
        part
        for network in ("127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")
        for part in _without(ip_network(network), METADATA)
    ),
)
# A lookup cannot be interrupted: in threads of its own, a name server that stalls stops nothing else.
LOOKUPS = ThreadPoolExecutor(16, thread_name_prefix="lookup")


def policy_for(*, allow_private: bool) -> ssrfguard.Policy:
    """Which addresses may be reached: public ones, or also loopback and private networks on any port."""
    return PRIVATE_TOO if allow_private else PUBLIC_ONLY


class PinnedResolver(AbstractResolver):
    """Gives the connector addresses that were checked, and no other lookup comes after it."""

    def __init__(self, policy: ssrfguard.Policy) -> None:
        self.policy = policy

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The permitted addresses of a host; raises BlockedAddressError if one of them is not."""
        target = ssrfguard.Target("http", host, port, host)
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(LOOKUPS, lambda: ssrfguard.resolve(target, policy=self.policy))
        return [
            ResolveResult(
                hostname=host,
                host=str(one.ip),
                port=port,
                family=one.family,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for one in found
        ]

    async def close(self) -> None:
        """Nothing is held open."""


@asynccontextmanager
async def open_client(policy: ssrfguard.Policy) -> AsyncIterator[aiohttp.ClientSession]:
    """A client without cookies, proxies and time limits of its own that connects to nothing a policy refuses."""

    def checked_socket(address: aiohttp.connector.AddrInfoType) -> socket.socket:
        policy.check_address(str(address[4][0]))
        return socket.socket(address[0], address[1], address[2])

    connector = aiohttp.TCPConnector(
        resolver=PinnedResolver(policy), use_dns_cache=False, socket_factory=checked_socket, limit=2
    )
    async with aiohttp.ClientSession(
        connector=connector,
        headers=HEADERS,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
        trust_env=False,
    ) as client:
        yield client
