"""Wrong keys that an address has sent to the form: after some of them it waits."""

import math
import time
from collections import OrderedDict, deque

GUESSES_MAX = 10  # wrong keys of an address in WITHIN_S
WITHIN_S = 60.0
ADDRESSES_MAX = 10_000


class Guesses:
    """Counts wrong keys by address, those of the last minute alone."""

    def __init__(self) -> None:
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def wait_s(self, address: str) -> int:
        """For how many seconds no key of an address is looked at; 0 for none."""
        times = self._times.get(address)
        if times is None or len(times) < GUESSES_MAX:
            return 0
        return max(0, math.ceil(times[0] + WITHIN_S - time.monotonic()))

    def add(self, address: str) -> None:
        """Count a wrong key; of too many addresses the one that sent none for longest is forgotten."""
        self._times.setdefault(address, deque(maxlen=GUESSES_MAX)).append(time.monotonic())
        self._times.move_to_end(address)
        if len(self._times) > ADDRESSES_MAX:
            self._times.popitem(last=False)
