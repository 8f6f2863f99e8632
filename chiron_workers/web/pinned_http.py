"""An HTTP client that refuses private addresses (SSRF): names are resolved once, checked and pinned.

The default policy is `PUBLIC_ONLY`; `private_allowed` opens loopback and private networks. Which addresses a run may
fetch after it read private files is decided in sources/egress.py.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cache
from importlib.metadata import version
from ipaddress import IPv4Network, IPv6Network, ip_network

import aiohttp
import ssrfguard
from aiohttp.abc import AbstractResolver, ResolveResult

Network = IPv4Network | IPv6Network


def _exclude(network: Network, holes: Iterable[Network]) -> list[Network]:
    parts: list[Network] = [network]
    for hole in holes:
        parts = [
            piece
            for part in parts
            for piece in (part.address_exclude(hole) if _contains(part, hole) else (part,))  # type: ignore[arg-type]
        ]
    return parts


def _denied(network: str, name: str, rfc: str) -> ssrfguard.Block:
    return ssrfguard.Block(ip_network(network), name, rfc, ssrfguard.Reach.DENIED)


def _contains(network: Network, subnet: Network) -> bool:
    return network.version == subnet.version and subnet.subnet_of(network)  # type: ignore[arg-type]


USER_AGENT_NAME = "Chiron"  # The name that robots.txt files have rules for.
HEADERS = {
    "User-Agent": f"{USER_AGENT_NAME}/{version('chiron')} (research agent)",
    "Accept-Encoding": "gzip, deflate",
    "Accept": "text/html,application/xhtml+xml,application/pdf,text/markdown,text/plain;q=0.9,*/*;q=0.1",
}
DENIED_NETWORKS = ssrfguard.AddressTable(
    (
        *ssrfguard.DEFAULT_DENIED.blocks,
        # It is a public address.
        _denied("168.63.129.16/32", "Cloud metadata (Azure WireServer)", "RFC1918"),
        *(_denied(network, "no global unicast", "RFC4291") for network in ("::/3", "4000::/2", "8000::/1")),
    )
)
PUBLIC_ONLY = ssrfguard.Policy(
    denied_networks=DENIED_NETWORKS, allowed_ports=frozenset({80, 443, 8080, 8443})
)
# Clouds serve credentials at these addresses; the link-local 169.254.169.254 stays refused by DENIED.
METADATA_ADDRESSES = tuple(
    ip_network(address) for address in ("fd00:ec2::254", "fd20:ce::254", "fd00:c1::a9fe:a9fe")
)
# A lookup cannot be interrupted; in threads of its own, a stalled name server blocks nothing else.
DNS_THREADS = ThreadPoolExecutor(16, thread_name_prefix="lookup")


def policy_for(*, allow_private: bool) -> ssrfguard.Policy:
    """The policy for public addresses, or also for loopback and private networks on any port."""
    return private_allowed() if allow_private else PUBLIC_ONLY


@cache
def private_allowed() -> ssrfguard.Policy:
    """The policy for all that is not denied. It lists every port, four megabytes, and so is made on first use."""
    return ssrfguard.Policy(
        denied_networks=DENIED_NETWORKS,
        allowed_ports=frozenset(range(1, 65_536)),
        allowed_networks=tuple(
            part
            for network in (
                "127.0.0.0/8",
                "::1/128",
                "10.0.0.0/8",
                "172.16.0.0/12",
                "192.168.0.0/16",
                "fc00::/7",
            )
            for part in _exclude(ip_network(network), METADATA_ADDRESSES)
        ),
    )


class PinnedResolver(AbstractResolver):
    """Resolve a host to checked addresses; the connector connects to these without another lookup."""

    def __init__(self, policy: ssrfguard.Policy, threads: Executor = DNS_THREADS) -> None:
        self.policy = policy
        self._threads = threads

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses of a host. Raises BlockedAddressError if the policy refuses any of them."""
        target = ssrfguard.Target("http", host, port, host)
        loop = asyncio.get_running_loop()
        addresses = await loop.run_in_executor(
            self._threads, lambda: ssrfguard.resolve(target, policy=self.policy)
        )
        return [
            ResolveResult(
                hostname=host,
                host=str(address.ip),
                port=port,
                family=address.family,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        """Does nothing: the resolver holds no resources."""


@asynccontextmanager
async def open_client(
    policy: ssrfguard.Policy, *, lookup_threads: Executor = DNS_THREADS
) -> AsyncIterator[aiohttp.ClientSession]:
    """A client that connects only to addresses the policy allows; without cookies, proxies and timeouts."""

    def checked_socket(address: aiohttp.connector.AddrInfoType) -> socket.socket:
        policy.check_address(str(address[4][0]))
        return socket.socket(address[0], address[1], address[2])

    connector = aiohttp.TCPConnector(
        resolver=PinnedResolver(policy, lookup_threads),
        use_dns_cache=False,
        socket_factory=checked_socket,
        limit=2,
    )
    async with aiohttp.ClientSession(
        connector=connector,
        headers=HEADERS,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
        trust_env=False,
    ) as client:
        yield client
