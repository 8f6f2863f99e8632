"""Rate limit for wrong keys by address, for bearer tokens, the sign-in form and Flower."""

import hashlib
import math
import time
from collections import OrderedDict, deque
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Network
from typing import Any

from chiron_api.http.proxies import parse_address
from chiron_workers.errors import RateExceeded

GUESSES_MAX = 10  # wrong keys of an address in WITHIN_S
WITHIN_S = 60.0
ADDRESSES_MAX = 10_000
RIGHT_KEYS_MAX = 10_000
IPV6_PREFIX = 64  # providers give each customer a network of this size


class Guesses:
    """Counts the different wrong keys of each address within the last minute.

    People behind one address, of an office or of a proxy that is not trusted, share its count. Two rules keep one of them from
    locking the others out: a wrong key that is sent again and again, as by a program with an old key, counts once; and a key
    that was right at an address before is checked even while new keys have to wait.
    """

    def __init__(self) -> None:
        self._wrong_keys: OrderedDict[str, deque[tuple[float, bytes]]] = OrderedDict()
        self._right_keys: OrderedDict[tuple[str, bytes], None] = OrderedDict()

    def wait_s(self, address: str) -> int:
        """Seconds until the next new key of an address is checked; 0 if it is checked now."""
        entries = self._wrong_keys.get(_network(address))
        if entries is None or len(entries) < GUESSES_MAX:
            return 0
        return max(0, math.ceil(entries[0][0] + WITHIN_S - time.monotonic()))

    def require_room(self, address: str, key: str) -> None:
        """Raise RateExceeded if an address sent too many wrong keys and this key was never right there."""
        if (wait_s := self.wait_s(address)) and (_network(address), _digest(key)) not in self._right_keys:
            raise RateExceeded(sentence(wait_s), retry_after_s=wait_s)

    def add(self, address: str, key: str) -> None:
        """Count a wrong key, each once a minute. Beyond `ADDRESSES_MAX` the least recent address is dropped."""
        network, digest, now = _network(address), _digest(key), time.monotonic()
        entries = self._wrong_keys.setdefault(network, deque(maxlen=GUESSES_MAX))
        if not any(digest == entry and now - at < WITHIN_S for at, entry in entries):
            entries.append((now, digest))
        self._wrong_keys.move_to_end(network)
        if len(self._wrong_keys) > ADDRESSES_MAX:
            self._wrong_keys.popitem(last=False)

    def remember(self, address: str, key: str) -> None:
        """Note that a key of an address is right. Beyond `RIGHT_KEYS_MAX` the least recently used key is dropped."""
        pair = (_network(address), _digest(key))
        self._right_keys[pair] = None
        self._right_keys.move_to_end(pair)
        if len(self._right_keys) > RIGHT_KEYS_MAX:
            self._right_keys.popitem(last=False)


def sentence(wait_s: int) -> str:
    """The error sentence for a client that has to wait."""
    return f"Too many wrong keys came from your address. Try again in {wait_s} s."


def address_of(scope: Mapping[str, Any]) -> str:
    """The client address of a request; behind a trusted proxy, the one that the proxy names."""
    client = scope.get("client")
    return client[0] if client else ""


def is_own_machine(address: str) -> bool:
    """Whether a request comes from this machine itself."""
    try:
        return parse_address(address).is_loopback
    except ValueError:
        return False


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode(errors="surrogatepass")).digest()


def _network(address: str) -> str:
    """The unit that is counted: an IPv4 address or an IPv6 network, since a client can choose any address in its own."""
    try:
        ip = parse_address(address.partition("%")[0])
    except ValueError:
        return address
    return str(ip if isinstance(ip, IPv4Address) else IPv6Network((ip, IPV6_PREFIX), strict=False))
