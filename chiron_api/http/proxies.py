"""Trusted proxies. Only they may set a request's client address and scheme by X-Forwarded-For and X-Forwarded-Proto."""

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
        """The proxies with these addresses and networks."""
        return cls(tuple(ip_network(name) for name in names))

    def client(self, peer: str, forwarded_for: Sequence[str]) -> str:
        """The client address of a request: the last hop that is not a trusted proxy.

        Args:
            peer: The address of the connection.
            forwarded_for: All X-Forwarded-For headers. Each proxy appends the address that it got the request from.
        """
        client = peer
        for text in reversed(",".join(forwarded_for).split(",")):
            if not self.trusts(client) or not (address := _address(text)):
                break
            client = address
        return client

    def scheme(self, peer: str, own_scheme: str, forwarded_proto: str) -> str:
        """The scheme of a request: the one that a trusted proxy names, else that of the connection."""
        scheme = forwarded_proto.strip().lower()
        return scheme if scheme in SCHEMES and self.trusts(peer) else own_scheme

    def trusts(self, address: str) -> bool:
        """Whether an address is that of a trusted proxy."""
        try:
            peer = parse_address(address)
        except ValueError:
            return False
        return any(peer in network for network in self.networks)


class ForwardedHeaders:
    """ASGI middleware that replaces the address and scheme of a trusted proxy by those of its client."""

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
    """The address in an entry of X-Forwarded-For, without its port; empty if there is none."""
    host = text.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        return str(parse_address(host))
    except ValueError:
        return ""
