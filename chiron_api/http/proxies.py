"""Proxies that a server of ours stands behind: only theirs count of the headers that say who sends a request, and how."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:  # Flower takes the class alone
    from starlette.types import ASGIApp, Receive, Scope, Send

SCHEMES = ("http", "https")


def parse_address(text: str) -> IPv4Address | IPv6Address:
    """An address; one of IPv4 that a socket of IPv6 shows as `::ffff:10.1.2.3` becomes `10.1.2.3`. Raises ValueError."""
    address = ip_address(text)
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


@dataclass(frozen=True, slots=True)
class TrustedProxies:
    """The proxies that CHIRON_TRUSTED_PROXIES names."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def of(cls, names: Iterable[str]) -> Self:
        """Those of these addresses and networks."""
        return cls(tuple(ip_network(name) for name in names))

    def client(self, peer: str, forwarded_for: Sequence[str]) -> str:
        """Who sends a request: the last on its way to us that is no trusted proxy.

        Args:
            peer: Who has connected.
            forwarded_for: Every header X-Forwarded-For. Each proxy appends whom it has the request from.
        """
        client = peer
        for text in reversed(",".join(forwarded_for).split(",")):
            if not self.trusts(client) or not (address := _address(text)):
                break
            client = address
        return client

    def scheme(self, peer: str, own_scheme: str, forwarded_proto: str) -> str:
        """How a client has asked: as a trusted proxy says, else as the request came here."""
        scheme = forwarded_proto.strip().lower()
        return scheme if scheme in SCHEMES and self.trusts(peer) else own_scheme

    def trusts(self, address: str) -> bool:
        """Whether an address is that of a trusted proxy."""
        try:
            parsed = parse_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self.networks)


class ForwardedHeaders:
    """ASGI middleware that puts the client of a trusted proxy, and its scheme, in the place of the proxy's own."""

    def __init__(self, app: "ASGIApp", proxies: TrustedProxies) -> None:
        self.app = app
        self._proxies = proxies

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass the request on."""
        if scope["type"] == "http" and scope.get("client"):
            peer, port = scope["client"]
            client = self._proxies.client(peer, _values(scope, b"x-forwarded-for"))
            scope["client"] = (client, port if client == peer else 0)
            scheme = "".join(_values(scope, b"x-forwarded-proto"))
            scope["scheme"] = self._proxies.scheme(peer, scope["scheme"], scheme)
        await self.app(scope, receive, send)


def _values(scope: "Scope", header: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name == header]


def _address(text: str) -> str:
    """The address that a proxy names, without a port; empty where it names none."""
    host = text.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        return str(parse_address(host))
    except ValueError:
        return ""
