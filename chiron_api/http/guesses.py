"""Wrong keys of an address: after some of them it waits, whether it sent them to the form, as a bearer token or to Flower."""

import ipaddress
import math
import time
from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import Any

from chiron_workers.errors import RateExceeded

GUESSES_MAX = 10  # wrong keys of an address in WITHIN_S
WITHIN_S = 60.0
ADDRESSES_MAX = 10_000
RIGHT_KEYS_MAX = 10_000
IPV6_PREFIX = 64  # a customer of a provider has this many bits, and all addresses below


class Guesses:
    """Counts wrong keys by address, those of the last minute alone.

    People behind one address, of an office or of a proxy that is not trusted, share its count. So a key that was right there
    before is looked at all the same: who makes guesses there keeps nobody out who is in.
    """

    def __init__(self) -> None:
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._right_keys: OrderedDict[tuple[str, str], None] = OrderedDict()

    def wait_s(self, address: str) -> int:
        """For how many seconds no new key of an address is looked at; 0 for none."""
        times = self._times.get(_network(address))
        if times is None or len(times) < GUESSES_MAX:
            return 0
        return max(0, math.ceil(times[0] + WITHIN_S - time.monotonic()))

    def require_room(self, address: str, key: str) -> None:
        """Raise RateExceeded where a key is not looked at, since too many wrong ones came from its address."""
        if (wait_s := self.wait_s(address)) and (_network(address), key) not in self._right_keys:
            raise RateExceeded(sentence(wait_s), retry_after_s=wait_s)

    def add(self, address: str) -> None:
        """Count a wrong key; of too many addresses the one that sent none for longest is forgotten."""
        network = _network(address)
        self._times.setdefault(network, deque(maxlen=GUESSES_MAX)).append(time.monotonic())
        self._times.move_to_end(network)
        if len(self._times) > ADDRESSES_MAX:
            self._times.popitem(last=False)

    def remember(self, address: str, key: str) -> None:
        """Note that a key of an address is right; of too many the one that was not used for longest is forgotten."""
        pair = (_network(address), key)
        self._right_keys[pair] = None
        self._right_keys.move_to_end(pair)
        if len(self._right_keys) > RIGHT_KEYS_MAX:
            self._right_keys.popitem(last=False)


def sentence(wait_s: int) -> str:
    """What somebody is told who has to wait."""
    return f"Too many wrong keys came from your address. Try again in {wait_s} s."


def address_of(scope: Mapping[str, Any]) -> str:
    """Who sends a request; where a trusted proxy forwards it, the client that the proxy names."""
    client = scope.get("client")
    return client[0] if client else ""


def _network(address: str) -> str:
    """The address, or for IPv6 its network: one client may have any address in it."""
    if ":" not in address:
        return address
    try:
        return str(ipaddress.IPv6Network((address.partition("%")[0], IPV6_PREFIX), strict=False))
    except ValueError:
        return address
