"""A text as a row of code points that know where they came from, so that it can be changed as a whole."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.uint32]
    Offsets = NDArray[np.intp]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class NormalisedText:
    """A folded text that knows where each of its characters stood in the original one."""

    text: str
    begins: "Offsets"
    ends: "Offsets"

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The offsets in the original of what stands here from `start` to `end`, which is not empty."""
        return int(self.begins[start]), int(self.ends[end - 1])


@dataclass(slots=True, eq=False)
class CodePoints:
    """For each code point where the original of it began and ended; each step changes all three."""

    codes: "Codes"
    begins: "Offsets"
    ends: "Offsets"

    def keep(self, is_wanted: "Mask") -> None:
        """Leave out what is not marked."""
        if not is_wanted.all():
            self.codes = self.codes[is_wanted]
            self.begins, self.ends = self.begins[is_wanted], self.ends[is_wanted]

    def folded(self) -> NormalisedText:
        """The text that the code points spell."""
        text = self.codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
        return NormalisedText(text, self.begins, self.ends)


def code_points(text: str) -> CodePoints:
    """The code points of a text, each in its own place."""
    import numpy as np

    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    begins = np.arange(len(codes))
    return CodePoints(codes, begins, begins + 1)


def preceded_by(mask: "Mask") -> "Mask":
    """For each place whether the one before it is marked."""
    import numpy as np

    return np.concatenate([[False], mask[:-1]]) if len(mask) else mask


def followed_by(mask: "Mask") -> "Mask":
    """For each place whether the one after it is marked."""
    import numpy as np

    return np.concatenate([mask[1:], [False]]) if len(mask) else mask


def where(codes: "Codes", test: Callable[[str], bool]) -> "Mask":
    """Which of some code points pass a test of characters."""
    import numpy as np

    if len(codes) < 1_000:
        return np.array([test(chr(code)) for code in codes.tolist()], bool)
    codes_once, inverse = np.unique(codes, return_inverse=True)
    return np.array([test(chr(code)) for code in codes_once.tolist()], bool)[inverse]


def ranges(widths: "Offsets") -> "Offsets":
    """0, 1, ... within each width: [2, 3] gives [0, 1, 0, 1, 2]."""
    import numpy as np

    return np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)
