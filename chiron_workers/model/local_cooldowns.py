import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from chiron_workers.errors import KeyRefused, ModelHeld
from chiron_workers.model.retries import PAUSE_MAX_S, PAUSE_MIN_S, spread_s
from chiron_workers.pubsub.cooldowns import Cooldown

GROWTH_MIN = 0.1  # of a cool-down: by less it is not prolonged, so that a wave of refusals is published once


@dataclass(slots=True)
class _State:
    until: float = 0.0  # on the monotonic clock
    seconds: float = 0.0
    reason: str = ""
    is_key_refused: bool = False
    next_s: float = PAUSE_MIN_S  # of the next refusal that does not say how long


class LocalCooldowns:
    """The cool-downs that this worker knows of, from its own calls and from the other workers.

    Calls look here and nowhere else, so that respecting a cool-down costs no round trip.

    Args:
        publish: Called with each cool-down that begins here, for the other workers; must not block.
    """

    def __init__(self, publish: Callable[[Cooldown], None]) -> None:
        self._publish = publish
        self._states: dict[str, _State] = {}

    def record_refusal(
        self, model: str, seconds: float | None, reason: str, *, is_key_refused: bool = False
    ) -> None:
        """Cool a model down, for `seconds` if its server said so, else for twice as long as the last time."""
        state = self._states.setdefault(model, _State())
        if seconds is None:
            if time.monotonic() < state.until:
                return  # a call that left before this cool-down began
            seconds = state.next_s
            state.next_s = min(state.next_s * 2, PAUSE_MAX_S)
        cooldown = Cooldown(model, seconds, reason, is_key_refused)
        if self._prolong(state, cooldown):
            self._publish(cooldown)

    def record_reply(self, model: str) -> None:
        """Let the next refusal begin with a short cool-down again."""
        if not self.is_cooling(model):
            self._states.pop(model, None)

    def apply(self, cooldown: Cooldown) -> None:
        """Take over a cool-down of another worker, or the end of one that somebody lifted."""
        state = self._states.setdefault(cooldown.model, _State())
        if cooldown.seconds <= 0:
            state.until = 0.0
        else:
            self._prolong(state, cooldown)

    def is_cooling(self, model: str) -> bool:
        """Whether nobody should call the model now."""
        state = self._states.get(model)
        return state is not None and time.monotonic() < state.until

    async def wait_until_over(self, model: str) -> None:
        """Return when the model may be called; calls that waited come back one by one.

        Raises:
            KeyRefused: It cools down since its server refuses the key.
            ModelHeld: That takes more than a minute.
        """
        while (state := self._states.get(model)) and (left_s := state.until - time.monotonic()) > 0:
            if left_s > PAUSE_MAX_S or state.is_key_refused:  # the runs leave their slots
                reason = f"{model} is left alone: {state.reason or 'It turns everybody away.'}"
                held = KeyRefused if state.is_key_refused else ModelHeld
                raise held(reason, retry_after_s=left_s, is_news=False)
            await asyncio.sleep(left_s + spread_s(state.seconds))

    def _prolong(self, state: _State, cooldown: Cooldown) -> bool:
        until = time.monotonic() + cooldown.seconds
        if until <= state.until + GROWTH_MIN * cooldown.seconds:
            return False
        state.until, state.seconds, state.reason = until, cooldown.seconds, cooldown.reason
        state.is_key_refused = cooldown.is_key_refused
        return True
