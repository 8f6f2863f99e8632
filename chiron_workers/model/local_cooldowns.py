import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from chiron_workers.errors import ModelHeld
from chiron_workers.model.retries import FIRST_PAUSE_S, LONGEST_PAUSE_S, spread_s
from chiron_workers.pubsub.cooldowns import Cooling

NEWS_SHARE = 0.1  # of a cool-down: by less it is not prolonged, so that a wave of refusals is told once


@dataclass(slots=True)
class _Cooldown:
    until: float = 0.0  # on the monotonic clock
    seconds: float = 0.0
    reason: str = ""
    next_s: float = FIRST_PAUSE_S  # of the next refusal that does not say how long


class Cooldowns:
    """The models that turn everybody away, as this worker knows it: from its own calls and from the other workers.

    Calls look here and nowhere else, so that heeding a cool-down costs no round trip.

    Args:
        announce: Called with each cool-down found here, for the other workers; must not block.
    """

    def __init__(self, announce: Callable[[Cooling], None]) -> None:
        self._announce = announce
        self._known: dict[str, _Cooldown] = {}

    def refused(self, model: str, seconds: float | None, reason: str) -> None:
        """A call was turned away, for `seconds` if the server said so, else for twice as long as the last time."""
        known = self._known.setdefault(model, _Cooldown())
        if seconds is None:
            if time.monotonic() < known.until:
                return  # a call that left before this cool-down began
            seconds = known.next_s
            known.next_s = min(known.next_s * 2, LONGEST_PAUSE_S)
        cooling = Cooling(model, seconds, reason)
        if self._prolong(known, cooling):
            self._announce(cooling)

    def heed(self, cooling: Cooling) -> None:
        """Another worker was turned away, or somebody lifted a cool-down."""
        known = self._known.setdefault(cooling.model, _Cooldown())
        if cooling.seconds <= 0:
            known.until = 0.0
        else:
            self._prolong(known, cooling)

    def answered(self, model: str) -> None:
        """A call was answered, so that the next refusal begins with a short cool-down again."""
        if not self.is_cooling(model):
            self._known.pop(model, None)

    def is_cooling(self, model: str) -> bool:
        """Whether the model turns everybody away now."""
        known = self._known.get(model)
        return known is not None and time.monotonic() < known.until

    async def wait_out(self, model: str) -> None:
        """Return when the model may be called; calls that waited come back one by one.

        Raises:
            ModelHeld: That takes more than a minute.
        """
        while (known := self._known.get(model)) and (left_s := known.until - time.monotonic()) > 0:
            if left_s > LONGEST_PAUSE_S:
                reason = known.reason or "It turns everybody away."
                raise ModelHeld(f"{model} is left alone: {reason}", retry_after_s=left_s, is_news=False)
            await asyncio.sleep(left_s + spread_s(known.seconds))

    def _prolong(self, known: _Cooldown, cooling: Cooling) -> bool:
        until = time.monotonic() + cooling.seconds
        if until <= known.until + NEWS_SHARE * cooling.seconds:
            return False
        known.until, known.seconds, known.reason = until, cooling.seconds, cooling.reason
        return True
