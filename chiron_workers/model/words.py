import time
from collections.abc import Callable

EVERY_S = 0.2  # text deltas are gathered, so that 200 runs do not publish every syllable


class Words:
    """The words of a reply as they arrive, gathered for whoever hears them.

    Args:
        on_text: Gets them, a few times a second.
        is_heard: Whether somebody wants them at this moment.
    """

    def __init__(self, on_text: Callable[[str], None], is_heard: Callable[[], bool]) -> None:
        self.is_heard = is_heard
        self._on_text = on_text
        self._parts: list[str] = []
        self._since = time.monotonic()

    def add(self, text: str) -> None:
        """Add the words of one event."""
        if text:
            self._parts.append(text)
        if time.monotonic() - self._since >= EVERY_S:
            self.flush()

    def flush(self) -> None:
        """Hand on what is there."""
        if self._parts:
            self._on_text("".join(self._parts))
        self._parts.clear()
        self._since = time.monotonic()
